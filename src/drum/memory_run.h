// MemoryRun: a sorted run in memory, for the records of small passes.
//
// A small crawl has nothing else. Immutable once built; what a pass changed is
// one, and lies above those before (memory_layers.h). Built by appending in
// ascending order.
// Threads: any, once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "drum/record_source.h"
#include "drum/value.h"

namespace nephila::drum {

class MemoryRun {
 public:
  explicit MemoryRun(ValueFormat format) : format_(format) {}

  // REQUIRES: `key` above all before it.
  void Add(uint64_t key, std::string_view value);
  void AddTombstone(uint64_t key);
  void Append(const MemoryRun& later);  // all of it, keys above ours
  // For the records of both.
  void Reserve(const MemoryRun& one, const MemoryRun& other);
  // To what is there.
  void Shrink();

  size_t records() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  std::span<const uint64_t> keys() const { return keys_; }
  std::string_view value(size_t i) const;
  bool is_tombstone(size_t i) const {
    return format_.kind != ValueKind::kNone && dead_[i];
  }
  size_t memory_bytes() const;
  const ValueFormat& format() const { return format_; }

  // As the journal keeps it.
  void AppendTo(ByteWriter& writer) const;
  static Result<MemoryRun> Parse(ByteReader& reader, ValueFormat format);

 private:
  ValueFormat format_;
  std::vector<uint64_t> keys_;
  // With values only.
  std::vector<uint64_t> ends_;
  std::vector<bool> dead_;
  std::string values_;
};

// `newer` over `older`. Tombstones stay unless `drop_tombstones`.
std::shared_ptr<const MemoryRun> MergeRuns(const MemoryRun& newer,
                                           const MemoryRun& older,
                                           bool drop_tombstones);

class MemoryRunCursor final : public RecordSource {
 public:
  // From `first` to `last`, both included.
  MemoryRunCursor(std::shared_ptr<const MemoryRun> run, uint64_t first,
                  uint64_t last);

  Status SeekTo(uint64_t key) override;
  bool AtEnd() const override { return position_ >= end_; }
  uint64_t key() const override { return run_->keys()[position_]; }
  std::string_view value() const override { return run_->value(position_); }
  bool is_tombstone() const override { return run_->is_tombstone(position_); }
  Status Next() override;

 private:
  const std::shared_ptr<const MemoryRun> run_;
  size_t position_;
  size_t end_;
};

}  // namespace nephila::drum
