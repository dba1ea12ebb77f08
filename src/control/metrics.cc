#include "control/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace nephila::control {
namespace {

using enum MetricType;

constexpr auto kRows = std::to_array<MetricRow>({
    {"nephila_info", kGauge, "version", "1, with the version of the program."},
    {"nephila_state", kGauge, "state",
     "1 for what the crawl does now, 0 for the rest."},
    {"nephila_run_seconds", kGauge, "", "Age of this run."},
    {"nephila_pages_total", kCounter, "",
     "Responses that were archived, robots.txt apart."},
    {"nephila_page_bytes_total", kCounter, "",
     "Bytes of their bodies, as transferred."},
    {"nephila_urls_seen_total", kCounter, "",
     "Different URLs that were found."},
    {"nephila_urls_failed_total", kCounter, "", "URLs that were given up."},
    {"nephila_retries_total", kCounter, "", "Attempts that asked for another."},
    {"nephila_robots_fetches_total", kCounter, "",
     "Files of robots.txt that were asked for."},
    {"nephila_pages_quarantined_total", kCounter, "",
     "Pages that nobody reads any more."},
    {"nephila_fetches_total", kCounter, "outcome",
     "Attempts, by how they ended."},
    {"nephila_responses_total", kCounter, "class",
     "Responses, by the hundreds of their status."},
    {"nephila_stage_in_total", kCounter, "stage", "URLs that came to a stage."},
    {"nephila_stage_made_total", kCounter, "stage",
     "URLs that a stage has made."},
    {"nephila_stage_out_total", kCounter, "stage", "URLs that it handed on."},
    {"nephila_stage_dropped_total", kCounter, "stage, reason",
     "URLs that it dropped."},
    {"nephila_stage_held", kGauge, "stage", "URLs that wait in it."},
    {"nephila_urls_ready", kGauge, "",
     "URLs that may be fetched, but for the delays of their hosts."},
    {"nephila_urls_parked", kGauge, "",
     "URLs whose hosts are left alone for long."},
    {"nephila_urls_waiting", kGauge, "", "URLs that wait, in all stages."},
    {"nephila_transfers_in_flight", kGauge, "", "Requests that are in flight."},
    {"nephila_transfers_most", kGauge, "", "So many may be at once."},
    {"nephila_names_resolving", kGauge, "",
     "URLs that wait for the address of their host."},
    {"nephila_hosts", kGauge, "state", "Hosts that are known to politeness."},
    {"nephila_addresses", kGauge, "", "Addresses of servers in memory."},
    {"nephila_robots_urls", kGauge, "place",
     "URLs in the stage robots, by where they are."},
    {"nephila_robots_requests", kGauge, "place",
     "Requests of robots.txt: queued, or asked for and not ended."},
    {"nephila_budget_queue", kGauge, "", "Number of the queue that is read."},
    {"nephila_budget_queues", kGauge, "", "Queues of the window."},
    {"nephila_budget_splits_total", kCounter, "", "Splits of the queue Q_F."},
    {"nephila_budget_urls", kGauge, "place",
     "URLs in the stage budget, by where they are."},
    {"nephila_memory_resident_bytes", kGauge, "",
     "Memory of the process that is resident."},
    {"nephila_memory_most_bytes", kGauge, "", "What crawl.memory allows."},
    {"nephila_disk_used_bytes", kGauge, "", "Disk that the job takes."},
    {"nephila_disk_free_bytes", kGauge, "", "Disk that is free there."},
    {"nephila_disk_floor_bytes", kGauge, "",
     "With less than this the crawl waits."},
    {"nephila_checkpoint_number", kGauge, "", "Number of the last checkpoint."},
    {"nephila_checkpoint_age_seconds", kGauge, "",
     "Time since then, once this run has taken one."},
});

std::string EscapeLabel(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

class Text {
 public:
  using Labels =
      std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // The next metric of the table is this one, or the table is wrong.
  void Begin(std::string_view name) {
    NEPHILA_CHECK(next_ < kRows.size() && kRows[next_].name == name);
    const MetricRow& row = kRows[next_++];
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", row.name, row.help,
                         row.type == kCounter ? "counter" : "gauge");
    name_ = name;
  }
  void Value(Labels labels, double value) {
    text_ += name_;
    char before = '{';
    for (const auto& [name, label] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", before, name, EscapeLabel(label));
      before = ',';
    }
    if (labels.size() > 0) text_ += '}';
    text_ += fmt::format(" {}\n", value);
  }
  void Value(Labels labels, uint64_t value) {
    Value(labels, static_cast<double>(value));
  }
  void Only(std::string_view name, uint64_t value) {
    Begin(name);
    Value({}, value);
  }
  std::string Take() {
    NEPHILA_CHECK(next_ == kRows.size());
    return std::move(text_);
  }

 private:
  size_t next_ = 0;
  std::string_view name_;
  std::string text_;
};

void AddStages(const crawl::CrawlStatus& status, Text* text) {
  const auto each = [&](std::string_view name, auto value_of) {
    text->Begin(name);
    for (const crawl::CrawlStatus::Stage& stage : status.stages) {
      text->Value({{"stage", stage.name}}, value_of(stage.totals));
    }
  };
  each("nephila_stage_in_total", [](const StageTotals& t) { return t.in; });
  each("nephila_stage_made_total", [](const StageTotals& t) { return t.made; });
  each("nephila_stage_out_total", [](const StageTotals& t) { return t.out; });
  text->Begin("nephila_stage_dropped_total");
  for (const crawl::CrawlStatus::Stage& stage : status.stages) {
    for (const auto& [reason, count] : stage.dropped) {
      text->Value({{"stage", stage.name}, {"reason", reason}}, count);
    }
  }
  each("nephila_stage_held",
       [](const StageTotals& t) { return static_cast<double>(t.held); });
}

void AddCounters(const LiveFacts& facts, Text* text) {
  const crawl::CrawlStatus& status = facts.status;
  text->Only("nephila_pages_total", status.pages);
  text->Only("nephila_page_bytes_total", status.bytes);
  text->Only("nephila_urls_seen_total", status.seen);
  text->Only("nephila_urls_failed_total", status.failed);
  text->Only("nephila_retries_total", status.retries);
  text->Only("nephila_robots_fetches_total", status.robots);
  text->Only("nephila_pages_quarantined_total", status.quarantined);
  text->Begin("nephila_fetches_total");
  for (const auto& [name, count] : status.outcomes) {
    text->Value({{"outcome", name}}, count);
  }
  text->Begin("nephila_responses_total");
  for (const auto& [name, count] : status.statuses) {
    text->Value({{"class", name}}, count);
  }
  AddStages(status, text);
}

void AddQueues(const LiveFacts& facts, Text* text) {
  const crawl::CrawlStatus& status = facts.status;
  const crawl::DispatcherFacts& dispatcher = facts.dispatcher;
  text->Only("nephila_urls_ready", status.ready);
  text->Only("nephila_urls_parked", status.parked);
  text->Only("nephila_urls_waiting", status.waiting);
  text->Only("nephila_transfers_in_flight", dispatcher.in_flight);
  text->Only("nephila_transfers_most", dispatcher.max_in_flight);
  text->Only("nephila_names_resolving", dispatcher.resolving);
  text->Begin("nephila_hosts");
  text->Value({{"state", "ready"}}, dispatcher.hosts.due);
  text->Value({{"state", "waiting"}}, dispatcher.hosts.waiting);
  text->Value({{"state", "in-flight"}}, dispatcher.hosts.in_flight);
  text->Value({{"state", "idle"}}, dispatcher.hosts.idle);
  text->Value({{"state", "parked"}}, dispatcher.politeness.parked_hosts);
  text->Value({{"state", "dead"}}, dispatcher.hosts.dead);
  text->Only("nephila_addresses", dispatcher.politeness.addresses);
  text->Begin("nephila_robots_urls");
  text->Value({{"place", "checking"}}, facts.robots.checking);
  text->Value({{"place", "waiting"}}, facts.robots.waiting);
  text->Value({{"place", "parked"}}, facts.robots.parked);
  text->Begin("nephila_robots_requests");
  text->Value({{"place", "queued"}}, facts.robots.queued);
  text->Value({{"place", "requested"}}, facts.robots.requested);
}

// Without budgets they have no samples.
void AddBudget(const LiveFacts& facts, Text* text) {
  const auto& budget = facts.budget;
  text->Begin("nephila_budget_queue");
  if (budget) text->Value({}, budget->current);
  text->Begin("nephila_budget_queues");
  if (budget) text->Value({}, budget->queues);
  text->Begin("nephila_budget_splits_total");
  if (budget) text->Value({}, budget->splits);
  text->Begin("nephila_budget_urls");
  if (!budget) return;
  text->Value({{"place", "pass"}}, budget->in_drum);
  text->Value({{"place", "queues"}}, budget->in_queues);
  text->Value({{"place", "qf"}}, budget->in_failed);
}

}  // namespace

