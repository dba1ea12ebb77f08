#include "base/metrics.h"

#include <numeric>

#include "base/check.h"

namespace nephila {

Counter& Metrics::AddCounter(std::string_view name, std::string_view help) {
  return Add(MetricKind::kCounter, name, help).counter;
}

Gauge& Metrics::AddGauge(std::string_view name, std::string_view help) {
  return Add(MetricKind::kGauge, name, help).gauge;
}

Metrics::Entry& Metrics::Add(MetricKind kind, std::string_view name,
                             std::string_view help) {
  MutexLock lock(mutex_);
  const auto [place, is_new] = entries_.try_emplace(std::string(name));
  NEPHILA_CHECK(is_new);
  Entry& entry = place->second;
  entry.kind = kind;
  entry.help = help;
  return entry;
}

std::vector<MetricSample> Metrics::Snapshot() const {
  MutexLock lock(mutex_);
  std::vector<MetricSample> samples;
  samples.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    const int64_t value = entry.kind == MetricKind::kCounter
                              ? static_cast<int64_t>(entry.counter.value())
                              : entry.gauge.value();
    samples.push_back({name, entry.kind, entry.help, value});
  }
  return samples;
}

uint64_t StageTotals::DroppedSum() const {
  return std::accumulate(dropped.begin(), dropped.end(), uint64_t{0});
}

int64_t StageTotals::Imbalance() const {
  return static_cast<int64_t>(in + made - out - DroppedSum()) - held;
}

StageAccount::StageAccount(std::string_view name,
                           std::span<const std::string_view> drop_reasons)
    : name_(name),
      drop_reasons_(drop_reasons),
      dropped_(std::make_unique<Counter[]>(drop_reasons.size())) {}

void StageAccount::Drop(size_t reason, uint64_t n) {
  NEPHILA_CHECK(reason < drop_reasons_.size());
  dropped_[reason].Add(n);
}

StageTotals StageAccount::Totals() const {
  StageTotals totals;
  totals.in = in_.value();
  totals.made = made_.value();
  totals.out = out_.value();
  totals.held = held_.value();
  for (size_t i = 0; i < drop_reasons_.size(); ++i) {
    totals.dropped.push_back(dropped_[i].value());
  }
  return totals;
}

void StageAccount::AppendSamples(std::vector<MetricSample>* samples) const {
  const StageTotals totals = Totals();
  const std::string stage(name_);
  const auto add = [&](const std::string& what, MetricKind kind,
                       const std::string& help, int64_t value) {
    samples->push_back({"stage_" + stage + "_" + what, kind,
                        "Items " + help + " stage " + stage + ".", value});
  };
  const auto count = [&](const std::string& what, const std::string& help,
                         uint64_t value) {
    add(what, MetricKind::kCounter, help, static_cast<int64_t>(value));
  };
  count("in", "that came into", totals.in);
  count("made", "that began in", totals.made);
  count("out", "that left", totals.out);
  add("held", MetricKind::kGauge, "that are inside", totals.held);
  for (size_t i = 0; i < drop_reasons_.size(); ++i) {
    const std::string reason(drop_reasons_[i]);
    count("dropped_" + reason, "dropped (" + reason + ") by",
          totals.dropped[i]);
  }
}

}  // namespace nephila
