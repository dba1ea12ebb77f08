// ScriptedServer: a real server on a loopback address whose every byte a test
// writes. Each connection runs the script in a thread of its own, with plain
// blocking calls; all end with the server.
//   Threads: scripts run beside the test; what they tell is behind a mutex.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "net/descriptor.h"
#include "net/ip_address.h"

namespace nephila::fetch {

class ServerConnection {
 public:
  ServerConnection(int fd, size_t number) : fd_(fd), number_(number) {}

  int fd() const { return fd_; }
  // The how-manieth of the server, from 0.
  size_t number() const { return number_; }

  // To the empty line that ends a head, or to the end of the connection.
  std::string ReadHead() {
    while (true) {
      const size_t end = left_.find("\r\n\r\n");
      if (end != std::string::npos) {
        std::string head = left_.substr(0, end + 4);
        left_.erase(0, end + 4);
        return head;
      }
      if (!ReadMore()) return std::exchange(left_, {});
    }
  }
  // False once the client is gone.
  bool Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // No more from us; the client may go on.
  void EndSending() const { shutdown(fd_, SHUT_WR); }
  // RST in place of FIN.
  void Reset() const {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  // Until the client closes, or the server ends.
  void WaitForClient() {
    while (ReadMore()) left_.clear();
  }

 private:
  bool ReadMore() {
    std::string bytes(size_t{1} << 16, '\0');
    const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    left_.append(bytes, 0, static_cast<size_t>(size));
    return true;
  }

  const int fd_;
  const size_t number_;
  std::string left_;
};

class ScriptedServer {
 public:
  using Script = std::function<void(ServerConnection&)>;

  explicit ScriptedServer(Script script, const net::IpAddress& address =
                                             net::IpAddress::V4(127, 0, 0, 1))
      : script_(std::move(script)), address_(address) {
    sockaddr_storage storage{};
    socklen_t size = address.ToSockaddr(0, &storage);
    listener_ = net::Descriptor(
        socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto* const name = reinterpret_cast<sockaddr*>(&storage);
    NEPHILA_CHECK(bind(listener_.get(), name, size) == 0);
    NEPHILA_CHECK(listen(listener_.get(), 4096) == 0);
    size = sizeof(storage);
    NEPHILA_CHECK(getsockname(listener_.get(), name, &size) == 0);
    port_ = ntohs(address.is_v4()
                      ? reinterpret_cast<sockaddr_in*>(name)->sin_port
                      : reinterpret_cast<sockaddr_in6*>(name)->sin6_port);
    thread_ = std::thread([this] { Accept(); });
  }
  // One answer for every request, over connections that stay open.
  explicit ScriptedServer(std::string answer)
      : ScriptedServer([answer = std::move(answer)](ServerConnection& c) {
          while (!c.ReadHead().empty()) {
            if (!c.Send(answer)) return;
          }
        }) {}

  ~ScriptedServer() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    {
      MutexLock lock(mutex_);
      for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  uint16_t port() const { return port_; }
  const net::IpAddress& address() const { return address_; }
  size_t accepted() const { return accepted_.load(); }

 private:
  void Accept() {
    while (true) {
      const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const size_t number = accepted_.fetch_add(1);
      {
        MutexLock lock(mutex_);
        open_.push_back(fd);
      }
      threads_.emplace_back([this, fd, number] { Serve(fd, number); });
    }
  }

  void Serve(int fd, size_t number) {
    ServerConnection connection(fd, number);
    script_(connection);
    MutexLock lock(mutex_);
    std::erase(open_, fd);
    close(fd);
  }

  const Script script_;
  const net::IpAddress address_;
  net::Descriptor listener_;
  uint16_t port_ = 0;
  std::atomic<size_t> accepted_{0};
  Mutex mutex_;
  std::vector<int> open_ NEPHILA_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // of the accepting thread, then ours
  std::thread thread_;
};

// A port on which nobody listens: kept bound, so that nobody will.
class ClosedPort {
 public:
  ClosedPort() {
    sockaddr_storage name{};
    socklen_t size = net::IpAddress::V4(127, 0, 0, 1).ToSockaddr(0, &name);
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    NEPHILA_CHECK(bind(socket_.get(), address, size) == 0);
    NEPHILA_CHECK(getsockname(socket_.get(), address, &size) == 0);
    port_ = ntohs(reinterpret_cast<sockaddr_in&>(name).sin_port);
  }
  uint16_t port() const { return port_; }

 private:
  const net::Descriptor socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  uint16_t port_ = 0;
};

// A queue of one that is full: the kernel drops what asks next.
class DeafServer {
 public:
  DeafServer() {
    sockaddr_storage name{};
    socklen_t size = net::IpAddress::V4(127, 0, 0, 1).ToSockaddr(0, &name);
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    NEPHILA_CHECK(bind(listener_.get(), address, size) == 0);
    NEPHILA_CHECK(listen(listener_.get(), 0) == 0);
    NEPHILA_CHECK(getsockname(listener_.get(), address, &size) == 0);
    NEPHILA_CHECK(connect(filler_.get(), address, size) == 0);
    port_ = ntohs(reinterpret_cast<sockaddr_in&>(name).sin_port);
  }
  uint16_t port() const { return port_; }

 private:
  const net::Descriptor listener_{socket(AF_INET, SOCK_STREAM, 0)};
  const net::Descriptor filler_{socket(AF_INET, SOCK_STREAM, 0)};
  uint16_t port_ = 0;
};

}  // namespace nephila::fetch
