// A plain blocking client for the tests of the simulated servers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/descriptor.h"

namespace nephila::sim {

// Reads fail after ten seconds rather than to block a test for ever.
class Client {
 public:
  Client(const char* address, uint16_t port, int type = SOCK_STREAM)
      : socket_(socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    const timeval longest{10, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest,
               sizeof(longest));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to),
                         sizeof(to)) == 0;
  }

  bool connected() const { return connected_; }
  int fd() const { return socket_.get(); }

  bool Send(std::string_view bytes) const {
    return send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  // What comes next, at most 64 KiB; empty at the end or after an error, of
  // which `error` tells.
  std::string Read(int* error = nullptr) const {
    std::string bytes(size_t{1} << 16, '\0');
    const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (error != nullptr) *error = size < 0 ? errno : 0;
    bytes.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return bytes;
  }

  std::string ReadAll(int* error = nullptr) const {
    std::string all;
    for (std::string part = Read(error); !part.empty(); part = Read(error)) {
      all += part;
    }
    return all;
  }

  // One whole answer that has a Content-Length.
  std::string ReadAnswer() {
    while (true) {
      const size_t head = left_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const size_t at = left_.find("Content-Length: ");
        const size_t size = head + 4 + std::stoull(left_.substr(at + 16));
        if (left_.size() >= size) {
          std::string answer = left_.substr(0, size);
          left_.erase(0, size);
          return answer;
        }
      }
      const std::string part = Read();
      if (part.empty()) return "";
      left_ += part;
    }
  }

  void Close() { socket_ = Descriptor(); }

 private:
  Descriptor socket_;
  bool connected_ = false;
  std::string left_;
};

}  // namespace nephila::sim
