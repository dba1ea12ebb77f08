#include "sim/dns_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "sim/descriptor.h"
#include "sim/dns_message.h"
#include "sim/dns_zone.h"

namespace nephila::sim {
namespace {

// More than any answer of ours.
constexpr size_t kTcpLimit = 65'535;
// Free ports are looked for so often: one must be free for UDP and for TCP.
constexpr int kTries = 20;

Result<Descriptor> Bind(int type, uint16_t port) {
  Descriptor socket_fd(socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (socket_fd.get() < 0 ||
      (type == SOCK_STREAM && setsockopt(socket_fd.get(), SOL_SOCKET,
                                         SO_REUSEADDR, &on, sizeof(on)) != 0) ||
      bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0 ||
      (type == SOCK_STREAM && listen(socket_fd.get(), 128) != 0)) {
    return Unexpected(
        Error::FromErrno("DNS on port " + std::to_string(port), errno));
  }
  return socket_fd;
}

uint16_t PortOf(const Descriptor& socket_fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

std::string_view TypeName(uint16_t type) {
  if (type == kTypeA) return "A";
  return type == kTypeAaaa ? "AAAA" : "other";
}

std::string_view Outcome(const DnsAnswer& answer) {
  if (answer.silent) return "silent";
  if (answer.rcode == Rcode::kNxDomain) return "nxdomain";
  return answer.rcode == Rcode::kServFail ? "servfail" : "answered";
}

}  // namespace

class DnsServer::Loop {
 public:
  Loop(const Site& site, RequestLog* log) : zone_(site), log_(log) {}

  Status Open(uint16_t port);
  void Run();
  void Stop();
  uint16_t port() const { return PortOf(udp_); }

 private:
  struct Connection {
    Descriptor socket;
    uint64_t id = 0;
    std::string in;
    std::string out;
  };
  // An answer that is not to be given yet: by UDP to `to`, by TCP over the
  // connection, if it is still there.
  struct Later {
    std::string bytes;
    sockaddr_in to{};
    int fd = -1;  // of TCP
    uint64_t connection = 0;
    size_t sent = 0;
    // Between two bytes; 0 sends them all at once.
    std::chrono::nanoseconds drip{0};
  };

  Status BindBoth(uint16_t port);
  Status Add(int fd);
  // Appends the answer to one question; nothing if it stays unanswered.
  // Returns when to give it.
  DnsAnswer Answer(std::string_view bytes, bool tcp, std::string* out);
  void Keep(const DnsAnswer& answer, Later later);
  void OnLater();
  int TimeoutMs() const;
  void OnUdp();
  void OnAccept();
  // False: close it.
  bool OnTcp(Connection* connection);

  DnsZone zone_;
  RequestLog* const log_;
  Descriptor udp_;
  Descriptor tcp_;
  Descriptor epoll_;
  Descriptor wake_;
  std::atomic<bool> stop_{false};
  Question question_;
  std::unordered_map<int, Connection> connections_;
  uint64_t next_connection_ = 1;
  const RealClock clock_;
  std::multimap<MonoTime, Later> later_;
};

Status DnsServer::Loop::BindBoth(uint16_t port) {
  NEPHILA_TRY(udp_, Bind(SOCK_DGRAM, port));
  NEPHILA_TRY(tcp_, Bind(SOCK_STREAM, PortOf(udp_)));
  return {};
}

Status DnsServer::Loop::Add(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return Unexpected(Error::FromErrno("epoll", errno));
  }
  return {};
}

Status DnsServer::Loop::Open(uint16_t port) {
  Status bound = BindBoth(port);
  for (int i = 1; i < kTries && port == 0 && !bound; ++i) bound = BindBoth(0);
  NEPHILA_RETURN_IF_ERROR(std::move(bound));
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (int fd : {udp_.get(), tcp_.get(), wake_.get()}) {
    NEPHILA_RETURN_IF_ERROR(Add(fd));
  }
  return {};
}

void DnsServer::Loop::Stop() {
  stop_ = true;
  const uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof(one)) < 0) {
    // Full: it will wake all the same.
  }
}

void DnsServer::Loop::Run() {
  std::array<epoll_event, 64> events{};
  while (!stop_) {
    const int count = epoll_wait(epoll_.get(), events.data(),
                                 static_cast<int>(events.size()), TimeoutMs());
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == udp_.get()) {
        OnUdp();
      } else if (fd == tcp_.get()) {
        OnAccept();
      } else if (const auto found = connections_.find(fd);
                 found != connections_.end()) {
        if (!OnTcp(&found->second)) connections_.erase(found);
      }
    }
    OnLater();
  }
}

