#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>

#include "base/text.h"
#include "inspect/why.h"
#include "inspect/why_parts.h"
#include "politeness/saved_waits.h"
#include "robots/origin.h"
#include "scope/scope.h"
#include "url/record_keys.h"

namespace nephila::inspect {
namespace {

constexpr size_t kMostOrigins = 16;

class HostExplainer {
 public:
  HostExplainer(JobView& job, const WhyOptions& options)
      : job_(job),
        most_bytes_(options.scan ? std::numeric_limits<uint64_t>::max()
                                 : options.most_bytes),
        history_(job, most_bytes_) {}

  Result<HostFacts> Explain(std::string_view input, const LiveHost& live) {
    facts_.input = input;
    facts_.live = live;
    facts_.looked.manifest = job_.manifest();
    url_ = fmt::format("http://{}/", input);
    const auto canonical = job_.canonicalizer().Canonicalize(url_, nullptr);
    if (!canonical.has_value()) {
      facts_.dropped = url::DropReasonName(canonical.error());
      return std::move(facts_);
    }
    const url::Keys keys = canonical->keys;
    facts_.host = canonical->host;
    facts_.domain = canonical->pld;
    url_ = canonical->href;
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.url = url_;
    if (const auto refused = job_.scope().Refuses(record)) {
      facts_.scope = scope::ScopeDropName(*refused);
    }
    NEPHILA_RETURN_IF_ERROR(CountWaiting());
    NEPHILA_RETURN_IF_ERROR(CountAttempts());
    NEPHILA_TRY(facts_.of_domain, DomainFactsOf(job_, facts_.domain, keys.pld));
    NEPHILA_RETURN_IF_ERROR(AskRobots());
    FindWait(keys.host);
    return std::move(facts_);
  }

 private:
  Status CountWaiting() {
    HeldUrls held(job_, most_bytes_);
    NEPHILA_RETURN_IF_ERROR(
        held.ForEach([&](const HeldUrl& url) -> Result<bool> {
          if (url.record.host() != facts_.host) return true;
          ++facts_.waiting[std::string(HeldInName(url.where))];
          NoteOrigin(url.record);
          return true;
        }));
    facts_.looked.skipped = held.skipped();
    return {};
  }

  Status CountAttempts() {
    NEPHILA_RETURN_IF_ERROR(history_.ForEachLine(
        [&](const store::LogLine& line, std::string_view) -> Status {
          if (line.is_name() || line.is_robots() ||
              line.url.find(facts_.host) == std::string_view::npos) {
            return {};
          }
          const auto canonical =
              job_.canonicalizer().Canonicalize(line.url, nullptr);
          if (!canonical.has_value() || canonical->host != facts_.host) {
            return {};
          }
          ++facts_.attempts;
          NoteOrigin(url::MakeUrlRecord(*canonical));
          const item::FetchOutcome outcome = OutcomeOf(line);
          std::string name(item::FetchOutcomeName(outcome));
          if (outcome == item::FetchOutcome::kResponse) {
            name = fmt::format("{}xx", line.status / 100);
          }
          ++facts_.outcomes[name];
          return {};
        }));
    facts_.looked.log_bytes = history_.log_bytes();
    facts_.looked.log_read = history_.log_read();
    facts_.looked.scanned = facts_.looked.skipped.empty() &&
                            facts_.looked.log_bytes == facts_.looked.log_read;
    return {};
  }

  // Of URLs that were met: a host may be asked at any port.
  void NoteOrigin(const item::UrlRecord& record) {
    if (origins_.size() >= kMostOrigins) return;
    const auto origin = robots::OriginOf(record);
    if (origin.has_value()) origins_.insert(origin->text);
  }

  Status AskRobots() {
    origins_.insert(url_);
    origins_.insert(fmt::format("http://{}/", facts_.host));
    origins_.insert(fmt::format("https://{}/", facts_.host));
    for (const std::string& url : origins_) {
      const auto canonical = job_.canonicalizer().Canonicalize(url, nullptr);
      if (!canonical.has_value()) continue;
      const std::string href(canonical->href);
      item::UrlRecord record = url::MakeUrlRecord(*canonical);
      record.url = href;
      NEPHILA_TRY(RobotsFacts robots,
                  RobotsFactsOf(job_, record, /*is_url=*/false, &history_));
      // Nothing is known of most.
      if (robots.is_known || robots.in_pass > 0 || robots.has_end) {
        facts_.of_robots.push_back(std::move(robots));
      }
    }
    return {};
  }

  // What politeness had when the manifest was made.
  void FindWait(url::HostKey host) {
    if (job_.waits().empty()) return;
    const auto waits = politeness::ParseWaits(job_.waits());
    if (!waits) return;
    for (const politeness::HostWait& wait : waits->hosts) {
      if (wait.host != host.value) continue;
      // The longest: of the host, or of one of its ports.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          std::max(wait.left, wait.authority_left));
      facts_.saved_wait = std::max(facts_.saved_wait.value_or(left), left);
    }
  }

  JobView& job_;
  const uint64_t most_bytes_;
  HistoryReader history_;
  std::string url_;
  std::set<std::string> origins_;
  HostFacts facts_;
};

}  // namespace

Result<HostFacts> ExplainHost(JobView& job, std::string_view host,
                              const LiveHost& live, const WhyOptions& options) {
  return HostExplainer(job, options).Explain(host, live);
}

}  // namespace nephila::inspect
