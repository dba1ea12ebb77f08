#include "fetch/multi_pool.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/check.h"

namespace nephila::fetch {
namespace {

// Beyond all that a multi can hold: connections go when their request says
// so, never because another came (the one that libcurl would pick may be the
// next to be used).
constexpr long kMostConnections = std::numeric_limits<int>::max();

// Connections that are closed at once when there is no slot, or a part of the
// budget if that is more: so that not each transfer has to close one.
constexpr size_t kClosedAtOnce = 8;
constexpr size_t kClosedPart = 16;

uint32_t EpollEvents(int what) {
  return (what & CURL_POLL_IN ? uint32_t{EPOLLIN} : 0) |
         (what & CURL_POLL_OUT ? uint32_t{EPOLLOUT} : 0);
}

int CurlEvents(uint32_t events) {
  const int action = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                     (events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
  // The next read or write finds out what is wrong, after what is still to be
  // read; libcurl's own flag for errors would drop that.
  return action != 0 ? action : CURL_CSELECT_IN | CURL_CSELECT_OUT;
}

}  // namespace

struct MultiPool::Multi {
  MultiPool* pool = nullptr;
  size_t index = 0;
  CURLM* handle = nullptr;
  size_t transfers = 0;
  size_t starting = 0;     // of them; libcurl has not begun them
  size_t kept = 0;         // connections
  size_t users = 0;        // transfers that use one of those
  CURL* pruner = nullptr;  // while one runs
  net::TimerId timer = net::TimerId::kNone;
  MonoTime armed = MonoTime::max();  // when the timer runs
  MonoTime due = MonoTime::max();    // when libcurl wants to
  net::TimerId idle_timer = net::TimerId::kNone;
  MonoTime idle_since{};

  size_t idle() const { return kept - std::min(kept, users); }
};

class MultiPool::Socket final : public net::FdHandler {
 public:
  void Set(Multi* multi, CURL* easy, curl_socket_t fd) {
    multi_ = multi;
    easy_ = easy;
    fd_ = fd;
  }
  void OnReady(uint32_t events) override {
    multi_->pool->Act(multi_, easy_, fd_, CurlEvents(events));
  }

 private:
  Multi* multi_ = nullptr;
  CURL* easy_ = nullptr;  // whose request it is
  curl_socket_t fd_ = -1;
};

MultiPool::MultiPool(net::EventLoop& loop, size_t transfers_each,
                     std::chrono::nanoseconds idle_timeout,
                     ConnectionBudget* budget, Owner* owner)
    : loop_(loop),
      transfers_each_(transfers_each),
      idle_timeout_(idle_timeout),
      budget_(budget),
      owner_(owner) {
  NEPHILA_CHECK(transfers_each > 0);
}

MultiPool::~MultiPool() {
  for (const auto& multi : multis_) {
    NEPHILA_CHECK(multi->transfers == 0);
    if (multi->pruner != nullptr) EndPrune(multi.get());
    curl_multi_cleanup(multi->handle);
    loop_.Cancel(multi->timer);
    loop_.Cancel(multi->idle_timer);
  }
  if (budget_ != nullptr) budget_->Give(slots_);
}

CURLM* MultiPool::MakeHandle(Multi* multi) {
  CURLM* const handle = curl_multi_init();
  if (handle == nullptr) return nullptr;
  curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, &MultiPool::OnSocket);
  curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, &MultiPool::OnTimer);
  curl_multi_setopt(handle, CURLMOPT_TIMERDATA, multi);
  curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, kMostConnections);
  // A host has one request in flight: whoever sent two did not mean them to
  // share a connection and wait for each other.
  curl_multi_setopt(handle, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  return handle;
}

size_t MultiPool::MakeMulti() {
  auto multi = std::make_unique<Multi>();
  multi->pool = this;
  multi->index = multis_.size();
  multi->handle = MakeHandle(multi.get());
  if (multi->handle == nullptr) return multis_.size();
  multis_.push_back(std::move(multi));
  return multis_.size() - 1;
}

std::optional<size_t> MultiPool::Place(uint64_t server) {
  const auto kept = kept_.find(server);
  if (kept != kept_.end()) return kept->second.multi;
  for (size_t i = 0; i < multis_.size(); ++i) {
    const size_t index = (roomy_ + i) % multis_.size();
    if (multis_[index]->transfers < transfers_each_) {
      roomy_ = index;
      return index;
    }
  }
  const size_t made = MakeMulti();
  if (made == multis_.size()) return std::nullopt;
  roomy_ = made;
  return made;
}

bool MultiPool::Add(size_t multi, CURL* easy) {
  if (curl_multi_add_handle(multis_[multi]->handle, easy) != CURLM_OK) {
    return false;
  }
  ++multis_[multi]->transfers;
  ++multis_[multi]->starting;
  return true;
}

void MultiPool::NoteStarted(size_t multi) { --multis_[multi]->starting; }

int MultiPool::max_descriptor() const {
  return budget_ == nullptr ? std::numeric_limits<int>::max()
                            : budget_->max_descriptor();
}

