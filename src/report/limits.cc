#include "report/limits.h"

#include <algorithm>
#include <string>
#include <variant>

#include "base/text.h"
#include "config/table.h"

namespace nephila::report {
namespace {

enum class Source : uint8_t {
  kAnnotation,  // of a page in crawl.log
  kFailure,     // the outcome of an attempt there
  kDropped,     // by a stage
};

struct Bound {
  std::string_view what;
  std::string_view setting;
  Source source;
  std::string_view stage;  // kDropped
  std::string_view name;   // of annotation, outcome or reason
};

constexpr Bound kBounds[] = {
    {"body cut at the largest size", "fetch.max_body_size", Source::kAnnotation,
     "", "lenTrunc"},
    {"body cut at the longest time", "fetch.timeout", Source::kAnnotation, "",
     "timeTrunc"},
    {"body cut, as memory for bodies ran out", "fetch.body_memory",
     Source::kAnnotation, "", "poolTrunc"},
    {"body broken off by the server", "", Source::kAnnotation, "",
     "disconnectTrunc"},
    {"no answer in time", "fetch.first_byte_timeout", Source::kFailure, "",
     "timeout"},
    {"head too large", "fetch.max_head_size", Source::kFailure, "",
     "head-too-large"},
    {"type or length refused", "fetch.accept_types", Source::kFailure, "",
     "unwanted"},
    {"too many retries", "fetch.retry_attempts", Source::kFailure, "",
     "too-many-retries"},
    {"redirects in a circle", "", Source::kFailure, "", "too-many-redirects"},
    {"host silent too often", "politeness.dead_after", Source::kFailure, "",
     "host-dead"},
    {"address not public", "guard.allow", Source::kFailure, "",
     "address-refused"},
    {"URL too long", "url.max_length", Source::kDropped, "url", "too-long"},
    {"port of another protocol", "url.allow_ports", Source::kDropped, "url",
     "bad-port"},
    {"links of one page", "parse.max_links_size", Source::kDropped, "url",
     "page-limit"},
    {"too many hops from a seed", "scope.max_depth", Source::kDropped, "scope",
     "too-deep"},
    {"outside of the scope", "scope.bounds", Source::kDropped, "scope",
     "other-site"},
    {"denied by a pattern", "scope.deny", Source::kDropped, "scope", "denied"},
    {"on a black list", "scope.block", Source::kDropped, "scope", "blocked"},
    {"file type that is no page", "seen.skip_extensions", Source::kDropped,
     "seen", "extension"},
    {"URLs of one host", "scope.max_pages_per_host", Source::kDropped, "caps",
     "host-full"},
    {"URLs of one domain", "scope.max_pages_per_domain", Source::kDropped,
     "caps", "domain-full"},
    {"hosts of one domain", "scope.max_hosts_per_domain", Source::kDropped,
     "caps", "too-many-hosts"},
    {"forbidden by robots.txt", "", Source::kDropped, "robots", "denied"},
    {"robots.txt out of reach", "robots.unreachable_attempts", Source::kDropped,
     "robots", "unreachable"},
    {"ports of one host", "robots.max_ports_per_host", Source::kDropped,
     "robots", "too-many-ports"},
    {"link with rel=nofollow", "robots.obey_rel_nofollow", Source::kDropped,
     "parse", "nofollow"},
};

const crawl::CrawlStatus::Stage* FindStage(const Figures& figures,
                                           std::string_view name) {
  if (!figures.status) return nullptr;
  const auto found = std::ranges::find(figures.status->stages, name,
                                       &crawl::CrawlStatus::Stage::name);
  return found == figures.status->stages.end() ? nullptr : &*found;
}

uint64_t CountOf(const std::vector<NamedCount>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &NamedCount::name);
  return found == list.end() ? 0 : found->count;
}

}  // namespace

std::string SettingText(const config::Settings& settings,
                        std::string_view name) {
  const config::Row* row = config::FindRow(config::AllRows(), name);
  if (row == nullptr) return "";
  const config::Value value = row->get(&settings);
  // Shares of memory are no round numbers.
  if (const auto* const bytes = std::get_if<uint64_t>(&value)) {
    return HumanSize(*bytes);
  }
  return config::FormatValue(*row, value);
}

std::vector<LimitRow> ListLimits(
    const Figures& figures, const config::Settings& settings,
    const std::function<uint64_t(std::string_view annotation)>& annotated) {
  std::vector<LimitRow> rows;
  for (const Bound& bound : kBounds) {
    LimitRow row;
    row.what = bound.what;
    row.setting = bound.setting;
    row.limit = SettingText(settings, bound.setting);
    // Those say that there is no bound.
    if (row.limit == "0" || row.limit == "false" || row.limit == "all") {
      row.limit.clear();
    }
    switch (bound.source) {
      case Source::kAnnotation:
        row.count = annotated(bound.name);
        row.of = figures.pages;
        row.unit = "pages";
        break;
      case Source::kFailure:
        row.count = CountOf(figures.failures, bound.name);
        row.of = figures.attempts;
        row.unit = "attempts";
        break;
      case Source::kDropped: {
        const auto* const stage = FindStage(figures, bound.stage);
        if (stage == nullptr) continue;
        for (const auto& [reason, count] : stage->dropped) {
          if (reason == bound.name) row.count = count;
        }
        row.of = stage->totals.in + stage->totals.made;
        row.unit = bound.stage == "robots" ? "URLs" : "links";
        break;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace nephila::report
