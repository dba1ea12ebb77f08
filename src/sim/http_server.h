// HttpServer: the simulated hosts as real servers. HTTP/1.1 with keep-alive and
// close, on every address of 127.0.0.0/8 at once.
//
// One listening socket a thread on 0.0.0.0 (SO_REUSEPORT; the system spreads
// connections over them), bound to no address because there are too many; the
// local address of a connection says which server was meant. A connection whose
// local address is not loopback is closed at once, so nothing outside the
// machine is served. Slow answers wait in a heap of timers and cost a
// connection, not a thread.
//   In: requests (http_request.h)   Out: answers (answer.h), lines of the log
//   Threads: some of its own, ended by Stop; the rest of it one thread.
//   Bounds: kMaxRequestBytes read ahead of an answer; a connection holds at
//   most the answer that the client does not read. When descriptors run out it
//   accepts again as soon as a connection ends.
//   Cost: docs/performance.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sim/request_log.h"
#include "sim/site.h"

namespace nephila::sim {

class HttpLoop;

struct HttpCounts {
  uint64_t connections = 0;
  uint64_t requests = 0;
  uint64_t robots = 0;  // of them: for a robots.txt
  uint64_t bytes = 0;
};

class HttpServer {
 public:
  // A socket that has a port but serves nothing yet: the links of the pages
  // that will be served name it.
  struct Port {
    int fd = -1;
    uint16_t number = 0;
  };
  static Result<Port> Reserve(uint16_t port);

  // Takes the port over. `site`, `clock` and `log` (null: none) outlive it.
  // Connections are numbered from `first_connection` on: servers that share a
  // log begin far apart.
  static Result<std::unique_ptr<HttpServer>> Start(
      const Site& site, const Clock& clock, RequestLog* log, Port port,
      size_t threads, uint64_t first_connection = 1);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Ends all connections; requests in flight are logged as stopped.
  void Stop();

  uint16_t port() const { return port_; }
  HttpCounts counts() const;

 private:
  HttpServer(uint16_t port, uint64_t first_connection);

  const uint16_t port_;
  std::atomic<uint64_t> next_connection_;
  std::vector<std::unique_ptr<HttpLoop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace nephila::sim
