#include "report/json_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "report/words.h"

namespace nephila::report {
namespace {

using Json = nlohmann::ordered_json;

Json ListOf(const std::vector<NamedCount>& list, bool with_bytes) {
  Json json = Json::array();
  for (const NamedCount& one : list) {
    Json row = {{"name", one.name}, {"count", one.count}};
    if (with_bytes) row["bytes"] = one.bytes;
    json.push_back(std::move(row));
  }
  return json;
}

Json DomainsOf(const std::vector<DomainRow>& rows) {
  Json json = Json::array();
  for (const DomainRow& row : rows) {
    json.push_back({{"domain", row.name.empty() ? Json() : Json(row.name)},
                    {"in_degree", row.in_degree},
                    {"budget", row.budget},
                    {"pages", row.pages},
                    {"bytes", row.bytes}});
  }
  return json;
}

Json HostsOf(const std::vector<HostRow>& rows) {
  Json json = Json::array();
  for (const HostRow& row : rows) {
    json.push_back({{"host", row.name},
                    {"pages", row.pages},
                    {"bytes", row.bytes},
                    {"failures", row.failures},
                    {"mean_s", row.mean_s}});
  }
  return json;
}

Json HistoryOf(const Figures& figures) {
  Json json = Json::array();
  for (const TimePoint& point : figures.history) {
    json.push_back({{"run", point.run},
                    {"when", DateTime(point.when)},
                    {"elapsed", point.elapsed_s},
                    {"pages", point.pages},
                    {"bytes", point.bytes},
                    {"links", point.links},
                    {"unique", point.unique},
                    {"in_flight", point.in_flight},
                    {"waiting", point.waiting},
                    {"memory", point.memory_bytes}});
  }
  return json;
}

Json DegreesOf(const Figures& figures) {
  Json json = Json::array();
  for (const DegreeBin& bin : figures.degrees) {
    json.push_back({{"from", bin.from},
                    {"to", bin.to},
                    {"domains", bin.domains},
                    {"visited", bin.visited},
                    {"pages", bin.pages},
                    {"mean", bin.Mean()},
                    {"visited_mean", bin.VisitedMean()},
                    {"visited_median", bin.median_pages}});
  }
  return json;
}

Json LimitsOf(const Figures& figures) {
  Json json = Json::array();
  for (const LimitRow& row : figures.limits) {
    json.push_back({{"what", row.what},
                    {"setting", row.setting},
                    {"limit", row.limit},
                    {"count", row.count},
                    {"of", row.of},
                    {"unit", row.unit}});
  }
  return json;
}

}  // namespace

std::string JsonReport(const Figures& figures) {
  Json json;
  json["job"] = figures.dir;
  json["made"] = figures.made;
  json["version"] = figures.version;
  json["profile"] = figures.profile;
  json["began"] = figures.began ? Json(DateTime(*figures.began)) : Json();
  json["last"] = figures.last ? Json(DateTime(*figures.last)) : Json();
  json["elapsed"] = figures.elapsed_s;
  json["runs"] = figures.runs;
  json["pages_per_s"] = figures.PagesPerSecond();
  json["status"] =
      figures.status ? Json::parse(FormatStatus(*figures.status)) : Json();
  Json settings = Json::object();
  for (const auto& [name, value] : figures.settings) settings[name] = value;
  json["settings"] = std::move(settings);
  json["seeds"] = figures.seed_count;
  json["log_lines"] = figures.log_lines;
  json["pages"] = figures.pages;
  json["bytes"] = figures.page_bytes;
  json["attempts"] = figures.attempts;
  json["revisits"] = figures.revisits;
  json["hosts"] = figures.hosts;
  json["domains"] = figures.domains;
  json["known_domains"] = figures.known_domains;
  json["median_s"] = figures.median_s;
  json["p95_s"] = figures.p95_s;
  json["median_bytes"] = figures.median_bytes;
  json["statuses"] = ListOf(figures.statuses, true);
  json["failures"] = ListOf(figures.failures, false);
  json["robots"] = ListOf(figures.robots, false);
  json["media_types"] = ListOf(figures.media_types, true);
  json["depths"] = ListOf(figures.depths, false);
  json["limits"] = LimitsOf(figures);
  json["top_by_in_degree"] = DomainsOf(figures.top_by_degree);
  json["top_by_pages"] = DomainsOf(figures.top_by_pages);
  json["pages_by_in_degree"] = DegreesOf(figures);
  json["largest_hosts"] = HostsOf(figures.largest_hosts);
  json["slowest_hosts"] = HostsOf(figures.slowest_hosts);
  json["history"] = HistoryOf(figures);
  json["notes"] = figures.notes;
  json["damages"] = figures.damages;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace nephila::report
