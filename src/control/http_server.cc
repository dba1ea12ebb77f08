#include "control/http_server.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "control/http_request.h"
#include "control/sockets.h"

namespace nephila::control {
namespace {

constexpr std::chrono::seconds kIdle{10};
constexpr size_t kMostClients = 8;
constexpr std::string_view kText = "text/plain; charset=utf-8";

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

std::string Response(int status, std::string_view media_type,
                     std::string_view body, bool is_head = false) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n\r\n{}",
      status, Reason(status), media_type, body.size(),
      status == 405 ? "Allow: GET, HEAD\r\n" : "",
      is_head ? std::string_view() : body);
}

std::string Refusal(int status) {
  return Response(status, kText, fmt::format("{}\n", Reason(status)));
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Open(net::EventLoop& loop,
                                                     const net::Endpoint& at) {
  NEPHILA_TRY(net::Descriptor listener, ListenOn(at));
  std::unique_ptr<HttpServer> http(new HttpServer());
  NEPHILA_TRY(http->endpoint_, LocalEndpoint(listener.get()));
  StreamServer::Protocol protocol;
  protocol.request_size = HttpHeadSize;
  protocol.too_long = Refusal(431);
  protocol.too_many = Refusal(503);
  protocol.max_request_bytes = kMostHttpBytes;
  protocol.max_clients = kMostClients;
  protocol.idle = kIdle;
  protocol.one_request = true;
  protocol.handle = [http = http.get()](std::string_view head,
                                        const StreamServer::Answer& answer) {
    http->Handle(head, answer);
  };
  NEPHILA_TRY(http->server_, StreamServer::Make(loop, std::move(listener),
                                                std::move(protocol)));
  return http;
}

void HttpServer::Add(const std::string& path, const std::string& media_type,
                     Page page) {
  pages_[path] = {media_type, std::move(page)};
}

void HttpServer::Handle(std::string_view head,
                        const StreamServer::Answer& answer) const {
  const auto request = ParseHttpRequest(head, endpoint_);
  if (!request.has_value()) return answer(Refusal(request.error()));
  const auto found = pages_.find(request->path);
  if (found == pages_.end()) {
    std::string offered = "there is";
    for (const auto& [path, offer] : pages_) offered += " " + path;
    return answer(Response(404, kText, offered + "\n", request->is_head));
  }
  found->second.page(
      [answer, is_head = request->is_head,
       media_type = found->second.media_type](const std::string& text) {
        answer(Response(200, media_type, text, is_head));
      });
}

}  // namespace nephila::control
