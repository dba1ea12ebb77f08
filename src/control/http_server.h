// HttpServer: a few pages about a crawl for programs on this machine, such as
// Prometheus.
//   In: GET and HEAD, hostile   Out: a page for each, then the connection ends
//   Threads: that of the loop   Cost: bounded by stream_server.h
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/stream_server.h"
#include "net/event_loop.h"
#include "net/ip_address.h"

namespace nephila::control {

class HttpServer {
 public:
  // Calls `done` once with the text, now or later, by the thread of the loop.
  using Page = std::function<void(std::function<void(std::string)> done)>;

  // `loop` outlives this.
  static Result<std::unique_ptr<HttpServer>> Open(net::EventLoop& loop,
                                                  const net::Endpoint& at);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void Add(const std::string& path, const std::string& media_type, Page page);
  // Where it is: with port 0 the system has chosen.
  const net::Endpoint& endpoint() const { return endpoint_; }

 private:
  struct Offer {
    std::string media_type;
    Page page;
  };
  HttpServer() = default;
  void Handle(std::string_view head, const StreamServer::Answer& answer) const;

  std::map<std::string, Offer, std::less<>> pages_;
  net::Endpoint endpoint_;
  std::unique_ptr<StreamServer> server_;
};

}  // namespace nephila::control
