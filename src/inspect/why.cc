#include "inspect/why.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.h"
#include "base/check.h"
#include "inspect/why_parts.h"
#include "item/outcome_policy.h"
#include "job/quarantine.h"
#include "scope/scope.h"
#include "seen/extension_filter.h"
#include "url/parser.h"
#include "url/record_keys.h"

namespace nephila::inspect {
namespace {

// By UrlState.
constexpr std::array<std::string_view, kUrlStates> kStateNames = {
    "not-crawled",    "out-of-scope",
    "skipped",        "never-seen",
    "seed",           "seen-link",
    "seen-new",       "caps-pass",
    "caps-through",   "budget-pass",
    "budget-queue",   "budget-failed",
    "to-robots",      "robots-checking",
    "robots-decided", "robots-waiting",
    "robots-parked",  "ready",
    "parked",         "retry",
    "in-flight",      "done",
    "redirected",     "quarantined",
    "failed",         "over-cap",
    "robots-denied",  "robots-unreachable",
    "dropped",        "somewhere"};

constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();

UrlState StateOf(HeldIn where, uint32_t attempts) {
  switch (where) {
    case HeldIn::kReady:
      return UrlState::kReady;
    case HeldIn::kParked:
      return attempts > 0 ? UrlState::kRetry : UrlState::kParked;
    case HeldIn::kToRobots:
      return UrlState::kToRobots;
    case HeldIn::kRobotsDecided:
      return UrlState::kRobotsDecided;
    case HeldIn::kRobotsWaiting:
      return UrlState::kRobotsWaiting;
    case HeldIn::kRobotsParked:
      return UrlState::kRobotsParked;
    case HeldIn::kRobotsChecking:
      return UrlState::kRobotsChecking;
    case HeldIn::kBudgetQueue:
      return UrlState::kBudgetQueue;
    case HeldIn::kBudgetFailed:
      return UrlState::kBudgetFailed;
    case HeldIn::kBudgetPass:
      return UrlState::kBudgetPass;
    case HeldIn::kCapsThrough:
      return UrlState::kCapsThrough;
    case HeldIn::kCapsPass:
      return UrlState::kCapsPass;
    case HeldIn::kSeenNew:
      return UrlState::kSeenNew;
    case HeldIn::kSeenLink:
      return UrlState::kSeenLink;
    case HeldIn::kSeed:
      return UrlState::kSeed;
  }
  NEPHILA_CHECK(false);
}

bool IsRedirect(int status) {
  return item::ClassOf(status) == item::StatusClass::kRedirect;
}

class UrlExplainer {
 public:
  UrlExplainer(JobView& job, const WhyOptions& options)
      : job_(job),
        most_bytes_(options.scan ? kNoBound : options.most_bytes),
        history_(job, most_bytes_) {}

  Result<UrlFacts> Explain(std::string_view input, const LiveHost& live) {
    facts_.input = input;
    facts_.live = live;
    facts_.looked.manifest = job_.manifest();
    const auto canonical = job_.canonicalizer().Canonicalize(input, nullptr);
    if (!canonical.has_value()) {
      facts_.dropped = url::DropReasonName(canonical.error());
      facts_.state = UrlState::kNotCrawled;
      return std::move(facts_);
    }
    keys_ = canonical->keys;
    facts_.url = canonical->href;
    facts_.host = canonical->host;
    facts_.domain = canonical->pld;
    record_ = url::MakeUrlRecord(*canonical);
    // Its views are those of the canonicalizer.
    record_.url = facts_.url;
    NEPHILA_RETURN_IF_ERROR(Gather());
    facts_.state = Decide();
    return std::move(facts_);
  }

 private:
  Status Gather() {
    if (job_.stages()) {
      NEPHILA_TRY(facts_.is_known, job_.stages()->seen->IsKnown(keys_.url));
      NEPHILA_TRY(facts_.links_in_pass,
                  job_.stages()->seen->LinksInPass(keys_.url));
    }
    NEPHILA_RETURN_IF_ERROR(FindHeld());
    NEPHILA_TRY(facts_.history,
                history_.Read(facts_.url, facts_.domain, keys_.url));
    facts_.looked.log_bytes = facts_.history.log_bytes;
    facts_.looked.log_read = facts_.history.log_read;
    facts_.looked.archives_not_read = facts_.history.archives_not_read;
    facts_.looked.scanned = facts_.looked.skipped.empty() &&
                            facts_.looked.log_bytes == facts_.looked.log_read;
    NEPHILA_TRY(facts_.strikes, job::Quarantine::StrikesOf(
                                    job_.fs(), job_.dir(), keys_.url.value));
    // Of its entry in the journal.
    NEPHILA_TRY(const uint32_t of_entry,
                job::Quarantine::StrikesOf(
                    job_.fs(), job_.dir(),
                    job::Quarantine::TakingKey(keys_.url.value)));
    facts_.strikes = std::max(facts_.strikes, of_entry);
    item::UrlRecord record = record_;
    record.depth = facts_.depth;
    NEPHILA_RETURN_IF_ERROR(AskScope(record));
    NEPHILA_TRY(facts_.of_domain,
                DomainFactsOf(job_, facts_.domain, keys_.pld));
    NEPHILA_TRY(facts_.of_robots,
                RobotsFactsOf(job_, record_, /*is_url=*/true, &history_));
    return {};
  }

