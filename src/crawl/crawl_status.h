// CrawlStatus: the numbers of a crawl, for the progress line, the manifest and
// `nephila status`.
//   Threads: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"

namespace nephila::crawl {

// Why a crawl ended; all but an error leave a job that can be continued.
enum class CrawlEnd : uint8_t {
  kFinished,  // nothing is left to fetch
  kStopped,   // somebody asked for it
  kMaxPages,
  kMaxBytes,
  kMaxTime,
};
std::string_view CrawlEndName(CrawlEnd end);

// What a crawl does now.
enum class CrawlState : uint8_t {
  kRunning,
  kPaused,
  kWaitingForDisk,
  kStopping,  // what is in flight ends, and a last checkpoint is taken
  kStopped,
};
// "running", "paused", "waiting-for-disk", "stopping", "stopped".
std::string_view CrawlStateName(CrawlState state);

struct CrawlStatus {
  std::chrono::nanoseconds elapsed{0};  // of this run
  uint64_t pages = 0;  // archived responses, robots.txt apart, of the job
  uint64_t pages_before = 0;  // by earlier runs
  uint64_t bytes = 0;         // of their bodies
  uint64_t bytes_before = 0;  // by earlier runs
  uint64_t failed = 0;        // URLs that were given up
  uint64_t retries = 0;
  uint64_t robots = 0;       // robots.txt files that were asked for
  uint64_t quarantined = 0;  // pages that nobody reads any more
  uint64_t in_flight = 0;
  uint64_t ready = 0;    // may be fetched now, but for their hosts' delays
  uint64_t parked = 0;   // their hosts are left alone for long
  uint64_t waiting = 0;  // in all stages together
  uint64_t seen = 0;     // different URLs
  std::string disk;      // what it waits for there, in words; "": nothing
  std::optional<CrawlEnd> end;

  struct Stage {
    std::string name;
    StageTotals totals;
    std::vector<std::pair<std::string, uint64_t>> dropped;
  };
  std::vector<Stage> stages;
  std::vector<std::pair<std::string, uint64_t>> outcomes;  // of attempts
  std::vector<std::pair<std::string, uint64_t>> statuses;  // "2xx"

  double rate() const;  // pages a second, of this run
  double byte_rate() const;
  void AddStage(const StageAccount& account);
  // The first stage whose counts do not add up; "" if all do.
  std::string Imbalance() const;
};

// One object, as `nephila status --json` prints it.
std::string FormatStatus(const CrawlStatus& status);

}  // namespace nephila::crawl
