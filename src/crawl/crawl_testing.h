// FakeWeb: hosts, pages and names in memory, for tests of the crawl. A Fetcher
// and a Resolver ask it, in the time of their loop's clock, and it writes down
// who was contacted when, so that a test can prove that nobody was early.
//
//   In: what the web is   Out: FetchResults as the engine makes them; a log
//   Threads: any, once the web is made; a FakeFetcher and a FakeResolver belong
//   to their loop.
//
// A host that nobody named has an address of its own; a page that is not there
// is 404, a robots.txt too. For tests only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "dns/resolver.h"
#include "fetch/body_pool.h"
#include "fetch/fetcher.h"
#include "item/fetch_outcome.h"
#include "net/event_loop.h"
#include "net/ip_address.h"

namespace nephila::crawl {

// How a URL answers.
struct FakeAnswer {
  // Not kResponse: nothing comes back but this.
  item::FetchOutcome outcome = item::FetchOutcome::kResponse;
  int status = 200;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  // From the contact to the end.
  std::chrono::nanoseconds takes = std::chrono::milliseconds(20);
};

FakeAnswer FakePage(std::string body);
FakeAnswer FakeText(std::string body);
FakeAnswer FakeRedirect(std::string location, int status = 302);
FakeAnswer FakeError(int status);
FakeAnswer FakeFailure(item::FetchOutcome outcome);

struct FakeContact {
  std::string url;
  std::string host;
  net::IpAddress address;
  MonoTime begin{};    // it was asked for
  MonoTime contact{};  // the server heard of it
  MonoTime end{};      // max(): it is not over
  bool reused = false;
  bool lost = false;  // who asked was gone before the end
  // As its answer says.
  std::chrono::seconds retry_after{0};
};

class FakeWeb {
 public:
  // Each time the next answer, and the last one for ever.
  void Put(std::string url, std::vector<FakeAnswer> answers)
      NEPHILA_EXCLUDES(mutex_);
  void Put(std::string url, FakeAnswer answer) {
    Put(std::move(url), std::vector{std::move(answer)});
  }
  void PutHost(std::string host, std::vector<net::IpAddress> addresses)
      NEPHILA_EXCLUDES(mutex_);
  // The next answers about a name, before it is found.
  void FailName(std::string host, std::vector<dns::Outcome> outcomes)
      NEPHILA_EXCLUDES(mutex_);
  // The name is resolved after this time.
  void SlowName(std::string host, std::chrono::nanoseconds time)
      NEPHILA_EXCLUDES(mutex_);
  // The next request over a kept connection of the host finds it closed.
  void CloseKept(std::string host) NEPHILA_EXCLUDES(mutex_);
  // From now on answers have a field X-Request, the place of their request in
  // the log: so no two are the same.
  void NumberAnswers() NEPHILA_EXCLUDES(mutex_);

  // Whoever asks is gone, at this time of its clock: what is not over will
  // never be, and ends now. From then on `pause` lies between its clock and
  // that of the log: a clock that begins anew does not turn the log back.
  void BreakOff(MonoTime now, std::chrono::nanoseconds pause)
      NEPHILA_EXCLUDES(mutex_);

  // Continues the web of an earlier test process: `log` is its log, and every
  // URL in the log has given as many of its answers. REQUIRES: called after
  // Put, before the first request.
  void Restore(const std::vector<FakeContact>& log) NEPHILA_EXCLUDES(mutex_);

  size_t requests() const NEPHILA_EXCLUDES(mutex_);
  size_t ends() const NEPHILA_EXCLUDES(mutex_);
  std::vector<FakeContact> log() const NEPHILA_EXCLUDES(mutex_);
  // URLs that were asked for, in order.
  std::vector<std::string> Asked() const NEPHILA_EXCLUDES(mutex_);
  size_t TimesResolved(std::string_view host) const NEPHILA_EXCLUDES(mutex_);
  // The first contact that came too early, for people, or "": a host is asked
  // for one thing at a time, and `host_delay` after the last; contacts of an
  // address are `server_delay` apart.
  std::string FirstEarly(std::chrono::nanoseconds host_delay,
                         std::chrono::nanoseconds server_delay) const
      NEPHILA_EXCLUDES(mutex_);

