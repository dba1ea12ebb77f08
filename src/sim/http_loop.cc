#include "sim/http_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace nephila::sim {
namespace {

constexpr size_t kReadBytes = 16'384;
// Pieces of an endless answer before others have their turn.
constexpr int kMaxRounds = 16;
constexpr uint32_t kRead = EPOLLIN | EPOLLRDHUP;

bool IsLoopback(const sockaddr_in& address) {
  return address.sin_family == AF_INET &&
         (ntohl(address.sin_addr.s_addr) >> 24) == 127;
}

}  // namespace

HttpLoop::HttpLoop(const Site& site, const Clock& clock, RequestLog* log,
                   std::atomic<uint64_t>* next_connection, Descriptor listener)
    : site_(site),
      clock_(clock),
      log_(log),
      next_connection_(next_connection),
      listener_(std::move(listener)),
      answerer_(site_),
      read_(kReadBytes, '\0') {}

Result<std::unique_ptr<HttpLoop>> HttpLoop::Make(
    const Site& site, const Clock& clock, RequestLog* log,
    std::atomic<uint64_t>* next_connection, Descriptor listener) {
  std::unique_ptr<HttpLoop> loop(
      new HttpLoop(site, clock, log, next_connection, std::move(listener)));
  NEPHILA_RETURN_IF_ERROR(loop->Open());
  return loop;
}

Status HttpLoop::Open() {
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (epoll_.get() < 0 || wake_.get() < 0) {
    return Unexpected(Error::FromErrno("epoll", errno));
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.get();
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return Unexpected(Error::FromErrno("epoll", errno));
  }
  Listen(true);
  return {};
}

void HttpLoop::Listen(bool on) {
  if (on == listening_) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener_.get();
  epoll_ctl(epoll_.get(), on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.get(),
            &event);
  listening_ = on;
}

void HttpLoop::Stop() {
  stop_ = true;
  const uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof(one)) < 0) {
    // Full: it will wake all the same.
  }
}

void HttpLoop::Run() {
  std::array<epoll_event, 256> events{};
  while (!stop_) {
    const int count = epoll_wait(epoll_.get(), events.data(),
                                 static_cast<int>(events.size()), TimeoutMs());
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener_.get()) {
        AcceptAll();
      } else if (fd != wake_.get()) {
        OnEvent(fd, events[static_cast<size_t>(i)].events);
      }
    }
    OnTimers();
  }
  for (auto& connection : by_fd_) {
    if (connection != nullptr) Close(connection.get(), "stopped");
  }
}

int HttpLoop::TimeoutMs() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      timers_.top().at - clock_.Now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void HttpLoop::OnTimers() {
  while (!timers_.empty() && timers_.top().at <= clock_.Now()) {
    const Timer timer = timers_.top();
    timers_.pop();
    const auto fd = static_cast<size_t>(timer.fd);
    Connection* connection = fd < by_fd_.size() ? by_fd_[fd].get() : nullptr;
    if (connection == nullptr || connection->timer != timer.number) continue;
    connection->timer = 0;
    fresh_.clear();
    connection->step = answerer_.Continue(&connection->exchange, &fresh_);
    if (Advance(connection, &fresh_)) Serve(connection);
  }
}

void HttpLoop::AcceptAll() {
  for (int i = 0; i < 64; ++i) {
    const int fd = accept4(listener_.get(), nullptr, nullptr,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Accept(fd);
      continue;
    }
    // No descriptors left: the listener would wake us again and again.
    if (errno == EMFILE || errno == ENFILE) Listen(false);
    if (errno != ECONNABORTED && errno != EINTR) return;
  }
}

void HttpLoop::Accept(int fd) {
  auto connection = std::make_unique<Connection>();
  connection->socket = Descriptor(fd);
  sockaddr_in local{};
  socklen_t size = sizeof(local);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) != 0 ||
      !IsLoopback(local)) {
    return;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  connection->id = (*next_connection_)++;
  ++connections;
  if (log_ != nullptr) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &local.sin_addr, text.data(), text.size());
    connection->address = text.data();
    connection->accepted_us =
        log_->Accepted(connection->id, connection->address);
  }
  epoll_event event{};
  event.events = kRead;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return;
  connection->events = kRead;
  const auto place = static_cast<size_t>(fd);
  if (place >= by_fd_.size()) by_fd_.resize(place + 1);
  by_fd_[place] = std::move(connection);
}

// An event may be about a connection that an earlier one of the same round
// ended, even if another has its descriptor by now: nothing is believed that
// the socket does not say itself.
void HttpLoop::OnEvent(int fd, uint32_t events) {
  const auto place = static_cast<size_t>(fd);
  if (place >= by_fd_.size() || by_fd_[place] == nullptr) return;
  Connection* connection = by_fd_[place].get();
  if ((events & EPOLLOUT) != 0 && connection->busy &&
      (connection->events & EPOLLOUT) != 0) {
    fresh_.clear();
    if (connection->out.empty() && connection->step.then == Then::kMore) {
      connection->step = answerer_.Continue(&connection->exchange, &fresh_);
    }
    if (!Advance(connection, &fresh_) || !Serve(connection)) return;
  }
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) OnReadable(connection);
}

