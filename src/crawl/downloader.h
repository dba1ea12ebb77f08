// Downloader: a crawl thread. It fetches what it has a lease for, writes it to
// the archive and to the journal, reads it, and hands it to the frontier.
//
//   In: visits with a lease, or with a failure to be written down
//   Out: contacts and ends, to the dispatcher; FinishedVisits, to the frontier
//   Disk: a stream of the archive; the journal, which all share
//   Threads: that of its loop   Memory: bodies in the pool, and the engine's
//
// The order is the one that crash safety needs (docs/formats/journal.md):
// record in the archive, entry in the journal, then the page is parsed. What is
// not in the journal has not happened: its URL stays open and is fetched again.
//
// The end of a transfer goes to the dispatcher before anything else, and is
// written down when that has said how long the host is left alone (Released).
// A redirect whose target has its source's key is followed, at most
// kMostOwnRedirects times: `seen` would drop it and the page would be lost. It
// goes back to the frontier with its target, for robots.txt to be looked at,
// and so does a robots.txt that is redirected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/byte_budget.h"
#include "crawl/dispatcher.h"
#include "crawl/guarded_reader.h"
#include "crawl/visit.h"
#include "crawl/visit_reader.h"
#include "fetch/fetcher.h"
#include "fetch/response_head.h"
#include "job/journal.h"
#include "job/quarantine.h"
#include "net/event_loop.h"
#include "store/store.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"
#include "url/url.h"

namespace nephila::crawl {

inline constexpr uint32_t kMostOwnRedirects = 3;

class Downloader final : private fetch::FetchHandler {
 public:
  // All of it outlives this. The functions are called by the downloader's
  // thread.
  struct Parts {
    net::EventLoop& loop;
    fetch::Fetcher& fetcher;
    const fetch::FetchLimits& limits;
    store::Store& store;
    job::Journal& journal;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    uint64_t seed = 0;    // of the job's keys
    size_t number = 0;    // of this one
    bool budgets = true;  // links between domains are wanted
    // Memory of what is on its way to the frontier; null: without limit. While
    // it is used up pages are not read but left to the frontier.
    ByteBudget* in_transit = nullptr;
    uint64_t max_page_bytes = UINT64_MAX;  // as those of VisitReader::Limits
    uint64_t max_links_bytes = UINT64_MAX;
    size_t max_names = size_t{1} << 16;     // whose records are remembered
    job::Quarantine* quarantine = nullptr;  // null: all is read
    // For tests: before a page is read.
    std::function<void(std::string_view url)> on_read = nullptr;
    std::function<void(uint64_t lease, MonoTime when)> contacted = nullptr;
    std::function<void(Dispatcher::End)> ended = nullptr;
    std::function<void(FinishedVisit)> finished = nullptr;
    // The archive or the journal cannot be written to. What was fetched waits
    // in memory for TryAgain, and nothing more is to be started; called once
    // until then.
    std::function<void(const Error&)> failed = nullptr;
  };

  explicit Downloader(const Parts& parts);
  ~Downloader() override;

  void Start(VisitPtr visit);
  // What the dispatcher says to an end. The page is written and read in one of
  // the next rounds of the loop, so that the request that takes its place goes
  // out first and the server works meanwhile.
  void Released(uint64_t lease, const Waits& waits);
  // All that was released, now.
  void SettleAll();
  // Ends all transfers; they come back to the dispatcher, nothing is written.
  // What has come is written down still.
  void CancelAll();
  // Ends a transfer that is too slow, if it is not over: it counts as one that
  // timed out.
  void EndSlow(uint64_t lease);
  // Writes what could not be written. Nothing of it has happened until then.
  void TryAgain();
  // Started, and neither finished nor gone back.
  size_t in_flight() const {
    return visits_.size() + released_.size() + stuck_.size();
  }

  // Whether this URL is one of them. Cost: a look at each.
  bool IsFetching(std::string_view url) const;

  // Makes the archive durable and says up to where; once a second, and for a
  // checkpoint.
  Result<store::StorePosition> Sync();
  void Covered(const store::StorePosition& position) {
    parts_.store.Covered(position);
  }
  // Of the archive. kNoSpace: also if something waits for room to be written.
  Status Finish();

 private:
  // A visit that has a lease or had one, and how far it has come.
  struct Attempt {
    VisitPtr visit;
    std::unique_ptr<fetch::FetchResult> result;  // null: in flight
    Waits waits;
    bool too_slow = false;  // it was ended for that
    bool decided = false;
    bool used_up = false;  // it was the last
    std::optional<store::Stored> stored;
    std::string entry;  // bytes, once they are known
    FinishedVisit finished;
    std::optional<url::Url> next;       // of a redirect that is followed
    std::vector<std::string> sitemaps;  // of a robots.txt
  };

  void OnContact(uint64_t id, MonoTime when, bool fresh) override;
  void OnFetched(std::unique_ptr<fetch::FetchResult> result) override;

  void SettleSoon();
  void SettleSome();
  // All of it, or into stuck_.
  void Settle(Attempt attempt);
  Status Write(Attempt* attempt);
  void Decide(Attempt* attempt);
  // The target, if it has the key of the URL that was asked for.
  std::optional<url::Url> OwnRedirect(const Attempt& attempt);
  Status Archive(Attempt* attempt);
  // The name's records, the first time that they are seen.
  Status ArchiveName(const Attempt& attempt);
  Status ReadRobots(Attempt* attempt);
  void MakeEntry(Attempt* attempt);
  void HandOver(Attempt attempt);
  // Reads the page, or leaves it unread.
  Status ReadPage(Attempt* attempt);
  // Finished visits take twice the memory that they may: those that are not in
  // the journal yet wait.
  bool IsBackedUp() const;

  const Parts parts_;
  VisitReader reader_;
  GuardedReader guarded_;
  fetch::ResponseHead head_;
  url::Canonicalizer canonicalizer_;
  std::unordered_map<uint64_t, Attempt> visits_;  // by lease
  std::deque<Attempt> released_;
  net::TimerId settling_ = net::TimerId::kNone;
  std::deque<Attempt> stuck_;
  std::unordered_set<uint64_t> archived_names_;
  std::string parent_;
  std::string hop_path_;
};

}  // namespace nephila::crawl