 private:
  friend class FakeFetcher;
  friend class FakeResolver;

  // Of a request: what comes, and its place in the log.
  std::pair<FakeAnswer, size_t> Ask(const fetch::FetchRequest& request,
                                    bool kept, MonoTime begin)
      NEPHILA_EXCLUDES(mutex_);
  void Contact(size_t place, MonoTime when) NEPHILA_EXCLUDES(mutex_);
  void End(size_t place, MonoTime when) NEPHILA_EXCLUDES(mutex_);
  dns::Answer Resolve(std::string_view host) NEPHILA_EXCLUDES(mutex_);
  std::chrono::nanoseconds ResolveTime(std::string_view host) const
      NEPHILA_EXCLUDES(mutex_);
  bool numbers_answers() const NEPHILA_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, std::deque<FakeAnswer>, std::less<>> pages_
      NEPHILA_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<net::IpAddress>, std::less<>> hosts_
      NEPHILA_GUARDED_BY(mutex_);
  std::map<std::string, std::deque<dns::Outcome>, std::less<>> failures_
      NEPHILA_GUARDED_BY(mutex_);
  std::map<std::string, std::chrono::nanoseconds, std::less<>> name_times_
      NEPHILA_GUARDED_BY(mutex_);
  std::map<std::string, size_t, std::less<>> resolved_
      NEPHILA_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> closed_ NEPHILA_GUARDED_BY(mutex_);
  std::vector<FakeContact> log_ NEPHILA_GUARDED_BY(mutex_);
  size_t ends_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::chrono::nanoseconds ahead_ NEPHILA_GUARDED_BY(mutex_){0};
  bool numbers_ NEPHILA_GUARDED_BY(mutex_) = false;
};

class FakeFetcher final : public fetch::Fetcher {
 public:
  // Both outlive it, and it outlives its results.
  FakeFetcher(FakeWeb& web, net::EventLoop& loop);
  ~FakeFetcher() override;

  void Start(fetch::FetchRequest request,
             fetch::FetchHandler* handler) override;
  bool Cancel(uint64_t id) override;
  size_t in_flight() const override { return transfers_.size(); }
  void Recycle(std::unique_ptr<fetch::FetchResult> result) override;

 private:
  struct Transfer {
    fetch::FetchRequest request;
    fetch::FetchHandler* handler = nullptr;
    FakeAnswer answer;
    size_t place = 0;  // in the web's log
    bool reused = false;
    WallTime begin{};
    MonoTime begin_mono{};
    MonoTime contact{};
    net::TimerId timer = net::TimerId::kNone;
  };

  void OnContact(uint64_t id);
  void Finish(uint64_t id);
  std::unique_ptr<fetch::FetchResult> ResultOf(const Transfer& transfer);

  FakeWeb& web_;
  net::EventLoop& loop_;
  const std::unique_ptr<fetch::BodyPool> pool_;
  fetch::BodyShare share_;
  std::map<uint64_t, Transfer> transfers_;
  std::set<std::string, std::less<>> kept_;  // by origin
};

class FakeResolver final : public dns::Resolver {
 public:
  FakeResolver(FakeWeb& web, net::EventLoop& loop) : web_(web), loop_(loop) {}

  void Resolve(std::string_view host, Callback callback) override;
  void CancelAll() override;
  // How long it takes to resolve this name, once.
  void Delay(std::string host, std::chrono::nanoseconds takes) {
    takes_[std::move(host)] = takes;
  }

 private:
  FakeWeb& web_;
  net::EventLoop& loop_;
  std::map<std::string, std::chrono::nanoseconds, std::less<>> takes_;
  std::map<uint64_t, Callback> waiting_;
  uint64_t next_ = 1;
};

}  // namespace nephila::crawl
