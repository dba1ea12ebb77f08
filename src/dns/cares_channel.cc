#include "dns/cares_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "dns/message.h"

namespace nephila::dns {
namespace {

Error AresError(std::string_view what, int status) {
  return Error{ErrorCode::kIo,
               std::string(what).append(": ").append(ares_strerror(status))};
}

ReplyStatus StatusOf(int status) {
  if (status == ARES_SUCCESS) return ReplyStatus::kAnswered;
  return status == ARES_ETIMEOUT ? ReplyStatus::kTimedOut
                                 : ReplyStatus::kUnreachable;
}

// Says nothing about the server.
bool IsLocalError(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ENOMEM || error == EAGAIN || error == EADDRNOTAVAIL;
}

bool IsUdp(int fd) {
  int type = 0;
  socklen_t size = sizeof(type);
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_DGRAM;
}

int SetServer(ares_channel channel, const net::Endpoint& server) {
  ares_addr_port_node node{};
  const auto bytes = server.address.bytes();
  node.family = server.address.is_v4() ? AF_INET : AF_INET6;
  std::memcpy(&node.addr, bytes.data(), bytes.size());
  node.udp_port = server.port;
  node.tcp_port = server.port;
  return ares_set_servers_ports(channel, &node);
}

}  // namespace

CaresChannel::CaresChannel(net::EventLoop& loop,
                           std::chrono::milliseconds timeout, ReplySink* sink)
    : loop_(loop), timeout_(timeout), sink_(sink) {
  for (Socket& socket : sockets_) socket.channel = this;
}

Result<std::unique_ptr<CaresChannel>> CaresChannel::Make(
    net::EventLoop& loop, const net::Endpoint& server,
    std::chrono::milliseconds timeout, bool edns, ReplySink* sink) {
  std::unique_ptr<CaresChannel> channel(new CaresChannel(loop, timeout, sink));
  // Nothing of this machine's files: no search list, no hosts. The response is
  // ours to judge (NOCHECKRESP).
  std::string no_file = "/dev/null";
  std::string lookups = "b";
  ares_options options{};
  options.flags =
      ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP;
  if (edns) options.flags |= ARES_FLAG_EDNS;
  options.timeout = static_cast<int>(timeout.count());
  options.tries = 1;
  options.ndots = 1;
  options.lookups = lookups.data();
  options.ednspsz = kUdpBytes;
  options.resolvconf_path = no_file.data();
  options.sock_state_cb = OnState;
  options.sock_state_cb_data = channel.get();
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                   ARES_OPT_NDOTS | ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS |
                   ARES_OPT_EDNSPSZ | ARES_OPT_RESOLVCONF |
                   ARES_OPT_SOCK_STATE_CB | ARES_OPT_NOROTATE;
  int status = ares_init_options(&channel->channel_, &options, mask);
  if (status == ARES_SUCCESS) status = SetServer(channel->channel_, server);
  if (status != ARES_SUCCESS) return Unexpected(AresError("c-ares", status));
  ares_set_socket_functions(channel->channel_, &SocketFunctions(),
                            channel.get());
  return channel;
}

void CaresChannel::NoteError(int error) {
  if (IsLocalError(error)) local_error_ = true;
}

const ares_socket_functions& CaresChannel::SocketFunctions() {
  static constexpr ares_socket_functions kFunctions = {
      [](int family, int type, int protocol, void* self) -> ares_socket_t {
        const int fd =
            socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
        if (fd < 0) static_cast<CaresChannel*>(self)->NoteError(errno);
        return fd;
      },
      [](ares_socket_t fd, void* /*self*/) { return close(fd); },
      [](ares_socket_t fd, const sockaddr* address, ares_socklen_t size,
         void* self) {
        const int status = connect(fd, address, size);
        if (status != 0) static_cast<CaresChannel*>(self)->NoteError(errno);
        return status;
      },
      [](ares_socket_t fd, void* data, size_t size, int flags, sockaddr* from,
         ares_socklen_t* from_size, void* /*self*/) -> ares_ssize_t {
        return recvfrom(fd, data, size, flags, from, from_size);
      },
      [](ares_socket_t fd, const iovec* parts, int count,
         void* self) -> ares_ssize_t {
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(parts);
        message.msg_iovlen = static_cast<size_t>(count);
        const ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent >= 0) return sent;
        const int error = errno;
        // By TCP c-ares waits until there is room; by UDP it gives up.
        if (IsUdp(fd)) static_cast<CaresChannel*>(self)->NoteError(error);
        errno = error;
        return sent;
      },
  };
  return kFunctions;
}

CaresChannel::~CaresChannel() {
  closing_ = true;
  if (channel_ != nullptr) ares_destroy(channel_);
  for (const Socket& socket : sockets_) loop_.Forget(socket.fd);
  loop_.Cancel(timer_);
}

void CaresChannel::Send(std::string_view message, void* question) {
  NEPHILA_CHECK(!full());
  ++sent_;
  ++in_flight_;
  local_error_ = false;
  if (timer_ == net::TimerId::kNone) SetTimer(timeout_);
  ares_send(channel_, reinterpret_cast<const unsigned char*>(message.data()),
            static_cast<int>(message.size()), OnAnswer,
            new Question{this, question});
}

