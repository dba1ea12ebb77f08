// The lists of `nephila list`: URLs that were fetched, that were given up, that
// wait.
//
// Fetched and given up: of each URL the last attempt, by crawl.log, in the
// order of time; of a crawl that runs the last second may not be there yet. A
// URL is given up if its last attempt brought no answer (item/outcome_policy.h)
// and it waits nowhere. Waiting: as HeldUrls has them.
//   In: a JobView   Out: one URL at a time   Threads: one
//   Memory: `memory_bytes`, then scratch files of 32 bytes an attempt
//   (base/pair_sorter.h)
//   Cost: logs are read twice, queues and batches once
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/held_urls.h"
#include "inspect/job_view.h"
#include "item/fetch_outcome.h"

namespace nephila::inspect {

// An empty one takes all.
struct ListFilter {
  std::string host;
  std::string domain;  // pay-level
};

// The last attempt of a URL.
struct EndedUrl {
  std::string_view url;
  std::string_view when;
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  int status = 0;
  uint32_t attempt = 1;
};

struct ListOptions {
  ListFilter filter;
  std::string scratch;  // a folder that is there
  uint64_t memory_bytes = uint64_t{64} << 20;
};

// False ends it.
using EndedSink = std::function<Result<bool>(const EndedUrl& url)>;
// Every URL that was attempted; those that are tried again too.
Status ListSeen(JobView& job, const ListOptions& options,
                const EndedSink& sink);
Status ListFailed(JobView& job, const ListOptions& options,
                  const EndedSink& sink);
Status ListWaiting(JobView& job, const ListFilter& filter,
                   const HeldUrls::Sink& sink);

}  // namespace nephila::inspect
