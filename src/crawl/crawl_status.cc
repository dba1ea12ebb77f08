#include "crawl/crawl_status.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace nephila::crawl {

using Json = nlohmann::ordered_json;

std::string_view CrawlEndName(CrawlEnd end) {
  switch (end) {
    case CrawlEnd::kFinished:
      return "finished";
    case CrawlEnd::kStopped:
      return "stopped";
    case CrawlEnd::kMaxPages:
      return "max-pages";
    case CrawlEnd::kMaxBytes:
      return "max-bytes";
    case CrawlEnd::kMaxTime:
      return "max-time";
  }
  return "";
}

std::string_view CrawlStateName(CrawlState state) {
  switch (state) {
    case CrawlState::kRunning:
      return "running";
    case CrawlState::kPaused:
      return "paused";
    case CrawlState::kWaitingForDisk:
      return "waiting-for-disk";
    case CrawlState::kStopping:
      return "stopping";
    case CrawlState::kStopped:
      return "stopped";
  }
  return "";
}

double CrawlStatus::rate() const {
  const double seconds = Seconds(elapsed);
  if (seconds <= 0) return 0;
  return static_cast<double>(pages - pages_before) / seconds;
}

double CrawlStatus::byte_rate() const {
  const double seconds = Seconds(elapsed);
  if (seconds <= 0) return 0;
  return static_cast<double>(bytes - bytes_before) / seconds;
}

void CrawlStatus::AddStage(const StageAccount& account) {
  Stage stage;
  stage.name = account.name();
  stage.totals = account.Totals();
  for (size_t i = 0; i < stage.totals.dropped.size(); ++i) {
    if (stage.totals.dropped[i] == 0) continue;
    stage.dropped.emplace_back(account.drop_reasons()[i],
                               stage.totals.dropped[i]);
  }
  stages.push_back(std::move(stage));
}

std::string CrawlStatus::Imbalance() const {
  for (const Stage& stage : stages) {
    if (stage.totals.Imbalance() != 0) return stage.name;
  }
  return "";
}

std::string FormatStatus(const CrawlStatus& status) {
  Json json;
  json["pages"] = status.pages;
  json["bytes"] = status.bytes;
  json["rate"] = status.rate();
  json["elapsed"] = Seconds(status.elapsed);
  json["failed"] = status.failed;
  json["retries"] = status.retries;
  json["robots"] = status.robots;
  json["quarantined"] = status.quarantined;
  json["seen"] = status.seen;
  json["in_flight"] = status.in_flight;
  json["ready"] = status.ready;
  json["parked"] = status.parked;
  json["waiting"] = status.waiting;
  json["disk"] = nullptr;
  if (!status.disk.empty()) json["disk"] = status.disk;
  json["end"] = nullptr;
  if (status.end) json["end"] = CrawlEndName(*status.end);
  json["outcomes"] = Json::object();
  for (const auto& [name, count] : status.outcomes) {
    json["outcomes"][name] = count;
  }
  json["statuses"] = Json::object();
  for (const auto& [name, count] : status.statuses) {
    json["statuses"][name] = count;
  }
  json["stages"] = Json::object();
  for (const CrawlStatus::Stage& stage : status.stages) {
    Json one;
    one["in"] = stage.totals.in;
    one["made"] = stage.totals.made;
    one["out"] = stage.totals.out;
    one["held"] = stage.totals.held;
    one["dropped"] = Json::object();
    for (const auto& [reason, count] : stage.dropped) {
      one["dropped"][reason] = count;
    }
    json["stages"][stage.name] = std::move(one);
  }
  return json.dump();
}

}  // namespace nephila::crawl