std::span<const MetricRow> MetricRows() { return kRows; }

std::string MetricsText(const LiveFacts& facts) {
  Text text;
  text.Begin("nephila_info");
  text.Value({{"version", facts.version}}, uint64_t{1});
  text.Begin("nephila_state");
  for (const crawl::CrawlState state :
       {crawl::CrawlState::kRunning, crawl::CrawlState::kPaused,
        crawl::CrawlState::kWaitingForDisk, crawl::CrawlState::kStopping,
        crawl::CrawlState::kStopped}) {
    text.Value({{"state", CrawlStateName(state)}},
               uint64_t{state == facts.state ? 1U : 0U});
  }
  text.Begin("nephila_run_seconds");
  text.Value({}, Seconds(facts.status.elapsed));
  AddCounters(facts, &text);
  AddQueues(facts, &text);
  AddBudget(facts, &text);
  text.Only("nephila_memory_resident_bytes", facts.resident_bytes);
  text.Only("nephila_memory_most_bytes", facts.settings.crawl.memory_bytes);
  text.Only("nephila_disk_used_bytes", facts.disk_used);
  text.Only("nephila_disk_free_bytes", facts.disk_free);
  text.Only("nephila_disk_floor_bytes", facts.settings.disk.floor_bytes);
  text.Only("nephila_checkpoint_number", facts.checkpoint);
  text.Begin("nephila_checkpoint_age_seconds");
  if (facts.checkpoint_age) text.Value({}, Seconds(*facts.checkpoint_age));
  return text.Take();
}

}  // namespace nephila::control
