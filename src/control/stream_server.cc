#include "control/stream_server.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace nephila::control {
namespace {

using std::chrono::seconds;

constexpr size_t kReadBytes = size_t{16} << 10;
constexpr int kAcceptsAtOnce = 8;
// A client whose connection ends may have sent what nobody reads.
constexpr size_t kMostDrained = size_t{1} << 20;
constexpr seconds kDrainTime{2};

}  // namespace

class StreamServer::Listener final : public net::FdHandler {
 public:
  explicit Listener(StreamServer* server) : server_(server) {}
  void OnReady(uint32_t /*events*/) override { server_->Accept(); }

 private:
  StreamServer* const server_;
};

class StreamServer::Client final : public net::FdHandler {
 public:
  Client(StreamServer* server, uint64_t id, net::Descriptor fd)
      : server_(server), id_(id), fd_(std::move(fd)) {}
  ~Client() override {
    server_->loop_.Forget(fd_.get());
    server_->loop_.Cancel(timer_);
  }

  // Each of these may be the end of this client: nothing follows a call.
  Status Begin() {
    NEPHILA_RETURN_IF_ERROR(server_->loop_.Watch(fd_.get(), EPOLLIN, this));
    events_ = EPOLLIN;
    out_ = server_->protocol_.greeting;
    Touch(server_->protocol_.idle);
    return {};
  }
  void OnReady(uint32_t events) override {
    if ((events & EPOLLERR) != 0) return server_->Drop(id_);
    if ((events & EPOLLIN) != 0 && !Read()) return server_->Drop(id_);
    // Nobody is there any more to read an answer.
    if ((events & EPOLLHUP) != 0 && (events & EPOLLIN) == 0) {
      return server_->Drop(id_);
    }
    GoOn();
  }
  void Say(const std::string& bytes) {
    is_asked_ = false;
    out_ += bytes;
    if (server_->protocol_.one_request) is_ending_ = true;
    GoOn();
  }
  // Sends what can be sent, asks what can be asked.
  void GoOn() {
    if (!Write()) return server_->Drop(id_);
    if (!is_ending_ && !is_asked_ && out_.empty()) {
      Ask();
      if (!Write()) return server_->Drop(id_);
    }
    if (out_.empty() && is_ending_ && !is_drained_) {
      is_drained_ = true;
      shutdown(fd_.get(), SHUT_WR);
      Touch(kDrainTime);
    }
    if (is_drained_ && (is_over_ || drained_ > kMostDrained)) {
      return server_->Drop(id_);
    }
    if (is_over_ && !is_asked_ && out_.empty()) return server_->Drop(id_);
    Watch();
  }

