// CurlFetcher: the Fetcher that downloads from the web, by libcurl.
//
//   In: requests   Out: results, from the loop
//   Threads: one, the loop's; each crawl thread has its own. The pool of
//   bodies, the rate limit and the cookies may be shared by many.
//   Memory: about 25 KB for a transfer, 100 KB with TLS, besides its body.
//   Cost: docs/performance.md. No timer or list is searched per transfer;
//   only when the pool is used up are all looked at for the slowest.
//
// A request takes exactly one connection to exactly one address, or fails:
// libcurl's own second tries are refused, since politeness has to know of
// every contact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "fetch/body_pool.h"
#include "fetch/connection_budget.h"
#include "fetch/cookie_jar.h"
#include "fetch/fetch_options.h"
#include "fetch/fetcher.h"
#include "fetch/multi_pool.h"
#include "fetch/rate_limit.h"
#include "fetch/transfer.h"
#include "net/address_guard.h"
#include "net/event_loop.h"

namespace nephila::fetch {

// Any thread may read them.
struct FetchCounts {
  std::array<Counter, item::kFetchOutcomes> outcomes;
  std::array<Counter, kStops> stops;  // why we ended them
  Counter truncated;
  Counter certificate_errors;  // accepted or not
  Counter reused;              // over a connection that was kept
  Counter renewed;             // handles that a large head had made large
  Counter bytes_in;
  Counter bytes_out;
};

class CurlFetcher final : public Fetcher,
                          private ConnectionBudget::Member,
                          private MultiPool::Owner,
                          private Transfer::Owner {
 public:
  // All that it is given outlives it.
  struct Parts {
    net::EventLoop& loop;
    const FetchOptions& options;
    const net::AddressGuard& guard;
    BodyShare& bodies;
    RateLimit* rate = nullptr;     // none: as fast as it goes
    CookieJar* cookies = nullptr;  // none: none are sent or taken
    // Shared with other fetchers; null: connections have no limit.
    ConnectionBudget* connections = nullptr;
  };

  static Result<std::unique_ptr<CurlFetcher>> Make(const Parts& parts);
  // Drops what is in flight without a word: Cancel it and run the loop first.
  ~CurlFetcher() override;

  void Start(FetchRequest request, FetchHandler* handler) override;
  bool Cancel(uint64_t id) override;
  size_t in_flight() const override { return in_flight_.size(); }
  void Recycle(std::unique_ptr<FetchResult> result) override;

  const FetchCounts& counts() const { return counts_; }
  // Connections that are kept, in use or not.
  size_t kept_connections() const { return multis_.open_connections(); }
  // Of them, those that no transfer uses.
  size_t idle_connections() const { return multis_.idle_connections(); }
  size_t multis() const { return multis_.multis(); }

 private:
  explicit CurlFetcher(const Parts& parts);

  void OnRun(CURL* easy, int fd) override;
  void OnTransferEnded(CURL* easy, CURLcode code) override;
  void OnDeadline(Transfer* transfer) override;
  bool MayRead(Transfer* transfer) override;
  void OnBytes(uint64_t bytes) override;
  void OnStarved(Transfer* transfer) override;
  void OnContact(Transfer* transfer) override;
  void CloseIdleSoon(size_t count) override;

  Transfer* TakeTransfer();
  std::unique_ptr<FetchResult> TakeResult();
  void Begin(Transfer* transfer);
  // As many of those that wait as the rate and the pool allow.
  void BeginWaiting();
  bool MayBegin(const Transfer& transfer);
  // There was no descriptor for a socket: idle connections are closed, and for
  // a while no transfer begins.
  void NoteShortage();
  MonoTime WhenToBegin();
  // Handlers, outside libcurl.
  void TellContacts();
  void ReadWaiting();
  void ReadSoon();
  // When to look whether the rate allows more.
  MonoTime SoonAt(MonoTime time) const;
  void TakeCookies(const FetchRequest& request, const FetchResult& result);
  // From the loop, not from here.
  void StopSoon(Transfer* transfer, Stop stop);
  void RunStopped();
  void Finish(Transfer* transfer, CURLcode code);
  void OnTime(Transfer* transfer);
  void RelieveSoon();
  // The slowest give way to the others.
  void Relieve();
  void Resume(uint64_t id);

  const Parts parts_;
  const Transfer::Shared shared_;
  MultiPool multis_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  std::unordered_map<uint64_t, Transfer*> in_flight_;
  // By id: they may be gone by another way when their turn comes.
  std::vector<uint64_t> stopped_;
  std::vector<uint64_t> starved_;
  std::vector<uint64_t> contacted_;  // whose handlers are to be told
  std::deque<uint64_t> waiting_;     // to begin
  std::deque<uint64_t> unread_;      // paused
  net::TimerId stop_timer_ = net::TimerId::kNone;
  net::TimerId relief_timer_ = net::TimerId::kNone;
  net::TimerId resume_timer_ = net::TimerId::kNone;
  net::TimerId page_timer_ = net::TimerId::kNone;
  net::TimerId read_timer_ = net::TimerId::kNone;
  std::vector<std::unique_ptr<FetchResult>> spare_;
  FetchCounts counts_;
  bool lacks_slot_ = false;  // why the first of `waiting_` waits
  MonoTime no_sockets_until_{};
  // For what is posted to the loop: whether this still exists.
  const std::shared_ptr<CurlFetcher*> alive_;
};

}  // namespace nephila::fetch
