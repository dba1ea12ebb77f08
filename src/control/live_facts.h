// LiveFacts: what is known of a crawl at one moment. Its status, its metrics
// and what limits it are made of it alone.
//   Threads: a value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "budget/budget.h"
#include "control/control_server.h"
#include "control/limit.h"
#include "crawl/crawl.h"
#include "crawl/crawl_status.h"
#include "crawl/dispatcher.h"
#include "robots/robots_stage.h"

namespace nephila::control {

struct LiveFacts {
  crawl::CrawlStatus status;
  crawl::CrawlState state = crawl::CrawlState::kRunning;
  crawl::DispatcherFacts dispatcher;
  config::Settings settings;
  std::optional<budget::BudgetStats> budget;  // without budgets: nothing
  robots::RobotsStats robots;
  bool is_behind = false;
  std::optional<crawl::CrawlEnd> end;  // why it ends
  MonoTime now{};
  std::optional<WallTime> next_parked;

  // Of the last 10 s and of the last minute.
  double pages_now = 0;
  double pages_minute = 0;
  double bytes_now = 0;
  double bytes_minute = 0;

  uint64_t resident_bytes = 0;
  uint64_t disk_used = 0;  // by the job
  uint64_t disk_free = 0;
  uint64_t checkpoint = 0;  // its number
  std::optional<std::chrono::nanoseconds> checkpoint_age;
  std::map<std::string, std::string, std::less<>> kept;  // `nephila set`
  std::string version;
  int64_t process = 0;
};

// All that the frontier's thread knows.
LiveFacts FactsOf(const crawl::Crawl& crawl, MonoTime now);

LimitFacts LimitOf(const LiveFacts& facts);
// As `nephila status --json` prints it (docs/control.md).
Json StatusJson(const LiveFacts& facts);

// What `nephila why` asks for (docs/control.md).
Json HostJson(const crawl::HostLook& look);

// Bytes that files under these folders take on disk. Cost: a call of the system
// for each file.
uint64_t DiskUse(const std::vector<std::string>& folders);

}  // namespace nephila::control
