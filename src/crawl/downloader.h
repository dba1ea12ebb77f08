// Downloader: a crawl thread. It fetches what it has a lease for, writes it to
// the archive and to the journal, reads it, and hands it to the frontier.
//
//   In: visits with a lease, or with a failure to be written down
//   Out: contacts and ends, to the dispatcher; FinishedVisits, to the frontier
//   Disk: a stream of the archive; the journal, which all share
//   Threads: that of its loop   Memory: bodies in the pool, and the engine's
//
// The order is the one that crash safety needs (docs/formats/journal.md): record
// in the archive, entry in the journal, then the page is parsed. What is not in
// the journal has not happened: its URL stays open and is fetched again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/body_decoder.h"
#include "crawl/dispatcher.h"
#include "crawl/page_processor.h"
#include "crawl/visit.h"
#include "fetch/fetcher.h"
#include "fetch/response_head.h"
#include "job/journal.h"
#include "net/event_loop.h"
#include "store/store.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

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
    std::function<void(uint64_t lease, MonoTime when)> contacted;
    std::function<void(Dispatcher::End)> ended;
    std::function<void(FinishedVisit)> finished;
    // The archive or the journal cannot be written to: nothing was lost, and
    // nothing more is to be started.
    std::function<void(const Error&)> failed;
  };

  explicit Downloader(const Parts& parts);
  ~Downloader() override;

  void Start(VisitPtr visit);
  // Ends all transfers; they come back to the dispatcher, nothing is written.
  void CancelAll();
  size_t in_flight() const { return visits_.size(); }

  // Makes the archive durable and says up to where; once a second, and for a
  // checkpoint.
  Result<store::StorePosition> Sync();
  void Covered(const store::StorePosition& position);
  Status Finish();  // of the archive

 private:
  void OnFetched(std::unique_ptr<fetch::FetchResult> result) override;

  const Parts parts_;
  PageProcessor processor_;
  fetch::ResponseHead head_;
  BodyDecoder robots_decoder_;
  std::unordered_map<uint64_t, VisitPtr> visits_;  // by lease
};

}  // namespace nephila::crawl