int DnsServer::Loop::TimeoutMs() const {
  if (later_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      later_.begin()->first - clock_.Now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void DnsServer::Loop::Keep(const DnsAnswer& answer, Later later) {
  if (later_.size() >= kMaxLater) return;
  if (answer.drip && later.fd >= 0) later.drip = answer.delay;
  later_.emplace(clock_.Now() + answer.delay, std::move(later));
}

void DnsServer::Loop::OnLater() {
  while (!later_.empty() && later_.begin()->first <= clock_.Now()) {
    Later later = std::move(later_.extract(later_.begin()).mapped());
    if (later.fd < 0) {
      sendto(udp_.get(), later.bytes.data(), later.bytes.size(), 0,
             reinterpret_cast<const sockaddr*>(&later.to), sizeof(later.to));
      continue;
    }
    const auto found = connections_.find(later.fd);
    if (found == connections_.end() || found->second.id != later.connection) {
      continue;
    }
    const size_t left = later.bytes.size() - later.sent;
    const size_t piece = later.drip.count() > 0 ? 1 : left;
    if (send(later.fd, later.bytes.data() + later.sent, piece, MSG_NOSIGNAL) !=
        static_cast<ssize_t>(piece)) {
      connections_.erase(found);
      continue;
    }
    later.sent += piece;
    if (piece == left) continue;
    const MonoTime next = clock_.Now() + later.drip;
    later_.emplace(next, std::move(later));
  }
}

DnsAnswer DnsServer::Loop::Answer(std::string_view bytes, bool tcp,
                                  std::string* out) {
  if (const auto parsed = ParseQuestion(bytes, &question_); !parsed) {
    if (parsed.error().answer) {
      AppendDnsError(question_, parsed.error().rcode, out);
    }
    return {};
  }
  DnsAnswer answer = zone_.Find(question_.name);
  if (log_ != nullptr) {
    log_->Asked(TypeName(question_.type), question_.name, Outcome(answer));
  }
  if (answer.silent) return answer;
  const size_t udp_limit = answer.truncate ? 0 : question_.udp_bytes;
  AppendAnswer(question_, answer, tcp ? kTcpLimit : udp_limit, out);
  // That there is more by TCP is said at once.
  if (!tcp && answer.drip) answer.delay = {};
  return answer;
}

void DnsServer::Loop::OnUdp() {
  std::array<char, kMaxQuestionBytes + 1> buffer{};
  std::string out;
  for (int i = 0; i < 64; ++i) {
    sockaddr_in from{};
    socklen_t from_size = sizeof(from);
    const ssize_t size =
        recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                 reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) return;
    out.clear();
    const DnsAnswer answer =
        Answer({buffer.data(), static_cast<size_t>(size)}, false, &out);
    if (out.empty()) continue;
    if (answer.delay.count() > 0) {
      Keep(answer, {out, from});
      continue;
    }
    // What UDP loses is asked again.
    sendto(udp_.get(), out.data(), out.size(), 0,
           reinterpret_cast<const sockaddr*>(&from), from_size);
  }
}

void DnsServer::Loop::OnAccept() {
  Descriptor socket_fd(
      accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int fd = socket_fd.get();
  if (fd < 0 || connections_.size() >= kMaxTcpConnections || !Add(fd)) return;
  Connection& connection = connections_[fd];
  connection.socket = std::move(socket_fd);
  connection.id = next_connection_++;
}

bool DnsServer::Loop::OnTcp(Connection* connection) {
  std::array<char, kMaxQuestionBytes> buffer{};
  const ssize_t size =
      recv(connection->socket.get(), buffer.data(), buffer.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) return false;
  std::string& in = connection->in;
  in.append(buffer.data(), static_cast<size_t>(size));
  while (in.size() >= 2) {
    const size_t length =
        static_cast<size_t>(static_cast<unsigned char>(in[0]) << 8 |
                            static_cast<unsigned char>(in[1]));
    if (length > kMaxQuestionBytes) return false;
    if (in.size() < 2 + length) return true;
    std::string& out = connection->out;
    out.assign(2, '\0');
    const DnsAnswer answer =
        Answer(std::string_view(in).substr(2, length), true, &out);
    in.erase(0, 2 + length);
    if (out.size() == 2) continue;
    out[0] = static_cast<char>((out.size() - 2) >> 8);
    out[1] = static_cast<char>((out.size() - 2) & 0xFF);
    if (answer.delay.count() > 0) {
      Keep(answer, {out, {}, connection->socket.get(), connection->id});
      continue;
    }
    // An answer is far smaller than the socket's buffer: who does not read
    // enough of them is not waited for.
    if (send(connection->socket.get(), out.data(), out.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(out.size())) {
      return false;
    }
  }
  return true;
}

DnsServer::DnsServer() = default;

Result<std::unique_ptr<DnsServer>> DnsServer::Start(const Site& site,
                                                    RequestLog* log,
                                                    uint16_t port) {
  std::unique_ptr<DnsServer> server(new DnsServer());
  server->loop_ = std::make_unique<Loop>(site, log);
  NEPHILA_RETURN_IF_ERROR(server->loop_->Open(port));
  server->port_ = server->loop_->port();
  server->thread_ = std::thread([loop = server->loop_.get()] { loop->Run(); });
  return server;
}

DnsServer::~DnsServer() { Stop(); }

void DnsServer::Stop() {
  if (loop_ != nullptr) loop_->Stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace nephila::sim