void MultiPool::Hold(uint64_t server, size_t multi) {
  ++multis_[multi]->users;
  const auto kept = kept_.find(server);
  if (kept != kept_.end()) ++kept->second.users;
}

void MultiPool::Unhold(uint64_t server, size_t multi) {
  --multis_[multi]->users;
  const auto kept = kept_.find(server);
  // All of its connections may have been closed, and others made since.
  if (kept != kept_.end() && kept->second.users > 0) --kept->second.users;
}

size_t MultiPool::idle_connections() const {
  size_t idle = 0;
  for (const auto& multi : multis_) idle += multi->idle();
  return idle;
}

bool MultiPool::HasIdle(uint64_t server) const {
  const auto kept = kept_.find(server);
  return kept != kept_.end() && kept->second.sockets > kept->second.users;
}

bool MultiPool::TakeSlot(uint64_t server) {
  // The slot of the idle connection becomes that of the transfer.
  if (budget_ == nullptr || HasIdle(server)) return true;
  if (!budget_->TryTake()) {
    CloseIdle(std::max(kClosedAtOnce, budget_->limit() / kClosedPart));
    if (!budget_->TryTake()) return false;
  }
  ++slots_;
  return true;
}

void MultiPool::Settle() {
  if (budget_ == nullptr) return;
  size_t needed = 0;
  for (const auto& multi : multis_) needed += multi->transfers + multi->idle();
  if (needed < slots_) {
    budget_->Give(slots_ - needed);
  } else {
    budget_->Take(needed - slots_);
  }
  slots_ = needed;
}

size_t MultiPool::CloseIdle(size_t count) {
  size_t closed = 0;
  while (closed < count) {
    Multi* fullest = nullptr;
    for (const auto& multi : multis_) {
      if (multi->starting > 0 || multi->pruner != nullptr) continue;
      if (fullest == nullptr || multi->idle() > fullest->idle()) {
        fullest = multi.get();
      }
    }
    if (fullest == nullptr || fullest->idle() == 0) break;
    if (!CloseOldest(fullest)) break;
    ++closed;
  }
  Settle();
  return closed;
}

// libcurl closes the oldest idle connection of a multi when a new one would be
// more than the multi may have. Nothing else asks for a connection meanwhile,
// as none of its transfers is about to start: that one would wait for ever if
// no connection is idle.
bool MultiPool::CloseOldest(Multi* multi) {
  CURL* const pruner = MakePruner();
  if (pruner == nullptr) return false;
  const size_t before = multi->kept;
  curl_multi_setopt(multi->handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
  if (curl_multi_add_handle(multi->handle, pruner) == CURLM_OK) {
    int running = 0;
    curl_multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
    curl_multi_remove_handle(multi->handle, pruner);
  }
  curl_multi_setopt(multi->handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, 0L);
  curl_easy_cleanup(pruner);
  // Other transfers may have ended in that call: the loop looks.
  multi->due = loop_.clock().Now();
  Arm(multi, multi->due);
  return multi->kept < before;
}

void MultiPool::Remove(size_t multi, CURL* easy) {
  const CURLMcode code = curl_multi_remove_handle(multis_[multi]->handle, easy);
  NEPHILA_CHECK(code == CURLM_OK);
  Multi* const left = multis_[multi].get();
  if (--left->transfers == 0) left->idle_since = loop_.clock().Now();
}

void MultiPool::ArmIdle(Multi* multi, MonoTime due) {
  multi->idle_timer = loop_.At(due, [multi] { multi->pool->OnIdle(multi); });
}

void MultiPool::OnIdle(Multi* multi) {
  multi->idle_timer = net::TimerId::kNone;
  if (multi->kept == 0) return;
  const MonoTime now = loop_.clock().Now();
  if (multi->transfers > 0 || multi->pruner != nullptr) {
    if (multi->pruner == nullptr) Prune(multi);
    ArmIdle(multi, now + idle_timeout_ / 2);
    return;
  }
  if (now < multi->idle_since + idle_timeout_) {
    ArmIdle(multi, multi->idle_since + idle_timeout_);
    return;
  }
  // There is no call of libcurl that closes all that is idle in a multi but
  // the one that ends it.
  CURLM* const fresh = MakeHandle(multi);
  if (fresh == nullptr) return;
  curl_multi_cleanup(multi->handle);
  multi->handle = fresh;
  multi->due = MonoTime::max();
  Settle();
}

CURL* MultiPool::MakePruner() {
  CURL* const easy = curl_easy_init();
  if (easy == nullptr) return nullptr;
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1/");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  const curl_opensocket_callback refuse = [](void*, curlsocktype,
                                             curl_sockaddr*) -> curl_socket_t {
    return CURL_SOCKET_BAD;
  };
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, refuse);
  return easy;
}

// A request that gets no socket, so that nobody hears of it. Before libcurl
// asks for one it closes what is too old.
void MultiPool::Prune(Multi* multi) {
  CURL* const easy = MakePruner();
  if (easy == nullptr) return;
  // libcurl counts whole seconds, and closes what is older.
  curl_easy_setopt(
      easy, CURLOPT_MAXAGE_CONN,
      static_cast<long>(
          std::chrono::floor<std::chrono::seconds>(idle_timeout_).count()));
  multi->pruner = easy;
  if (curl_multi_add_handle(multi->handle, easy) == CURLM_OK) return;
  multi->pruner = nullptr;
  curl_easy_cleanup(easy);
}

