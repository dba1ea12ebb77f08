#include "inspect/why_parts.h"

#include <optional>
#include <utility>

#include "item/budget_function.h"
#include "robots/matcher.h"
#include "robots/origin.h"
#include "robots/robots_record.h"
#include "robots/rules.h"

namespace nephila::inspect {
namespace {

std::optional<WallTime> TimeOf(uint64_t milliseconds) {
  if (milliseconds == 0) return std::nullopt;
  return robots::TimeOf(milliseconds);
}

void TakeRecord(const robots::RobotsRecord& record, RobotsFacts* facts) {
  facts->is_known = true;
  facts->requested = record.requested;
  facts->delayed = record.delayed;
  facts->fetches = record.fetch;
  facts->asked = TimeOf(record.asked);
  facts->expires = TimeOf(record.expires);
  facts->tries = record.tries;
  facts->unreachable_since = TimeOf(record.unreachable_since);
  facts->crawl_delay =
      std::chrono::milliseconds(static_cast<int64_t>(record.crawl_delay));
  facts->not_before = TimeOf(record.host.not_before);
  facts->failures = record.host.failures;
  facts->overloads = record.host.overloads;
}

Status Match(const std::string& bytes, std::string_view path, bool is_url,
             RobotsFacts* facts) {
  NEPHILA_TRY(const robots::Rules rules, robots::Rules::Open(bytes));
  facts->has_rules = true;
  facts->disallows_all = rules.disallows_all();
  if (!is_url) return {};
  robots::Matcher matcher(rules);
  const robots::Answer answer = matcher.Match(path);
  facts->allowed = answer.allowed;
  if (answer.rule != robots::Rules::kNone) {
    facts->rule = rules.RuleText(answer.rule);
    facts->line = answer.line;
  }
  return {};
}

}  // namespace

Result<DomainFacts> DomainFactsOf(const JobView& job, std::string_view name,
                                  url::PldKey pld) {
  DomainFacts facts;
  facts.name = name;
  if (!job.stages() || !job.stages()->budget) return facts;
  const budget::BudgetView& budget = *job.stages()->budget;
  facts.has_budgets = true;
  facts.current_queue = budget.rounds().current();
  facts.last_queue = budget.rounds().window().last;
  facts.in_failed = budget.in_failed();
  facts.queue_time = budget.queue_time();
  NEPHILA_TRY(facts.in_pass, budget.UrlsInPass(pld));
  NEPHILA_TRY(const auto record, budget.Domain(pld));
  if (record) {
    facts.is_known = true;
    facts.in_degree = record->in_degree;
    // As the next pass would take it.
    const bool is_passed = record->next_queue <= facts.current_queue;
    facts.next_queue = is_passed ? facts.current_queue + 1 : record->next_queue;
    facts.fill = is_passed ? 0 : record->fill;
    facts.hosts = record->hosts.Estimate();
  }
  const auto function =
      item::BudgetFunction::Read(job.stages()->budget_function);
  if (function) facts.budget = function->Budget(facts.in_degree);
  return facts;
}

Result<RobotsFacts> RobotsFactsOf(JobView& job, const item::UrlRecord& record,
                                  bool is_url, HistoryReader* history) {
  RobotsFacts facts;
  const auto origin = robots::OriginOf(record);
  if (!origin.has_value()) return facts;
  facts.origin = origin->text;
  // The canonicalizer's views end with its next call.
  const std::string path(robots::PathOf(record));
  const std::string file = origin->text + "robots.txt";
  const auto canonical = job.canonicalizer().Canonicalize(file, nullptr);
  if (canonical.has_value()) {
    const url::UrlKey url_key = canonical->keys.url;
    NEPHILA_TRY(facts.copies, history->Copies(file, url_key));
  }
  if (!job.stages()) return facts;
  const robots::RobotsView& robots = *job.stages()->robots;
  NEPHILA_TRY(const robots::RobotsView::Pending pending,
              robots.PendingOf(*origin, record.pld_size, job.seed()));
  facts.in_pass = pending.urls;
  facts.has_end = pending.has_end;
  NEPHILA_TRY(const auto site,
              robots.Site(*origin, record.pld_size, job.seed()));
  if (!site) return facts;
  TakeRecord(site->record, &facts);
  if (!site->rules.empty()) {
    NEPHILA_RETURN_IF_ERROR(
        Match(site->rules, path.empty() ? "/" : path, is_url, &facts));
  }
  return facts;
}

}  // namespace nephila::inspect
