#include "report/status_reader.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nephila::report {
namespace {

using Json = nlohmann::ordered_json;

uint64_t Number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_unsigned()
             ? found->get<uint64_t>()
             : 0;
}

std::vector<std::pair<std::string, uint64_t>> Numbers(const Json& json,
                                                      const char* name) {
  std::vector<std::pair<std::string, uint64_t>> numbers;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return numbers;
  for (const auto& [key, value] : found->items()) {
    if (value.is_number_unsigned()) {
      numbers.emplace_back(key, value.get<uint64_t>());
    }
  }
  return numbers;
}

crawl::CrawlStatus::Stage ReadStage(const std::string& name, const Json& json) {
  crawl::CrawlStatus::Stage stage;
  stage.name = name;
  stage.totals.in = Number(json, "in");
  stage.totals.made = Number(json, "made");
  stage.totals.out = Number(json, "out");
  const auto held = json.find("held");
  if (held != json.end() && held->is_number_integer()) {
    stage.totals.held = held->get<int64_t>();
  }
  stage.dropped = Numbers(json, "dropped");
  for (const auto& [reason, count] : stage.dropped) {
    stage.totals.dropped.push_back(count);
  }
  return stage;
}

}  // namespace

std::optional<crawl::CrawlStatus> ParseStatus(std::string_view json) {
  const Json read = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return std::nullopt;
  crawl::CrawlStatus status;
  status.pages = Number(read, "pages");
  status.bytes = Number(read, "bytes");
  status.failed = Number(read, "failed");
  status.retries = Number(read, "retries");
  status.robots = Number(read, "robots");
  status.quarantined = Number(read, "quarantined");
  status.seen = Number(read, "seen");
  status.in_flight = Number(read, "in_flight");
  status.ready = Number(read, "ready");
  status.parked = Number(read, "parked");
  status.waiting = Number(read, "waiting");
  const auto elapsed = read.find("elapsed");
  if (elapsed != read.end() && elapsed->is_number()) {
    status.elapsed = std::chrono::milliseconds(
        static_cast<int64_t>(elapsed->get<double>() * 1000));
  }
  const auto end = read.find("end");
  if (end != read.end() && end->is_string()) {
    using crawl::CrawlEnd;
    for (const CrawlEnd one :
         {CrawlEnd::kFinished, CrawlEnd::kStopped, CrawlEnd::kMaxPages,
          CrawlEnd::kMaxBytes, CrawlEnd::kMaxTime}) {
      if (end->get<std::string>() == CrawlEndName(one)) status.end = one;
    }
  }
  status.outcomes = Numbers(read, "outcomes");
  status.statuses = Numbers(read, "statuses");
  const auto stages = read.find("stages");
  if (stages != read.end() && stages->is_object()) {
    for (const auto& [name, stage] : stages->items()) {
      if (stage.is_object()) status.stages.push_back(ReadStage(name, stage));
    }
  }
  return status;
}

}  // namespace nephila::report