  Status AskScope(const item::UrlRecord& record) {
    if (const auto refused = job_.scope().Refuses(record)) {
      facts_.scope = scope::ScopeDropName(*refused);
      for (const scope::RuleVerdict& rule : job_.scope().Explain(record)) {
        if (rule.passes) continue;
        facts_.scope_rule = std::string(rule.rule) + ": " + rule.why;
        break;
      }
    }
    if (!job_.stages() || !job_.stages()->caps) return {};
    NEPHILA_TRY(const caps::Verdict verdict,
                job_.stages()->caps->VerdictOn(record));
    if (verdict != caps::Verdict::kThrough) {
      facts_.cap = caps::kDropReasonNames[static_cast<size_t>(verdict) - 1];
    }
    return {};
  }

  // The place nearest to being fetched; links in `seen` come last.
  Status FindHeld() {
    HeldUrls held(job_, most_bytes_);
    NEPHILA_RETURN_IF_ERROR(
        held.ForEach([&](const HeldUrl& url) -> Result<bool> {
          if (url.record.url != facts_.url) return true;
          // A second link to a URL that is known says nothing of the URL, nor
          // does a seed that is given again.
          const bool is_link =
              url.where == HeldIn::kSeenLink || url.where == HeldIn::kSeed;
          if (is_link && facts_.is_known) return false;
          facts_.held = url.where;
          facts_.queue = url.queue;
          facts_.ahead = url.ahead;
          facts_.due = url.due;
          facts_.parent = url.record.parent;
          facts_.depth = url.record.depth;
          facts_.hop_path = url.record.hop_path;
          facts_.discovered = url.record.discovered;
          facts_.attempts_before = url.record.attempts;
          return false;
        }));
    facts_.looked.skipped = held.skipped();
    return {};
  }

  UrlState Decide() {
    if (facts_.live.in_flight) return UrlState::kInFlight;
    if (facts_.held) return StateOf(*facts_.held, facts_.attempts_before);
    if (!facts_.history.attempts.empty()) {
      if (const auto state = Ended(facts_.history.attempts.back())) {
        return *state;
      }
    } else if (!facts_.history.copies.empty()) {
      // Its line is older than what was read of the log.
      const ArchivedCopy& copy = facts_.history.copies.back();
      FetchAttempt attempt;
      attempt.outcome = item::FetchOutcome::kResponse;
      attempt.status = std::atoi(copy.status.c_str());
      if (const auto state = Ended(attempt)) return *state;
    }
    if (facts_.live.in_memory) return UrlState::kReady;
    if (facts_.is_known) return LeftBehind();
    if (facts_.links_in_pass > 0) return UrlState::kSeenLink;
    if (!facts_.scope.empty()) return UrlState::kOutOfScope;
    const seen::ExtensionFilter filter(job_.settings().seen.skip_extensions);
    if (filter.Skips(record_)) return UrlState::kSkippedExtension;
    return UrlState::kNeverSeen;
  }

  // By its last attempt; nothing if there may be another to come.
  std::optional<UrlState> Ended(const FetchAttempt& last) {
    const item::OutcomeRow& row = item::RowFor(last.outcome, last.status);
    const bool is_open =
        last.is_in_journal
            ? last.retry
            : row.url == item::UrlStep::kRetry && !last.is_given_up;
    // Where everything was read, and it is nowhere, it is over.
    if (is_open && !facts_.looked.scanned) return std::nullopt;
    if (row.url != item::UrlStep::kDone) return UrlState::kFailed;
    if (facts_.strikes >= job::kMostStrikes) return UrlState::kQuarantined;
    if (!IsRedirect(last.status)) return UrlState::kDone;
    if (!facts_.history.copies.empty()) {
      facts_.redirect = TargetOf(facts_.history.copies.back().redirect);
    }
    return UrlState::kRedirected;
  }

  // As the crawl takes it, from what the server said.
  std::string TargetOf(const std::string& location) {
    url::Url base;
    url::Url target;
    if (location.empty() || !url::Parse(facts_.url, nullptr, &base) ||
        !url::Parse(location, &base, &target)) {
      return location;
    }
    return std::string(target.href());
  }

  // `seen` let it through, it waits nowhere, and there was no attempt.
  UrlState LeftBehind() {
    if (!facts_.looked.scanned) return UrlState::kSomewhere;
    // `caps` comes before `robots`.
    if (!facts_.cap.empty()) return UrlState::kOverCap;
    if (facts_.of_robots.allowed == false) {
      return facts_.of_robots.disallows_all ? UrlState::kRobotsUnreachable
                                            : UrlState::kRobotsDenied;
    }
    const auto most =
        static_cast<uint64_t>(job_.settings().robots.unreachable_attempts);
    if (most > 0 && facts_.of_robots.tries >= most) {
      return UrlState::kRobotsUnreachable;
    }
    if (!facts_.scope.empty()) return UrlState::kOutOfScope;
    return UrlState::kDropped;
  }

  JobView& job_;
  const uint64_t most_bytes_;
  HistoryReader history_;
  UrlFacts facts_;
  url::Keys keys_;
  item::UrlRecord record_;
};

}  // namespace

std::string_view UrlStateName(UrlState state) {
  return kStateNames[static_cast<size_t>(state)];
}

bool IsHostName(std::string_view text) {
  if (text.empty() || text.find_first_of("/?#@\\") != std::string_view::npos) {
    return false;
  }
  if (text.starts_with('[')) return true;
  // Behind a colon a port, or it is that of a scheme.
  const size_t colon = text.find(':');
  return colon == std::string_view::npos ||
         (colon > 0 &&
          std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                      text.end(), IsDigit));
}

Result<UrlFacts> ExplainUrl(JobView& job, std::string_view url,
                            const LiveHost& live, const WhyOptions& options) {
  return UrlExplainer(job, options).Explain(url, live);
}

}  // namespace nephila::inspect
