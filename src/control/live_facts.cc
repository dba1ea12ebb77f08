#include "control/live_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/heap.h"

namespace nephila::control {
namespace {

std::string AuthorityName(uint32_t authority) {
  if (authority == politeness::kNoAuthority) return "";
  return fmt::format("{} port {}",
                     politeness::IsHttps(authority) ? "https" : "http",
                     politeness::PortOf(authority));
}

// More files than a job has.
constexpr size_t kMostFiles = 1'000'000;

Json SecondsOrNull(const std::optional<std::chrono::nanoseconds>& length) {
  return length ? Json(Seconds(*length)) : Json(nullptr);
}

Json BudgetJson(const budget::BudgetStats& stats) {
  Json json;
  json["current"] = stats.current;
  json["queues"] = stats.queues;
  json["splits"] = stats.splits;
  json["splitting"] = stats.is_splitting;
  json["in_pass"] = stats.in_drum;
  json["in_queues"] = stats.in_queues;
  json["in_qf"] = stats.in_failed;
  json["queue_time"] = Seconds(stats.queue_time);
  return json;
}

Json HostsJson(const LiveFacts& facts) {
  const politeness::HostCounts& hosts = facts.dispatcher.hosts;
  Json json;
  json["in_memory"] = facts.dispatcher.politeness.hosts;
  json["ready"] = hosts.due;
  json["waiting"] = hosts.waiting;
  json["in_flight"] = hosts.in_flight;
  json["idle"] = hosts.idle;
  json["parked"] = facts.dispatcher.politeness.parked_hosts;
  json["dead"] = hosts.dead;
  json["wanted"] = facts.dispatcher.politeness.wanted_hosts;
  json["addresses"] = facts.dispatcher.politeness.addresses;
  json["next"] = nullptr;
  if (hosts.next_due) {
    json["next"] = Seconds(
        std::max(*hosts.next_due - facts.now, std::chrono::nanoseconds(0)));
  }
  return json;
}

Json RobotsJson(const robots::RobotsStats& stats) {
  Json json;
  json["checking"] = stats.checking;
  json["waiting"] = stats.waiting;
  json["parked"] = stats.parked;
  json["queued"] = stats.queued;
  json["requested"] = stats.requested;
  json["ended"] = stats.ended;
  json["unreachable"] = stats.unreachable;
  return json;
}

Json RatesJson(double now, double minute, double run) {
  Json json;
  json["now"] = now;
  json["minute"] = minute;
  json["run"] = run;
  return json;
}

}  // namespace

LiveFacts FactsOf(const crawl::Crawl& crawl, MonoTime now) {
  const crawl::Frontier& frontier = crawl.frontier();
  LiveFacts facts;
  facts.status = crawl.status();
  facts.state = crawl.state();
  facts.settings = crawl.settings();
  if (frontier.budget() != nullptr) facts.budget = frontier.budget()->stats();
  facts.robots = frontier.robots().stats();
  facts.is_behind = crawl.is_behind();
  facts.end = crawl.end();
  facts.now = now;
  facts.next_parked = frontier.NextDue();
  facts.resident_bytes = ResidentBytes();
  facts.disk_free = crawl.disk().free_bytes();
  facts.checkpoint = crawl.checkpoint_number();
  if (const auto time = crawl.checkpoint_time()) {
    facts.checkpoint_age = now - *time;
  }
  facts.process = getpid();
  return facts;
}

LimitFacts LimitOf(const LiveFacts& facts) {
  LimitFacts limit;
  limit.state = facts.state;
  if (facts.end) limit.end = crawl::CrawlEndName(*facts.end);
  limit.disk = facts.status.disk;
  limit.is_behind = facts.is_behind;
  limit.in_flight = facts.dispatcher.in_flight;
  limit.most_in_flight = facts.dispatcher.max_in_flight;
  limit.max_pages_per_second =
      static_cast<uint64_t>(facts.settings.fetch.max_pages_per_second);
  limit.max_bytes_per_second = facts.settings.fetch.max_bytes_per_second;
  limit.pages_per_second = facts.pages_now;
  limit.bytes_per_second = facts.bytes_now;
  limit.resolving = facts.dispatcher.resolving;
  limit.hosts_waiting = facts.dispatcher.hosts.waiting;
  limit.hosts_due = facts.dispatcher.hosts.due;
  if (facts.dispatcher.hosts.next_due) {
    limit.next_host = *facts.dispatcher.hosts.next_due - facts.now;
  }
  limit.ready = facts.status.ready;
  limit.for_robots = facts.robots.waiting;
  limit.parked = facts.status.parked + facts.robots.parked;
  limit.waiting = facts.status.waiting;
  limit.next_parked = facts.next_parked;
  return limit;
}

Json StatusJson(const LiveFacts& facts) {
  Json json = Json::parse(FormatStatus(facts.status), nullptr,
                          /*allow_exceptions=*/false);
  json["state"] = CrawlStateName(facts.state);
  json["limit"] = LimitText(LimitOf(facts));
  json["rates"] =
      RatesJson(facts.pages_now, facts.pages_minute, facts.status.rate());
  json["byte_rates"] =
      RatesJson(facts.bytes_now, facts.bytes_minute, facts.status.byte_rate());
  json["transfers"] = {{"in_flight", facts.dispatcher.in_flight},
                       {"most", facts.dispatcher.max_in_flight}};
  json["hosts"] = HostsJson(facts);
  json["names"] = {{"resolving", facts.dispatcher.resolving}};
  json["robots_queues"] = RobotsJson(facts.robots);
  json["budget"] = facts.budget ? BudgetJson(*facts.budget) : Json(nullptr);
  json["memory"] = {{"resident", facts.resident_bytes},
                    {"most", facts.settings.crawl.memory_bytes}};
  json["disk_space"] = {{"used", facts.disk_used},
                        {"free", facts.disk_free},
                        {"floor", facts.settings.disk.floor_bytes}};
  json["checkpoint"] = {{"number", facts.checkpoint},
                        {"age", SecondsOrNull(facts.checkpoint_age)}};
  json["settings"] = Json::object();
  for (const auto& [name, value] : facts.kept) json["settings"][name] = value;
  json["version"] = facts.version;
  json["process"] = facts.process;
  return json;
}

Json HostJson(const crawl::HostLook& look) {
  const auto milliseconds = [](std::chrono::nanoseconds length) {
    return std::chrono::ceil<std::chrono::milliseconds>(length).count();
  };
  const politeness::Explanation& why = look.why;
  Json json;
  json["in_flight"] = look.in_flight;
  json["in_memory"] = look.has_url;
  json["resolving"] = look.resolving;
  json["waits_for"] = politeness::WaitsForName(why.what);
  json["reason"] = politeness::DelayReasonName(why.reason);
  const MonoTime until = std::max(why.until, why.not_before);
  json["until_ms"] = until > look.now ? milliseconds(until - look.now) : 0;
  json["delay_ms"] = milliseconds(why.delay);
  json["urls"] = why.urls;
  json["hosts_ahead"] = why.ahead;
  json["authority"] = AuthorityName(why.authority);
  json["failures"] = why.trouble.failures;
  json["overloads"] = why.trouble.overloads;
  return json;
}

uint64_t DiskUse(const std::vector<std::string>& folders) {
  uint64_t bytes = 0;
  size_t files = 0;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator at(folder, error);
    const std::filesystem::recursive_directory_iterator end;
    // What goes away meanwhile is not there.
    for (; !error && at != end && files < kMostFiles; at.increment(error)) {
      struct stat found {};
      if (lstat(at->path().c_str(), &found) != 0) continue;
      bytes += static_cast<uint64_t>(found.st_blocks) * 512;
      ++files;
    }
  }
  return bytes;
}

}  // namespace nephila::control
