// Resolver: from the host of a URL to the addresses that may be connected to.
//
//   In: hosts (names, IPv4, IPv6 with or without brackets), hostile
//   Out: an Answer for each, through its callback
//   Threads: one, that of the event loop; others go through EventLoop::Post.
#pragma once

#include <functional>
#include <string_view>

#include "dns/answer.h"

namespace nephila::dns {

class Resolver {
 public:
  // Called once, always from the loop, never inside Resolve. It may call
  // Resolve and CancelAll, and may not destroy the resolver.
  using Callback = std::function<void(const Answer&)>;

  virtual ~Resolver() = default;
  virtual void Resolve(std::string_view host, Callback callback) = 0;
  // All that waits is answered with kCancelled, from the loop.
  virtual void CancelAll() = 0;
};

}  // namespace nephila::dns