void HttpLoop::OnReadable(Connection* connection) {
  const ssize_t size =
      recv(connection->socket.get(), read_.data(), read_.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    Close(connection, "lost");
    return;
  }
  connection->in.append(read_, 0, static_cast<size_t>(size));
  if (connection->busy) {
    // Enough for the next request; the rest waits in the system.
    if (connection->in.size() > kMaxRequestBytes) {
      Watch(connection, connection->events & ~kRead);
    }
    return;
  }
  Serve(connection);
}

bool HttpLoop::Serve(Connection* connection) {
  while (!connection->busy && !connection->in.empty()) {
    const auto size =
        ParseRequest(connection->in, &connection->searched, &request_);
    if (!size && size.error() == RequestError::kIncomplete) return true;
    const bool good = size.has_value();
    ++requests;
    if (good && request_.target == "/robots.txt") ++robots;
    connection->busy = true;
    connection->open = true;
    connection->sent = 0;
    connection->given.reset();
    if (log_ != nullptr) {
      log_->Requested(connection->id, connection->accepted_us,
                      connection->address, good ? request_.host : "",
                      good ? request_.method : "", good ? request_.target : "");
    }
    fresh_.clear();
    if (good) {
      connection->step = answerer_.Begin(request_, clock_.Now(),
                                         &connection->exchange, &fresh_);
      connection->in.erase(0, *size);
    } else {
      connection->step =
          Answerer::Refuse(size.error(), &connection->exchange, &fresh_);
      connection->in.clear();
    }
    if (!Advance(connection, &fresh_)) return false;
  }
  return true;
}

bool HttpLoop::Advance(Connection* connection, std::string* fresh) {
  for (int round = 0;; ++round) {
    if (!Send(connection, fresh)) return false;
    if (!connection->out.empty()) return true;
    switch (connection->step.then) {
      case Then::kMore:
        if (round == kMaxRounds) {
          Watch(connection, kRead | EPOLLOUT);
          return true;
        }
        fresh->clear();
        connection->step = answerer_.Continue(&connection->exchange, fresh);
        break;
      case Then::kWait:
        connection->timer = next_timer_++;
        timers_.push({clock_.Now() + connection->step.wait,
                      connection->socket.get(), connection->timer});
        Watch(connection, kRead);
        return true;
      default:
        return Finish(connection);
    }
  }
}

bool HttpLoop::Send(Connection* connection, std::string* fresh) {
  std::string_view data = *fresh;
  if (!connection->out.empty()) {
    connection->out.append(*fresh);
    data = std::string_view(connection->out).substr(connection->out_sent);
  }
  while (!data.empty()) {
    if (log_ != nullptr) connection->given = clock_.Now();
    const ssize_t size =
        send(connection->socket.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) {
      Close(connection, "lost");
      return false;
    }
    if (size < 0) break;
    const auto taken = static_cast<size_t>(size);
    connection->sent += taken;
    bytes += taken;
    connection->out_sent += connection->out.empty() ? 0 : taken;
    data.remove_prefix(taken);
  }
  if (data.empty()) {
    connection->out.clear();
    connection->out_sent = 0;
    return true;
  }
  if (connection->out.empty()) connection->out = data;
  Watch(connection, kRead | EPOLLOUT);
  return true;
}

bool HttpLoop::Finish(Connection* connection) {
  switch (connection->step.then) {
    case Then::kKeep:
      if (log_ != nullptr) {
        log_->Ended(connection->id, connection->exchange.status,
                    connection->sent, "keep", connection->given);
      }
      connection->open = false;
      connection->busy = false;
      Watch(connection, kRead);
      return true;
    case Then::kReset: {
      const linger now{1, 0};
      setsockopt(connection->socket.get(), SOL_SOCKET, SO_LINGER, &now,
                 sizeof(now));
      Close(connection, "reset");
      return false;
    }
    case Then::kHalfClose:
      shutdown(connection->socket.get(), SHUT_WR);
      if (log_ != nullptr) {
        log_->Ended(connection->id, connection->exchange.status,
                    connection->sent, "half-close", connection->given);
      }
      connection->open = false;
      Watch(connection, kRead);
      return true;
    case Then::kHang:
      Watch(connection, kRead);
      return true;
    default:
      Close(connection, "close");
      return false;
  }
}

void HttpLoop::Watch(Connection* connection, uint32_t events) {
  if (connection->events == events) return;
  epoll_event event{};
  event.events = events;
  event.data.fd = connection->socket.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection->socket.get(), &event);
  connection->events = events;
}

void HttpLoop::Close(Connection* connection, std::string_view end) {
  if (connection->open && log_ != nullptr) {
    // Who waits for the end of the connection knows of it later still.
    log_->Ended(connection->id, connection->exchange.status, connection->sent,
                end, end == "close" ? connection->given : std::nullopt);
  }
  by_fd_[static_cast<size_t>(connection->socket.get())].reset();
  Listen(true);
}

}  // namespace nephila::sim
