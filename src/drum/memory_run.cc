#include "drum/memory_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace nephila::drum {

void MemoryRun::Add(uint64_t key, std::string_view value) {
  NEPHILA_CHECK(keys_.empty() || key > keys_.back());
  keys_.push_back(key);
  if (format_.kind == ValueKind::kNone) return;
  values_.append(value);
  ends_.push_back(values_.size());
  dead_.push_back(false);
}

void MemoryRun::AddTombstone(uint64_t key) {
  NEPHILA_CHECK(format_.kind != ValueKind::kNone);
  Add(key, {});
  dead_.back() = true;
}

void MemoryRun::Append(const MemoryRun& later) {
  for (size_t i = 0; i < later.records(); ++i) {
    if (later.is_tombstone(i)) {
      AddTombstone(later.keys_[i]);
    } else {
      Add(later.keys_[i], later.value(i));
    }
  }
}

void MemoryRun::Reserve(const MemoryRun& one, const MemoryRun& other) {
  keys_.reserve(one.records() + other.records());
  if (format_.kind == ValueKind::kNone) return;
  ends_.reserve(one.records() + other.records());
  dead_.reserve(one.records() + other.records());
  values_.reserve(one.values_.size() + other.values_.size());
}

void MemoryRun::Shrink() {
  keys_.shrink_to_fit();
  ends_.shrink_to_fit();
  dead_.shrink_to_fit();
  values_.shrink_to_fit();
}

std::string_view MemoryRun::value(size_t i) const {
  if (format_.kind == ValueKind::kNone) return {};
  const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(values_).substr(begin, ends_[i] - begin);
}

size_t MemoryRun::memory_bytes() const {
  return keys_.capacity() * sizeof(uint64_t) +
         ends_.capacity() * sizeof(uint64_t) + dead_.capacity() / 8 +
         values_.capacity();
}

void MemoryRun::AppendTo(ByteWriter& writer) const {
  writer.Varint(records());
  uint64_t last = 0;
  for (size_t i = 0; i < records(); ++i) {
    writer.Varint(keys_[i] - last);
    last = keys_[i];
    if (format_.kind == ValueKind::kNone) continue;
    writer.U8(dead_[i] ? 1 : 0);
    writer.Sized(value(i));
  }
}

Result<MemoryRun> MemoryRun::Parse(ByteReader& reader, ValueFormat format) {
  const auto damaged = [] {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "records of a run in memory are damaged"});
  };
  MemoryRun run(format);
  const auto records = reader.Varint();
  // A record takes a byte at least.
  if (!records || *records > reader.remaining()) return damaged();
  run.keys_.reserve(*records);
  uint64_t key = 0;
  for (uint64_t i = 0; i < *records; ++i) {
    const auto gap = reader.Varint();
    if (!gap || (i > 0 && (*gap == 0 || key + *gap < key))) return damaged();
    key += *gap;
    if (format.kind == ValueKind::kNone) {
      run.keys_.push_back(key);
      continue;
    }
    const auto dead = reader.U8();
    if (!dead || *dead > 1) return damaged();
    const auto value = reader.Sized();
    if (!value || (*dead == 1 && !value->empty())) return damaged();
    if (*dead == 1) {
      run.AddTombstone(key);
      continue;
    }
    if (format.kind == ValueKind::kFixed && value->size() != format.bytes) {
      return damaged();
    }
    run.Add(key, *value);
  }
  return run;
}

std::shared_ptr<const MemoryRun> MergeRuns(const MemoryRun& newer,
                                           const MemoryRun& older,
                                           bool drop_tombstones) {
  auto merged = std::make_shared<MemoryRun>(newer.format());
  merged->Reserve(newer, older);
  const auto take = [&](const MemoryRun& run, size_t i) {
    if (!run.is_tombstone(i)) {
      merged->Add(run.keys()[i], run.value(i));
    } else if (!drop_tombstones) {
      merged->AddTombstone(run.keys()[i]);
    }
  };
  size_t i = 0;
  size_t j = 0;
  while (i < newer.records() || j < older.records()) {
    if (j == older.records() ||
        (i < newer.records() && newer.keys()[i] <= older.keys()[j])) {
      if (j < older.records() && newer.keys()[i] == older.keys()[j]) ++j;
      take(newer, i++);
    } else {
      take(older, j++);
    }
  }
  merged->Shrink();
  return merged;
}

MemoryRunCursor::MemoryRunCursor(std::shared_ptr<const MemoryRun> run,
                                 uint64_t first, uint64_t last)
    : run_(std::move(run)) {
  const std::span<const uint64_t> keys = run_->keys();
  position_ = static_cast<size_t>(
      std::lower_bound(keys.begin(), keys.end(), first) - keys.begin());
  end_ = static_cast<size_t>(std::upper_bound(keys.begin(), keys.end(), last) -
                             keys.begin());
}

Status MemoryRunCursor::SeekTo(uint64_t key) {
  const std::span<const uint64_t> keys = run_->keys();
  // Seeks of a merge are mostly short.
  while (position_ < end_ && keys[position_] < key) {
    const size_t ahead = position_ + 16;
    if (ahead < end_ && keys[ahead] < key) {
      position_ = static_cast<size_t>(
          std::lower_bound(keys.begin() + static_cast<ptrdiff_t>(ahead),
                           keys.begin() + static_cast<ptrdiff_t>(end_), key) -
          keys.begin());
      break;
    }
    ++position_;
  }
  return {};
}

Status MemoryRunCursor::Next() {
  ++position_;
  return {};
}

}  // namespace nephila::drum
