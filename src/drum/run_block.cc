#include "drum/run_block.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "drum/rice.h"

namespace nephila::drum {
namespace {

constexpr uint8_t kVersion = 1;  // in the upper half of the first byte
constexpr uint8_t kHasTombstones = 1;
// The first byte, a count of up to 65 535, the first key.
constexpr uint64_t kHeadBits = uint64_t{8} * (1 + 3 + 8);

uint64_t VarintBytes(uint64_t value) {
  return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7;
}

uint64_t BitmapBytes(uint64_t records) { return (records + 7) / 8; }

Result<void, RunBlockError> DecodeTombstones(ByteReader& reader,
                                             RunBlock& block) {
  const size_t count = block.keys.size();
  const auto bitmap = reader.Raw(BitmapBytes(count));
  if (!bitmap.has_value()) return Unexpected(RunBlockError::kTombstones);
  block.tombstones = *bitmap;
  // Without any, the flag would not be there; behind the last are zeros.
  const auto any = [](char byte) { return byte != 0; };
  const auto last = static_cast<unsigned char>(bitmap->back());
  if (!std::any_of(bitmap->begin(), bitmap->end(), any) ||
      (count % 8 != 0 && last >> (count % 8) != 0)) {
    return Unexpected(RunBlockError::kTombstones);
  }
  return {};
}

// The sum of sizes stays below 2^32: each is at most kMaxValueBytes of what is
// left of the payload, and all of it together is checked against that.
Result<void, RunBlockError> DecodeSizes(ByteReader& reader, ValueFormat format,
                                        RunBlock& block) {
  uint64_t end = 0;
  block.value_ends.resize(block.keys.size());
  for (size_t i = 0; i < block.keys.size(); ++i) {
    if (!block.is_tombstone(i)) {
      if (format.kind == ValueKind::kFixed) {
        end += format.bytes;
      } else if (format.kind == ValueKind::kVariable) {
        const auto size = reader.Varint();
        if (!size.has_value() || *size > kMaxValueBytes) {
          return Unexpected(RunBlockError::kValues);
        }
        end += *size;
      }
    }
    if (end > std::numeric_limits<uint32_t>::max()) {
      return Unexpected(RunBlockError::kValues);
    }
    block.value_ends[i] = static_cast<uint32_t>(end);
  }
  return {};
}

}  // namespace

std::string_view RunBlockErrorText(RunBlockError error) {
  switch (error) {
    case RunBlockError::kVersion:
      return "the block has a version that this program does not know";
    case RunBlockError::kHead:
      return "the block's head is broken";
    case RunBlockError::kKeys:
      return "the block's keys are no ascending keys";
    case RunBlockError::kTombstones:
      return "the block's tombstones are broken";
    case RunBlockError::kValues:
      return "the block's values do not fill it";
  }
  return "";
}

Result<void, RunBlockError> DecodeRunBlock(std::string_view payload,
                                           ValueFormat format,
                                           RunBlock& block) {
  ByteReader reader(payload);
  const auto first_byte = reader.U8();
  if (!first_byte.has_value()) return Unexpected(RunBlockError::kHead);
  if (*first_byte >> 4 != kVersion || (*first_byte & 0xe) != 0) {
    return Unexpected(RunBlockError::kVersion);
  }
  const auto count = reader.Varint();
  if (!count.has_value() || *count == 0 || *count > kMaxRunBlockRecords) {
    return Unexpected(RunBlockError::kHead);
  }
  const auto first_key = reader.U64();
  if (!first_key.has_value()) return Unexpected(RunBlockError::kHead);
  block.keys.resize(*count);
  block.keys.front() = *first_key;
  const auto used = RiceDecode(payload.substr(reader.position()), block.keys);
  if (!used.has_value() || !reader.Raw(*used).has_value()) {
    return Unexpected(RunBlockError::kKeys);
  }
  block.tombstones = {};
  block.value_ends.clear();
  block.fixed_bytes = format.kind == ValueKind::kFixed ? format.bytes : 0;
  if ((*first_byte & kHasTombstones) != 0) {
    NEPHILA_RETURN_IF_ERROR(DecodeTombstones(reader, block));
  }
  if (format.kind == ValueKind::kVariable || !block.tombstones.empty()) {
    NEPHILA_RETURN_IF_ERROR(DecodeSizes(reader, format, block));
  }
  const uint64_t value_bytes = block.value_ends.empty()
                                   ? uint64_t{block.fixed_bytes} * *count
                                   : block.value_ends.back();
  if (reader.remaining() != value_bytes) {
    return Unexpected(RunBlockError::kValues);
  }
  block.values = payload.substr(reader.position());
  return {};
}

void RunBlockBuilder::CheckAscends(uint64_t key) {
  NEPHILA_CHECK(!last_key_.has_value() || *last_key_ < key);
  last_key_ = key;
}

void RunBlockBuilder::Push(uint64_t key, std::string_view value,
                           uint64_t cost) {
  CheckAscends(key);
  keys_.push_back(key);
  if (format_.kind == ValueKind::kNone) return;
  values_ += value;
  value_ends_.push_back(values_.size());
  cost_ends_.push_back((cost_ends_.empty() ? 0 : cost_ends_.back()) + cost);
}

void RunBlockBuilder::Add(uint64_t key, std::string_view value) {
  uint64_t cost = value.size();
  if (format_.kind == ValueKind::kVariable) cost += VarintBytes(value.size());
  Push(key, value, cost);
}

void RunBlockBuilder::AddTombstone(uint64_t key) {
  tombstones_.push_back(keys_.size());
  Push(key, {}, 0);
}

size_t RunBlockBuilder::AddKeys(std::span<const uint64_t> keys) {
  NEPHILA_CHECK(format_.kind == ValueKind::kNone);
  const auto taken =
      keys.first(std::min(keys.size(), kMaxRecords - keys_.size()));
  if (taken.empty()) return 0;
  CheckAscends(taken.front());
  const bool ascends = std::adjacent_find(taken.begin(), taken.end(),
                                          [](uint64_t a, uint64_t b) {
                                            return a >= b;
                                          }) == taken.end();
  NEPHILA_CHECK(ascends);
  last_key_ = taken.back();
  keys_.insert(keys_.end(), taken.begin(), taken.end());
  return taken.size();
}

bool RunBlockBuilder::full() const {
  return keys_.size() >= kMaxRecords ||
         (!cost_ends_.empty() && cost_ends_.back() >= kMaxCostBytes);
}

size_t RunBlockBuilder::ChooseCount(unsigned& parameter) const {
  std::span<const uint64_t> keys(keys_);
  keys = keys.subspan(begin_);
  keys = keys.first(std::min(keys.size(), kMaxRunBlockRecords));
  const uint64_t dropped =
      begin_ == 0 || cost_ends_.empty() ? 0 : cost_ends_[begin_ - 1];
  const uint64_t bitmap_bits = tombstones_.empty() ? 0 : 1;
  const auto beside = [&](size_t count) {
    const uint64_t cost =
        cost_ends_.empty() ? 0 : cost_ends_[begin_ + count - 1] - dropped;
    return kHeadBits + 8 * cost + bitmap_bits * (count + 7);
  };
  const auto fit = [&] {
    const size_t count = RiceFit(keys, parameter, kRunBlockPayload * 8, beside);
    // A record that fits into no block makes one of its own.
    return std::max<size_t>(count, 1);
  };
  const auto best = [&](size_t count) {
    return RiceParameter(keys[count - 1] - keys[0], count - 1);
  };
  parameter = best(keys.size());
  const size_t guess = fit();
  const unsigned better = best(guess);
  if (better == parameter) return guess;
  parameter = better;
  return fit();
}

void RunBlockBuilder::AppendValues(size_t end,
                                   std::span<const size_t> tombstones,
                                   std::string& payload) const {
  if (format_.kind == ValueKind::kNone) return;
  const auto end_of = [&](size_t i) { return i == 0 ? 0 : value_ends_[i - 1]; };
  if (format_.kind == ValueKind::kVariable) {
    ByteWriter writer(payload);
    for (size_t i = begin_; i < end; ++i) {
      if (!tombstones.empty() && tombstones.front() == i) {
        tombstones = tombstones.subspan(1);
        continue;
      }
      writer.Varint(end_of(i + 1) - end_of(i));
    }
  }
  payload.append(values_, end_of(begin_), end_of(end) - end_of(begin_));
}

std::optional<RunBlockShape> RunBlockBuilder::Cut(bool all,
                                                  std::string& payload) {
  const size_t left = keys_.size() - begin_;
  unsigned parameter = 0;
  const size_t count = left == 0 ? 0 : ChooseCount(parameter);
  if (count == left && (!all || left == 0)) {
    DropCut();
    return {};
  }
  const size_t end = begin_ + count;
  const size_t dead = static_cast<size_t>(
      std::lower_bound(tombstones_.begin(), tombstones_.end(), end) -
      tombstones_.begin());
  const auto tombstones = std::span<const size_t>(tombstones_).first(dead);
  const std::span<const uint64_t> keys(keys_.data() + begin_, count);
  payload.clear();
  ByteWriter writer(payload);
  writer.U8(
      static_cast<uint8_t>(kVersion << 4 | (dead == 0 ? 0 : kHasTombstones)));
  writer.Varint(count);
  writer.U64(keys.front());
  RiceEncode(keys, parameter, payload);
  if (dead != 0) {
    std::string bitmap(BitmapBytes(count), '\0');
    for (const size_t i : tombstones) {
      const size_t bit = i - begin_;
      bitmap[bit / 8] = static_cast<char>(bitmap[bit / 8] | 1 << (bit % 8));
    }
    writer.Raw(bitmap);
  }
  AppendValues(end, tombstones, payload);
  const RunBlockShape shape{keys.front(), keys.back(),
                            static_cast<uint16_t>(count),
                            static_cast<uint16_t>(dead)};
  tombstones_.erase(tombstones_.begin(),
                    tombstones_.begin() + static_cast<ptrdiff_t>(dead));
  begin_ = end;
  return shape;
}

void RunBlockBuilder::DropCut() {
  if (begin_ == 0) return;
  const auto cut = static_cast<ptrdiff_t>(begin_);
  keys_.erase(keys_.begin(), keys_.begin() + cut);
  for (size_t& tombstone : tombstones_) tombstone -= begin_;
  if (format_.kind != ValueKind::kNone) {
    const uint64_t value_bytes = value_ends_[begin_ - 1];
    const uint64_t cost = cost_ends_[begin_ - 1];
    values_.erase(0, value_bytes);
    // A value of 16 MiB must not keep its memory for the rest of a part.
    if (values_.capacity() > 4 * kMaxCostBytes) values_.shrink_to_fit();
    value_ends_.erase(value_ends_.begin(), value_ends_.begin() + cut);
    cost_ends_.erase(cost_ends_.begin(), cost_ends_.begin() + cut);
    for (uint64_t& end : value_ends_) end -= value_bytes;
    for (uint64_t& end : cost_ends_) end -= cost;
  }
  begin_ = 0;
}

}  // namespace nephila::drum
