// The metrics of a crawl, for Prometheus: text in its exposition format
// (version 0.0.4). docs/metrics.md lists them, by the same table.
//   In: facts of one moment   Out: text   Threads: any; nothing is kept
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "control/live_facts.h"

namespace nephila::control {

enum class MetricType : uint8_t { kCounter, kGauge };

struct MetricRow {
  std::string_view name;
  MetricType type = MetricType::kGauge;
  std::string_view labels;  // "stage, reason"; "": none
  std::string_view help;    // one sentence
};

// In the order of the text.
std::span<const MetricRow> MetricRows();

inline constexpr std::string_view kMetricsMediaType =
    "text/plain; version=0.0.4; charset=utf-8";

std::string MetricsText(const LiveFacts& facts);

}  // namespace nephila::control
