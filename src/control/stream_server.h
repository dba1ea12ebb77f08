// StreamServer: answers the requests of a few clients on somebody's event loop
// without ever holding it up. What a request is and what is said to it is the
// Protocol's.
//
//   In: a listening socket; hostile bytes   Out: answers, in the order of the
//   requests   Threads: that of the loop   Memory: a request and an answer for
//   each client
//
// A client has one request at a time: the next is read when the answer to the
// last is gone, so who does not read is not read from. One request is answered
// in a round of the loop. Who says nothing, or does not read, for `idle` is cut
// off; who sends a request without end is told so and cut off; who is one too
// many is told so. An answer may come later, or never, if the server goes
// before.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/descriptor.h"
#include "net/event_loop.h"

namespace nephila::control {

class StreamServer {
 public:
  // Called once, by the thread of the loop.
  using Answer = std::function<void(std::string bytes)>;

  struct Protocol {
    // The bytes of the first request in these; 0: it is not whole yet.
    std::function<size_t(std::string_view bytes)> request_size;
    std::function<void(std::string_view request, Answer answer)> handle;
    std::string greeting;  // what a client is told first
    std::string too_long;  // to whom a request without end is sent
    std::string too_many;  // to whom there is no room for
    size_t max_request_bytes = size_t{64} << 10;
    size_t max_clients = 16;
    std::chrono::nanoseconds idle = std::chrono::seconds(60);
    bool one_request = false;                      // then the connection ends
    std::function<bool(int fd)> admits = nullptr;  // null: everybody
  };

  // `loop` outlives this.
  static Result<std::unique_ptr<StreamServer>> Make(net::EventLoop& loop,
                                                    net::Descriptor listener,
                                                    Protocol protocol);
  ~StreamServer();
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  size_t clients() const { return clients_.size(); }
  int fd() const { return listener_.get(); }

 private:
  class Listener;
  class Client;

  StreamServer(net::EventLoop& loop, net::Descriptor listener,
               Protocol protocol);
  void Accept();
  // False: there is none now.
  bool AcceptOne();
  void Drop(uint64_t id);

  net::EventLoop& loop_;
  const net::Descriptor listener_;
  const Protocol protocol_;
  std::unique_ptr<Listener> on_listener_;
  std::map<uint64_t, std::unique_ptr<Client>> clients_;
  uint64_t next_id_ = 1;
  net::TimerId again_ = net::TimerId::kNone;
  // Of answers that come later.
  const std::shared_ptr<StreamServer*> alive_;
};

}  // namespace nephila::control
