// The history of a crawl: its counters, written down every
// `crawl.history_interval`, at the beginning of a run and at its end.
#include <algorithm>

#include "config/table.h"
#include "crawl/crawl.h"

namespace nephila::crawl {
namespace {

constexpr std::chrono::milliseconds kShortestInterval{250};
// Until so many, intervals grow with the time of the run.
constexpr int kRecordsAtFirst = 32;

uint64_t AtLeastNone(int64_t number) {
  return static_cast<uint64_t>(std::max<int64_t>(number, 0));
}

}  // namespace

job::HistoryNumbers HistoryOf(const CrawlStatus& status) {
  job::HistoryNumbers numbers = {{"pages", status.pages},
                                 {"bytes", status.bytes},
                                 {"failed", status.failed},
                                 {"retries", status.retries},
                                 {"robots", status.robots},
                                 {"quarantined", status.quarantined},
                                 {"in_flight", status.in_flight},
                                 {"ready", status.ready},
                                 {"parked", status.parked},
                                 {"waiting", status.waiting},
                                 {"seen", status.seen}};
  for (const CrawlStatus::Stage& stage : status.stages) {
    numbers.emplace_back(stage.name + ".in", stage.totals.in);
    numbers.emplace_back(stage.name + ".made", stage.totals.made);
    numbers.emplace_back(stage.name + ".out", stage.totals.out);
    numbers.emplace_back(stage.name + ".held", AtLeastNone(stage.totals.held));
    for (const auto& [reason, count] : stage.dropped) {
      numbers.emplace_back(stage.name + ".dropped." + reason, count);
    }
  }
  for (const auto& [name, count] : status.outcomes) {
    numbers.emplace_back("outcome." + name, count);
  }
  for (const auto& [name, count] : status.statuses) {
    numbers.emplace_back("status." + name, count);
  }
  return numbers;
}

std::string ChangedSettings(const config::Settings& settings) {
  std::string text;
  for (const config::Row& row : config::AllRows()) {
    const config::Value value = row.get(&settings);
    if (value == row.default_value) continue;
    text.append(row.name).append(" = ");
    text.append(config::FormatTomlValue(row, value)).append("\n");
  }
  return text;
}

Status Crawl::OpenHistory() {
  NEPHILA_TRY(history_, job::History::Open(parts_.fs, parts_.folder.dir(),
                                           parts_.folder.key_seed()));
  return {};
}

Status Crawl::NoteHistoryIfDue() {
  const MonoTime now = parts_.clock.Now();
  const bool is_first = next_history_ == MonoTime();
  if (now < next_history_) return {};
  // The beginning of a run is told in more detail: a crawl of seconds has
  // plots too.
  const std::chrono::nanoseconds longest = settings_.crawl.history_interval;
  const std::chrono::nanoseconds shortest =
      std::min<std::chrono::nanoseconds>(kShortestInterval, longest);
  next_history_ =
      now + std::clamp((now - began_) / kRecordsAtFirst, shortest, longest);
  return NoteHistory(/*is_end=*/is_first);
}

Status Crawl::NoteHistory(bool is_end) {
  job::HistoryNumbers numbers = HistoryOf(status());
  if (parts_.resident_bytes) {
    numbers.emplace_back("memory", parts_.resident_bytes());
  }
  const auto free = parts_.fs.FreeSpace(parts_.folder.dir());
  if (free.has_value()) numbers.emplace_back("disk_free", *free);
  return history_->Append(parts_.clock.WallNow(), parts_.clock.Now() - began_,
                          numbers, is_end);
}

}  // namespace nephila::crawl
