// What the tests of control share: a loop that a thread of the test runs, and a
// plain client. For tests only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "control/sockets.h"
#include "net/event_loop.h"

namespace nephila::control {

class LoopTest : public testing::Test {
 protected:
  void SetUp() override {
    static int counter = 0;
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("control_" + std::to_string(getpid()) + "_" +
               std::to_string(counter++));
    std::filesystem::create_directories(folder_);
    auto loop = net::EventLoop::Make(clock_);
    ASSERT_TRUE(loop);
    loop_ = *std::move(loop);
  }
  void TearDown() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }
  // What belongs to the loop is made before and gone after.
  void Run() {
    thread_ = std::thread([this] {
      while (!stop_) {
        loop_->RunOnce(clock_.Now() + std::chrono::seconds(10));
      }
    });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_->Post([this] { stop_ = true; });
    thread_.join();
  }
  std::string Folder() const { return folder_.string(); }

  RealClock clock_;
  std::filesystem::path folder_;
  std::unique_ptr<net::EventLoop> loop_;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Reads fail after ten seconds rather than to block a test for ever.
class PlainClient {
 public:
  explicit PlainClient(net::Descriptor socket) : socket_(std::move(socket)) {
    const timeval longest{10, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest,
               sizeof(longest));
    // The sockets of control do not block.
    const int flags = fcntl(socket_.get(), F_GETFL);
    fcntl(socket_.get(), F_SETFL, flags & ~O_NONBLOCK);
  }
  static PlainClient ToFolder(const std::string& dir) {
    auto socket = ConnectInFolder(dir, "control");
    EXPECT_TRUE(socket) << socket.error().message;
    return PlainClient(socket ? *std::move(socket) : net::Descriptor());
  }

  int fd() const { return socket_.get(); }
  bool Send(std::string_view bytes) const {
    return send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  void EndSending() const { shutdown(socket_.get(), SHUT_WR); }
  // Without its end; "" if the connection ends first.
  std::string Line() {
    while (true) {
      const size_t end = in_.find('\n');
      if (end != std::string::npos) {
        std::string line = in_.substr(0, end);
        in_.erase(0, end + 1);
        return line;
      }
      if (!More()) return "";
    }
  }
  std::string ToTheEnd() {
    while (More()) {
    }
    return std::exchange(in_, "");
  }

 private:
  bool More() {
    char bytes[4096];
    const ssize_t size = recv(socket_.get(), bytes, sizeof(bytes), 0);
    if (size > 0) in_.append(bytes, static_cast<size_t>(size));
    return size > 0;
  }

  net::Descriptor socket_;
  std::string in_;
};

}  // namespace nephila::control
