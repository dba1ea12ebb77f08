// Metrics: named numbers that anyone may read; StageAccount: the law that no
// stage drops silently, in + made = out + dropped + held.
//
// Metrics is made once and handed in by constructor. What it hands out lives as
// long as it does, at a fixed address.
//
// Threads: any. Cost: one relaxed atomic addition per update, so update once
// per batch where there is one. Readers see each number whole, but not all
// numbers at one instant: Imbalance() is exact only while nothing moves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/mutex.h"

namespace nephila {

// Only ever grows.
class Counter {
 public:
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void Set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void Add(int64_t delta) {
    value_.fetch_add(delta, std::memory_order_relaxed);
  }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

enum class MetricKind : uint8_t { kCounter, kGauge };

struct MetricSample {
  std::string name;
  MetricKind kind;
  std::string help;
  // Counters of bytes stay far below 2^63.
  int64_t value;
};

class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Names are unique over both kinds; a second one is a bug.
  Counter& AddCounter(std::string_view name, std::string_view help)
      NEPHILA_EXCLUDES(mutex_);
  Gauge& AddGauge(std::string_view name, std::string_view help)
      NEPHILA_EXCLUDES(mutex_);

  // Sorted by name.
  std::vector<MetricSample> Snapshot() const NEPHILA_EXCLUDES(mutex_);

 private:
  struct Entry {
    MetricKind kind;
    std::string help;
    // One of the two is used; nodes of a map do not move.
    Counter counter;
    Gauge gauge;
  };

  Entry& Add(MetricKind kind, std::string_view name, std::string_view help)
      NEPHILA_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ NEPHILA_GUARDED_BY(mutex_);
};

struct StageTotals {
  uint64_t in = 0;
  uint64_t made = 0;
  uint64_t out = 0;
  int64_t held = 0;
  std::vector<uint64_t> dropped;  // by reason index

  uint64_t DroppedSum() const;
  // in + made - out - dropped - held: 0 when the law holds, above 0 when
  // something vanished, below when something came from nowhere.
  int64_t Imbalance() const;
};

class StageAccount {
 public:
  // `name` and `drop_reasons` are constants that outlive the account.
  StageAccount(std::string_view name,
               std::span<const std::string_view> drop_reasons);
  StageAccount(const StageAccount&) = delete;
  StageAccount& operator=(const StageAccount&) = delete;

  void In(uint64_t n = 1) { in_.Add(n); }      // came from the stage before
  void Made(uint64_t n = 1) { made_.Add(n); }  // began here
  void Out(uint64_t n = 1) { out_.Add(n); }    // went to the stage after
  void Hold(int64_t delta) { held_.Add(delta); }
  // REQUIRES: reason is an index into drop_reasons.
  void Drop(size_t reason, uint64_t n = 1);
  template <typename Reason>
  requires std::is_enum_v<Reason>
  void Drop(Reason reason, uint64_t n = 1) {
    Drop(static_cast<size_t>(reason), n);
  }

  std::string_view name() const { return name_; }
  std::span<const std::string_view> drop_reasons() const {
    return drop_reasons_;
  }
  StageTotals Totals() const;
  int64_t Imbalance() const { return Totals().Imbalance(); }
  // The totals beside other metrics: stage_<name>_in, _made, _out, _held and
  // _dropped_<reason> for each reason.
  void AppendSamples(std::vector<MetricSample>* samples) const;

 private:
  const std::string_view name_;
  const std::span<const std::string_view> drop_reasons_;
  Counter in_;
  Counter made_;
  Counter out_;
  Gauge held_;
  const std::unique_ptr<Counter[]> dropped_;
};

}  // namespace nephila