 private:
  // False: the connection is broken.
  bool Read() {
    std::array<char, kReadBytes> bytes;
    const ssize_t size = recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) {
      is_over_ = true;
      return true;
    }
    if (is_ending_) {
      drained_ += static_cast<size_t>(size);
      return true;
    }
    in_.append(bytes.data(), static_cast<size_t>(size));
    return true;
  }
  bool Write() {
    while (!out_.empty()) {
      const ssize_t size =
          send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      out_.erase(0, static_cast<size_t>(size));
      if (!is_ending_) Touch(server_->protocol_.idle);
    }
    return true;
  }
  // The next request, if it is there.
  void Ask() {
    const Protocol& protocol = server_->protocol_;
    const size_t size = protocol.request_size(in_);
    if (size == 0 || size > protocol.max_request_bytes) {
      if (size == 0 && in_.size() < protocol.max_request_bytes) return;
      in_.clear();
      is_ending_ = true;
      out_ = protocol.too_long;
      return;
    }
    const std::string request = in_.substr(0, size);
    in_.erase(0, size);
    is_asked_ = true;
    // Nobody is idle who waits for us.
    server_->loop_.Cancel(timer_);
    // In a round of its own, so that whoever sends much waits for others.
    server_->loop_.Post(
        [alive = std::weak_ptr(server_->alive_), id = id_, request] {
          const auto server = alive.lock();
          if (server == nullptr) return;
          const auto found = (*server)->clients_.find(id);
          if (found == (*server)->clients_.end()) return;
          (*server)->protocol_.handle(request, AnswerFor(alive, id));
        });
  }
  static Answer AnswerFor(std::weak_ptr<StreamServer*> alive, uint64_t id) {
    return [alive = std::move(alive), id](const std::string& bytes) {
      const auto server = alive.lock();
      if (server == nullptr) return;
      const auto found = (*server)->clients_.find(id);
      if (found == (*server)->clients_.end()) return;
      found->second->Touch((*server)->protocol_.idle);
      found->second->Say(bytes);
    };
  }
  void Watch() {
    uint32_t events = 0;
    const bool reads = is_ending_ || (!is_asked_ && out_.empty());
    if (reads && !is_over_) events |= EPOLLIN;
    if (!out_.empty()) events |= EPOLLOUT;
    if (events == events_) return;
    events_ = events;
    if (!server_->loop_.Change(fd_.get(), events)) server_->Drop(id_);
  }
  void Touch(std::chrono::nanoseconds idle) {
    net::EventLoop& loop = server_->loop_;
    loop.Cancel(timer_);
    timer_ = loop.At(loop.clock().Now() + idle,
                     [server = server_, id = id_] { server->Drop(id); });
  }

  StreamServer* const server_;
  const uint64_t id_;
  const net::Descriptor fd_;
  std::string in_;
  std::string out_;
  uint32_t events_ = 0;
  net::TimerId timer_ = net::TimerId::kNone;
  bool is_asked_ = false;    // and not answered
  bool is_over_ = false;     // it will send nothing more
  bool is_ending_ = false;   // when all is sent
  bool is_drained_ = false;  // all is sent, and it was told
  size_t drained_ = 0;
};

StreamServer::StreamServer(net::EventLoop& loop, net::Descriptor listener,
                           Protocol protocol)
    : loop_(loop),
      listener_(std::move(listener)),
      protocol_(std::move(protocol)),
      on_listener_(std::make_unique<Listener>(this)),
      alive_(std::make_shared<StreamServer*>(this)) {}

StreamServer::~StreamServer() {
  loop_.Forget(listener_.get());
  loop_.Cancel(again_);
}

Result<std::unique_ptr<StreamServer>> StreamServer::Make(
    net::EventLoop& loop, net::Descriptor listener, Protocol protocol) {
  std::unique_ptr<StreamServer> server(
      new StreamServer(loop, std::move(listener), std::move(protocol)));
  NEPHILA_RETURN_IF_ERROR(
      loop.Watch(server->listener_.get(), EPOLLIN, server->on_listener_.get()));
  return server;
}

void StreamServer::Accept() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    if (!AcceptOne()) return;
  }
}

bool StreamServer::AcceptOne() {
  net::Descriptor fd(
      accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.get() < 0) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM) return false;
    // It would be ready again at once: the loop has other things to do.
    loop_.Forget(listener_.get());
    again_ = loop_.At(loop_.clock().Now() + seconds(1), [this] {
      IgnoreError(loop_.Watch(listener_.get(), EPOLLIN, on_listener_.get()),
                  "then nobody is answered; the crawl goes on");
    });
    return false;
  }
  if (protocol_.admits && !protocol_.admits(fd.get())) return true;
  if (clients_.size() >= protocol_.max_clients) {
    // What does not fit into the socket's buffer at once is not worth waiting.
    const std::string& words = protocol_.too_many;
    [[maybe_unused]] const ssize_t sent =
        send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL);
    return true;
  }
  const uint64_t id = next_id_++;
  auto client = std::make_unique<Client>(this, id, std::move(fd));
  Client& begun = *client;
  clients_.emplace(id, std::move(client));
  if (begun.Begin()) {
    begun.GoOn();
  } else {
    Drop(id);
  }
  return true;
}

void StreamServer::Drop(uint64_t id) { clients_.erase(id); }

}  // namespace nephila::control
