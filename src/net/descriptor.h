// Descriptor: owns a file descriptor of the system, such as a socket's.
// Threads: one.
#pragma once

#include <unistd.h>

namespace nephila::net {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = other.Release();
    }
    return *this;
  }

  int get() const { return fd_; }
  // Gives it up without closing it.
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  void Close() const {
    if (fd_ >= 0) close(fd_);
  }

  int fd_;
};

}  // namespace nephila::net