void MultiPool::EndPrune(Multi* multi) {
  curl_multi_remove_handle(multi->handle, multi->pruner);
  curl_easy_cleanup(multi->pruner);
  multi->pruner = nullptr;
}

void MultiPool::NoteOpened(int fd, uint64_t server, size_t multi) {
  const auto index = static_cast<size_t>(fd);
  if (index >= connections_.size()) connections_.resize(index + 1);
  // The kernel gave the number anew, so whoever had it is gone.
  if (connections_[index].server != 0) Release(index);
  connections_[index] = {server, multi};
  Kept& kept = kept_[server];
  kept.multi = multi;
  ++kept.sockets;
  ++kept_sockets_;
  Multi* const home = multis_[multi].get();
  ++home->kept;
  if (home->idle_timer == net::TimerId::kNone) {
    ArmIdle(home, loop_.clock().Now() + idle_timeout_);
  }
}

void MultiPool::NoteClosed(int fd) {
  loop_.Forget(fd);
  const auto index = static_cast<size_t>(fd);
  if (index < connections_.size() && connections_[index].server != 0) {
    Release(index);
  }
}

void MultiPool::Release(size_t fd) {
  const Connection connection = std::exchange(connections_[fd], {});
  const auto kept = kept_.find(connection.server);
  --kept_sockets_;
  NEPHILA_CHECK(kept != kept_.end());
  --multis_[connection.multi]->kept;
  if (--kept->second.sockets == 0) kept_.erase(kept);
}

int MultiPool::OnSocket(CURL* easy, curl_socket_t fd, int what, void* multi,
                        void* socket) {
  auto* const self = static_cast<Multi*>(multi);
  self->pool->Watch(self, easy, fd, what, static_cast<Socket*>(socket));
  return 0;
}

void MultiPool::Watch(Multi* multi, CURL* easy, curl_socket_t fd, int what,
                      Socket* socket) {
  if (what == CURL_POLL_REMOVE) {
    loop_.Forget(fd);
    if (socket != nullptr) {
      free_sockets_.push_back(socket);
      curl_multi_assign(multi->handle, fd, nullptr);
    }
    return;
  }
  if (socket != nullptr && loop_.Watched(fd)) {
    socket->Set(multi, easy, fd);
    IgnoreError(loop_.Change(fd, EpollEvents(what)),
                "no memory in the kernel: the transfer runs into its timeout");
    return;
  }
  if (socket == nullptr) {
    if (free_sockets_.empty()) {
      sockets_.push_back(std::make_unique<Socket>());
      free_sockets_.push_back(sockets_.back().get());
    }
    socket = free_sockets_.back();
    free_sockets_.pop_back();
    curl_multi_assign(multi->handle, fd, socket);
  }
  socket->Set(multi, easy, fd);
  IgnoreError(loop_.Watch(fd, EpollEvents(what), socket),
              "no memory in the kernel: the transfer runs into its timeout");
}

int MultiPool::OnTimer(CURLM* /*handle*/, long timeout_ms, void* multi) {
  auto* const self = static_cast<Multi*>(multi);
  if (timeout_ms < 0) {
    self->due = MonoTime::max();
    return 0;
  }
  const MonoTime now = self->pool->loop_.clock().Now();
  self->due = now + std::chrono::milliseconds(timeout_ms);
  // A timer that runs earlier is left: it looks again then. Most times that
  // libcurl asks for are put off before they come.
  if (self->due < self->armed) self->pool->Arm(self, self->due);
  return 0;
}

void MultiPool::Arm(Multi* multi, MonoTime due) {
  loop_.Cancel(multi->timer);
  multi->armed = due;
  multi->timer = loop_.At(due, [multi] { multi->pool->OnTime(multi); });
}

void MultiPool::OnTime(Multi* multi) {
  multi->timer = net::TimerId::kNone;
  multi->armed = MonoTime::max();
  if (multi->due == MonoTime::max()) return;
  if (multi->due > loop_.clock().Now()) {
    Arm(multi, multi->due);
    return;
  }
  multi->due = MonoTime::max();
  Act(multi, nullptr, CURL_SOCKET_TIMEOUT, 0);
}

void MultiPool::Act(Multi* multi, CURL* easy, curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi->handle, fd, events, &running);
  owner_->OnRun((events & CURL_CSELECT_IN) != 0 ? easy : nullptr, fd);
  int left = 0;
  while (const CURLMsg* const message =
             curl_multi_info_read(multi->handle, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    // The message goes with the handle.
    CURL* const ended = message->easy_handle;
    const CURLcode code = message->data.result;
    if (ended == multi->pruner) {
      EndPrune(multi);
      Settle();
    } else {
      owner_->OnTransferEnded(ended, code);
    }
  }
}

}  // namespace nephila::fetch
