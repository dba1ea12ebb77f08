#include "cli/seed_watch.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "item/fetch_outcome.h"
#include "item/url_record.h"
#include "robots/policy.h"

namespace nephila::cli {
namespace {

using crawl::CrawlEnd;
using crawl::FinishedVisit;
using item::FetchOutcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

// More would hide the first.
constexpr int kMostLines = 10;
// Sites that are told apart.
constexpr size_t kMostSites = 1000;

// In the words of a person, where the name alone says too little.
std::string Reason(FetchOutcome outcome, int status) {
  switch (outcome) {
    case FetchOutcome::kResponse:
      return fmt::format("it answers with status {}", status);
    case FetchOutcome::kNoSuchHost:
      return "there is no such host";
    case FetchOutcome::kDnsFailed:
      return "its name cannot be resolved";
    case FetchOutcome::kConnectFailed:
      return "it cannot be connected to";
    case FetchOutcome::kTlsFailed:
      return "its certificate or TLS is not accepted";
    case FetchOutcome::kConnectionLost:
      return "it breaks off the connection";
    case FetchOutcome::kTimeout:
      return "it does not answer in time";
    case FetchOutcome::kAddressRefused:
      return "its address is not public (guard.allow opens a network)";
    default:
      return std::string(item::FetchOutcomeName(outcome));
  }
}

std::string Again(WallTime when, milliseconds wait) {
  const auto due = std::chrono::time_point_cast<seconds>(when + wait);
  return fmt::format("trying again in {}, at {:%H:%M:%S} UTC",
                     FormatDuration(std::chrono::ceil<seconds>(wait)), due);
}

std::string DropsOf(const crawl::CrawlStatus& status) {
  std::string drops;
  for (const char* name : {"robots", "scope"}) {
    for (const auto& stage : status.stages) {
      if (stage.name != name) continue;
      for (const auto& [reason, count] : stage.dropped) {
        drops += fmt::format("{}{} ({}: {})", drops.empty() ? "" : ", ", count,
                             name, reason);
      }
    }
  }
  return drops;
}

}  // namespace

SeedWatch::SeedWatch(const config::Settings& settings, Say say)
    : settings_(settings.robots), say_(std::move(say)) {}

void SeedWatch::See(const FinishedVisit& visit) {
  if (is_over_ || visit.is_seed || visit.is_void || visit.goes_on ||
      visit.outcome == FetchOutcome::kInterrupted) {
    return;
  }
  const auto record = item::ReadUrl(visit.record);
  if (!record.has_value()) return;
  const std::string url(record->url);
  if (visit.kind == item::FetchKind::kRobots) {
    SeeRobots(url, visit);
  } else {
    SeePage(url, visit);
  }
}

void SeedWatch::See(const crawl::CrawlStatus& status) {
  if (!is_over_ && !status.end) disk_ = status.disk;
}

void SeedWatch::SeeRobots(const std::string& url, const FinishedVisit& visit) {
  robots::Fetch fetch;
  fetch.end = visit.robots_end;
  fetch.status = visit.robots_status;
  if (!robots::PolicyFor(fetch).unreachable) return;
  if (tries_.size() >= kMostSites && !tries_.contains(url)) return;
  const uint32_t tries = ++tries_[url];
  // As the record of the site counts (robots/cache_rule.h).
  auto wait = settings_.retry_wait;
  for (uint32_t i = 1; i < tries && wait < settings_.retry_wait_max; ++i) {
    wait *= 2;
  }
  wait = std::max<std::chrono::nanoseconds>(
      std::min(wait, settings_.retry_wait_max), visit.host_wait);
  const auto most = static_cast<uint64_t>(settings_.unreachable_attempts);
  const std::string trouble =
      fmt::format("{}robots.txt: {}", EscapeForTerminal(url),
                  Reason(visit.outcome, visit.status));
  if (most > 0 && tries >= most) {
    Note(trouble, "");
    return;
  }
  std::string then =
      fmt::format("nothing of the site may be asked for without it; {}",
                  Again(visit.when, std::chrono::ceil<milliseconds>(wait)));
  if (most > 0) then += fmt::format(" (try {} of {})", tries + 1, most);
  Note(trouble, then);
}

void SeedWatch::SeePage(const std::string& url, const FinishedVisit& visit) {
  if (visit.outcome == FetchOutcome::kResponse && visit.status < 400) {
    is_over_ = true;
    return;
  }
  Note(fmt::format("{}: {}", EscapeForTerminal(url),
                   Reason(visit.outcome, visit.status)),
       visit.retry ? Again(visit.when, visit.url_wait) : "");
}

void SeedWatch::Note(const std::string& trouble, const std::string& then) {
  const bool is_final = then.empty();
  if (is_final) ++troubles_;
  if (first_.empty() || (is_final && !first_is_final_)) {
    first_ = trouble;
    first_is_final_ = is_final;
  }
  if (lines_ >= kMostLines) return;
  ++lines_;
  std::string line = trouble + "; " + (is_final ? "given up" : then);
  if (lines_ == kMostLines) line += "; more of this is in crawl.log";
  say_(line);
}

Status SeedWatch::Verdict(const crawl::CrawlStatus& status,
                          const std::string& seed,
                          const std::string& job) const {
  const bool ran =
      status.end == CrawlEnd::kFinished || status.end == CrawlEnd::kMaxTime;
  if (is_over_ || status.pages_before > 0 || !ran) return {};
  if (first_.empty() && !disk_.empty()) {
    return Unexpected(
        Error{ErrorCode::kNoSpace, "nothing was fetched: " + disk_});
  }
  std::string message = status.end == CrawlEnd::kFinished
                            ? "no seed could be fetched"
                            : "no seed could be fetched in this time";
  if (!first_.empty()) {
    message += ": " + first_;
    if (troubles_ > 1) {
      message += fmt::format(" (and {} more: {}/archive/crawl.log)",
                             troubles_ - 1, EscapeForTerminal(job));
    }
  } else if (const std::string drops = DropsOf(status); !drops.empty()) {
    message +=
        fmt::format(": {}dropped {}",
                    seed.empty() ? "" : EscapeForTerminal(seed) + ": ", drops);
  } else {
    message += fmt::format("; nothing was asked for, see {}/archive/crawl.log",
                           EscapeForTerminal(job));
  }
  return Unexpected(
      Error{ErrorCode::kNotFound, std::move(message), EHOSTUNREACH});
}

}  // namespace nephila::cli
