// MultiPool: libcurl's multi handles of one thread on its event loop, and the
// connections that stay open in them.
//
// The cost of a transfer grows with the number that share a multi (102 us a
// page at 500, 466 at 2 000), so each carries a few hundred. A kept connection
// belongs to the multi in which it was made: the next request of its host has
// to go there.
//   In: easy handles   Out: OnTransferEnded, from the loop alone
//   Threads: one.   Cost: about 40 KB for each multi; per transfer what epoll
//   takes. Multis stay once made.
//
// libcurl looks for connections that are too old or were closed when a request
// comes to their multi, and only then. A multi without transfers is emptied
// after the idle timeout; in one that has some, but no new ones, a request that
// is refused its socket makes libcurl look.
//
// With a ConnectionBudget each transfer and each idle connection holds a slot
// of it. CloseIdle makes room: it closes the connections that have been idle
// for longest, and never one that a transfer was begun to reuse.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "fetch/connection_budget.h"
#include "fetch/curl.h"
#include "net/event_loop.h"

namespace nephila::fetch {

class MultiPool {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // libcurl has run; if it has read from the socket of a handle, that one,
    // else null. This and the next are not from inside libcurl.
    virtual void OnRun(CURL* easy, int fd) = 0;
    // The handle is still in its multi: Remove it.
    virtual void OnTransferEnded(CURL* easy, CURLcode code) = 0;
  };

  // The loop, the budget and the owner outlive it. Without a budget there is
  // no limit.
  MultiPool(net::EventLoop& loop, size_t transfers_each,
            std::chrono::nanoseconds idle_timeout, ConnectionBudget* budget,
            Owner* owner);
  ~MultiPool();
  MultiPool(const MultiPool&) = delete;
  MultiPool& operator=(const MultiPool&) = delete;

  // The multi that a request to this server belongs in: the one with its
  // connections, else one with room. Nothing if none can be made.
  std::optional<size_t> Place(uint64_t server);
  bool Add(size_t multi, CURL* easy);
  void Remove(size_t multi, CURL* easy);

  // Takes a slot of the budget for a transfer to `server`, which is then added,
  // or given up with Settle. Closes idle connections of this pool if it has to.
  // False if there is no slot now.
  bool TakeSlot(uint64_t server);
  // Whether there are slots to keep another connection.
  bool MayKeep() const { return budget_ == nullptr || !budget_->is_tight(); }
  int max_descriptor() const;
  // Gives slots back that nothing uses any more.
  void Settle();
  // Closes up to `count` connections, those that were idle for longest first;
  // returns how many. None of a multi in which a transfer has been added and
  // not been started by libcurl yet. Not from inside libcurl.
  size_t CloseIdle(size_t count);
  size_t idle_connections() const;
  // A transfer that was added now uses a connection that is kept, or does so no
  // more.
  void Hold(uint64_t server, size_t multi);
  void Unhold(uint64_t server, size_t multi);
  // A transfer that was added has asked for its socket, or needs none.
  void NoteStarted(size_t multi);

  // Connections to `server` that may serve another request.
  bool HasOpen(uint64_t server) const { return kept_.contains(server); }
  // Of them, one that no transfer uses.
  bool HasIdle(uint64_t server) const;
  size_t open_connections() const { return kept_sockets_; }
  // Those that are not made yet, and would be kept: they count for bounds.
  void Claim() { ++claims_; }
  void Unclaim() { --claims_; }
  size_t claims() const { return claims_; }
  // A connection stands, and when it is closed. libcurl tells the end only of
  // sockets that were connected (7.88 closes others by itself), so no other
  // may be noted.
  void NoteOpened(int fd, uint64_t server, size_t multi);
  void NoteClosed(int fd);

  size_t multis() const { return multis_.size(); }

 private:
  struct Multi;
  class Socket;
  struct Kept {
    size_t multi = 0;  // of the last one
    size_t sockets = 0;
    size_t users = 0;  // transfers that use them
  };
  // The connection that a descriptor is.
  struct Connection {
    uint64_t server = 0;  // 0: none
    size_t multi = 0;
  };

  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* multi,
                      void* socket);
  static int OnTimer(CURLM* handle, long timeout_ms, void* multi);

  static CURLM* MakeHandle(Multi* multi);
  size_t MakeMulti();
  void ArmIdle(Multi* multi, MonoTime due);
  void OnIdle(Multi* multi);
  // A request that gets no socket.
  static CURL* MakePruner();
  void Prune(Multi* multi);
  static void EndPrune(Multi* multi);
  // Closes the connection of this multi that was idle for longest; false if
  // there is none.
  bool CloseOldest(Multi* multi);
  void Release(size_t fd);
  void Watch(Multi* multi, CURL* easy, curl_socket_t fd, int what,
             Socket* socket);
  void Arm(Multi* multi, MonoTime due);
  void OnTime(Multi* multi);
  void Act(Multi* multi, CURL* easy, curl_socket_t fd, int events);

  net::EventLoop& loop_;
  const size_t transfers_each_;
  const std::chrono::nanoseconds idle_timeout_;
  ConnectionBudget* const budget_;
  Owner* const owner_;
  std::vector<std::unique_ptr<Multi>> multis_;
  size_t roomy_ = 0;  // where to look first
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::vector<Socket*> free_sockets_;
  // By server and by descriptor.
  std::unordered_map<uint64_t, Kept> kept_;
  std::vector<Connection> connections_;
  size_t kept_sockets_ = 0;
  size_t claims_ = 0;
  size_t slots_ = 0;  // of the budget, taken
};

}  // namespace nephila::fetch