void CaresChannel::OnAnswer(void* question, int status, int /*timeouts*/,
                            unsigned char* message, int size) {
  const std::unique_ptr<Question> asked(static_cast<Question*>(question));
  CaresChannel& self = *asked->channel;
  --self.in_flight_;
  if (self.closing_) return;
  const bool answered = status == ARES_SUCCESS && message != nullptr;
  ReplyStatus reply = StatusOf(status);
  if (reply == ReplyStatus::kUnreachable &&
      std::exchange(self.local_error_, false)) {
    reply = ReplyStatus::kNotSent;
  }
  self.sink_->OnReply(
      asked->question, reply,
      answered ? std::string_view(reinterpret_cast<const char*>(message),
                                  static_cast<size_t>(size))
               : std::string_view());
}

void CaresChannel::OnState(void* self, ares_socket_t fd, int readable,
                           int writable) {
  const uint32_t events =
      (readable != 0 ? static_cast<uint32_t>(EPOLLIN) : 0U) |
      (writable != 0 ? static_cast<uint32_t>(EPOLLOUT) : 0U);
  static_cast<CaresChannel*>(self)->Watch(fd, events);
}

void CaresChannel::Watch(int fd, uint32_t events) {
  const auto with = [&](int wanted) {
    return std::find_if(sockets_.begin(), sockets_.end(),
                        [&](const Socket& s) { return s.fd == wanted; });
  };
  auto socket = with(fd);
  if (events == 0) {
    loop_.Forget(fd);
    if (socket != sockets_.end()) socket->fd = -1;
    return;
  }
  if (socket != sockets_.end()) {
    IgnoreError(loop_.Change(fd, events), "the question will time out");
    return;
  }
  socket = with(-1);
  NEPHILA_CHECK(socket != sockets_.end());
  if (loop_.Watch(fd, events, &*socket)) socket->fd = fd;
  // Else no more memory for epoll: the question will time out.
}

void CaresChannel::Socket::OnReady(uint32_t events) {
  const ares_socket_t out = (events & EPOLLOUT) != 0 ? fd : ARES_SOCKET_BAD;
  const bool in = (events & ~static_cast<uint32_t>(EPOLLOUT)) != 0;
  channel->Process(in ? fd : ARES_SOCKET_BAD, out);
}

void CaresChannel::Process(ares_socket_t read_fd, ares_socket_t write_fd) {
  local_error_ = false;
  ares_process_fd(channel_, read_fd, write_fd);
  if (in_flight_ == 0) {
    loop_.Cancel(timer_);
    timer_ = net::TimerId::kNone;
  }
  // May destroy this channel.
  sink_->OnReplies();
}

void CaresChannel::SetTimer(std::chrono::nanoseconds wait) {
  timer_ = loop_.At(loop_.clock().Now() + wait, [this] {
    timer_ = net::TimerId::kNone;
    local_error_ = false;
    // An answer that has come by now is taken, however late we are ourselves:
    // c-ares reads before it looks at its clock.
    for (const Socket& socket : sockets_) {
      if (socket.fd >= 0) ares_process_fd(channel_, socket.fd, ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    // c-ares says when the earliest of those that stay in flight is due. The
    // replies come last, since they may end this channel.
    timeval next{};
    if (in_flight_ > 0 && ares_timeout(channel_, nullptr, &next) != nullptr) {
      SetTimer(std::chrono::seconds(next.tv_sec) +
               std::chrono::microseconds(next.tv_usec) +
               std::chrono::milliseconds(1));
    }
    sink_->OnReplies();
  });
}

Result<std::vector<net::Endpoint>> SystemServers(const std::string& path) {
  ares_channel channel = nullptr;
  std::string file = path;
  ares_options options{};
  options.resolvconf_path = file.data();
  if (const int status =
          ares_init_options(&channel, &options, ARES_OPT_RESOLVCONF);
      status != ARES_SUCCESS) {
    return Unexpected(AresError("the system's name servers", status));
  }
  ares_addr_port_node* nodes = nullptr;
  const int status = ares_get_servers_ports(channel, &nodes);
  std::vector<net::Endpoint> servers;
  for (const auto* node = nodes; node != nullptr; node = node->next) {
    const size_t size = node->family == AF_INET ? 4 : 16;
    const auto address = net::IpAddress::FromBytes(
        {reinterpret_cast<const char*>(&node->addr), size});
    const int port = node->udp_port == 0 ? 53 : node->udp_port;
    if (address) servers.push_back({*address, static_cast<uint16_t>(port)});
  }
  if (nodes != nullptr) ares_free_data(nodes);
  ares_destroy(channel);
  if (status != ARES_SUCCESS) {
    return Unexpected(AresError("the system's name servers", status));
  }
  if (servers.empty()) {
    return Unexpected(
        Error{ErrorCode::kNotFound,
              "no name server in " + path + "; name one with dns.servers"});
  }
  return servers;
}

}  // namespace nephila::dns
