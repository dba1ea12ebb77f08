// RunBlock, RunBlockBuilder: the payload of a run's block, in and out.
//
//   u8 version and flags, varint count, u64 first key, gaps (rice.h),
//   a bit per record if there is a tombstone, varint sizes of kVariable
//   values, values. A tombstone has neither size nor value.
//
// Threads: one per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "drum/block_file.h"
#include "drum/value.h"

namespace nephila::drum {

// With header and padding. Only a record that does not fit has more.
inline constexpr size_t kRunBlockBytes = size_t{64} << 10;
inline constexpr size_t kRunBlockPayload = kRunBlockBytes - kFrameHeaderBytes;
inline constexpr size_t kMaxRunBlockRecords = 65535;
// A block of one record of kMaxValueBytes, with room for what else is in it.
inline constexpr uint64_t kMaxRunBlockPages =
    RoundUpToPage(kMaxValueBytes + kPageBytes) / kPageBytes;

// A decoded block. Values point into the payload.
struct RunBlock {
  std::vector<uint64_t> keys;
  std::string_view tombstones;  // bitmap; empty if there are none
  std::string_view values;
  // Where the value of each record ends; empty if `fixed_bytes` says it.
  std::vector<uint32_t> value_ends;
  uint32_t fixed_bytes = 0;

  bool is_tombstone(size_t i) const {
    return !tombstones.empty() &&
           ((static_cast<unsigned char>(tombstones[i / 8]) >> (i % 8)) & 1) !=
               0;
  }
  std::string_view value(size_t i) const {
    if (value_ends.empty()) {
      return values.substr(i * fixed_bytes, fixed_bytes);
    }
    const size_t begin = i == 0 ? 0 : value_ends[i - 1];
    return values.substr(begin, value_ends[i] - begin);
  }
};

enum class RunBlockError : uint8_t {
  kVersion,  // of a later program
  kHead,     // truncated, or no count of records
  kKeys,     // not the code of so many ascending keys
  kTombstones,
  kValues,
};
std::string_view RunBlockErrorText(RunBlockError error);

// Into `block`, whose memory is used again. Trusts nothing in the payload.
Result<void, RunBlockError> DecodeRunBlock(std::string_view payload,
                                           ValueFormat format, RunBlock& block);

struct RunBlockShape {
  uint64_t first_key = 0;
  uint64_t last_key = 0;
  uint16_t count = 0;
  uint16_t tombstones = 0;
};

// Gathers records, and cuts them into blocks that are as full as can be.
class RunBlockBuilder {
 public:
  explicit RunBlockBuilder(ValueFormat format) : format_(format) {}

  // REQUIRES: ascending keys, values as the format says, not full().
  void Add(uint64_t key, std::string_view value);
  void AddTombstone(uint64_t key);
  // As many as there is room for; returns how many. For kNone.
  size_t AddKeys(std::span<const uint64_t> keys);

  // Whether blocks are to be cut before more is added.
  bool full() const;
  // Cuts a block off the front, into `payload`. Nothing, once what is left
  // would not fill one; or, with `all`, once nothing is left.
  std::optional<RunBlockShape> Cut(bool all, std::string& payload);

 private:
  // Room for two of the longest blocks: moving the rest to the front is then
  // rare.
  static constexpr size_t kMaxRecords = 2 * kMaxRunBlockRecords;
  static constexpr size_t kMaxCostBytes = 4 * kRunBlockBytes;

  void CheckAscends(uint64_t key);
  void Push(uint64_t key, std::string_view value, uint64_t cost);
  // How many records make up the next block, and the best parameter for them.
  size_t ChooseCount(unsigned& parameter) const;
  void AppendValues(size_t end, std::span<const size_t> tombstones,
                    std::string& payload) const;
  void DropCut();

  const ValueFormat format_;
  // Records from begin_ on are yet to be cut.
  size_t begin_ = 0;
  std::vector<uint64_t> keys_;
  // The positions in keys_ of tombstones, ascending.
  std::vector<size_t> tombstones_;
  // Unless the format is kNone, for each of keys_: where its value ends in
  // values_, and the bytes of all values up to it with their sizes.
  std::vector<uint64_t> value_ends_;
  std::vector<uint64_t> cost_ends_;
  std::string values_;
  // Of records that are gone from the vectors or not.
  std::optional<uint64_t> last_key_;
};

}  // namespace nephila::drum
