#include "sim/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "sim/http_loop.h"

namespace nephila::sim {
namespace {

constexpr int kBacklog = 4096;

// `shared` is for the listeners of several threads. It also lets another
// process of the same user take the port, and half of the connections with it.
Result<Descriptor> Bind(uint16_t port, bool shared) {
  Descriptor socket_fd(
      socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int reuse_port = shared ? 1 : 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  if (socket_fd.get() < 0 ||
      setsockopt(socket_fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) !=
          0 ||
      setsockopt(socket_fd.get(), SOL_SOCKET, SO_REUSEPORT, &reuse_port,
                 sizeof(reuse_port)) != 0 ||
      bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0) {
    return Unexpected(
        Error::FromErrno("listen on port " + std::to_string(port), errno));
  }
  return socket_fd;
}

}  // namespace

Result<HttpServer::Port> HttpServer::Reserve(uint16_t port) {
  if (port != 0) {
    // Whoever serves there already is noticed only without sharing.
    NEPHILA_RETURN_IF_ERROR(Bind(port, false));
  }
  NEPHILA_TRY(Descriptor socket_fd, Bind(port, true));
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket_fd.get(), reinterpret_cast<sockaddr*>(&address),
                  &size) != 0) {
    return Unexpected(Error::FromErrno("listen", errno));
  }
  const uint16_t number = ntohs(address.sin_port);
  return Port{socket_fd.Release(), number};
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(
    const Site& site, const Clock& clock, RequestLog* log, Port port,
    size_t threads, uint64_t first_connection) {
  std::unique_ptr<HttpServer> server(
      new HttpServer(port.number, first_connection));
  server->loops_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) {
    Descriptor listener(i == 0 ? port.fd : -1);
    if (i > 0) {
      NEPHILA_TRY(listener, Bind(port.number, true));
    }
    if (listen(listener.get(), kBacklog) != 0) {
      return Unexpected(Error::FromErrno("listen", errno));
    }
    NEPHILA_TRY(auto loop,
                HttpLoop::Make(site, clock, log, &server->next_connection_,
                               std::move(listener)));
    server->loops_.push_back(std::move(loop));
  }
  server->threads_.reserve(threads);
  for (auto& loop : server->loops_) {
    server->threads_.emplace_back([&loop] { loop->Run(); });
  }
  return server;
}

HttpServer::HttpServer(uint16_t port, uint64_t first_connection)
    : port_(port), next_connection_(first_connection) {}

HttpServer::~HttpServer() { Stop(); }

void HttpServer::Stop() {
  for (auto& loop : loops_) loop->Stop();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

HttpCounts HttpServer::counts() const {
  HttpCounts counts;
  for (const auto& loop : loops_) {
    counts.connections += loop->connections;
    counts.requests += loop->requests;
    counts.robots += loop->robots;
    counts.bytes += loop->bytes;
  }
  return counts;
}

}  // namespace nephila::sim
