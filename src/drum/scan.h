// Scan: the records of a store in the order of their keys.
#pragma once

#include <bitset>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace nephila::drum {

// Shards are the low 10 bits of a key (url/keys.h): a store is split over
// machines by one scan with a set of them.
inline constexpr int kScanShardBits = 10;
using ShardSet = std::bitset<1 << kScanShardBits>;

struct ScanRange {
  uint64_t first = 0;
  uint64_t last = std::numeric_limits<uint64_t>::max();  // included
  std::optional<ShardSet> shards = std::nullopt;
};

// Threads: one. Reads ahead sequentially; a range reads only its own blocks.
class Scan {
 public:
  virtual ~Scan() = default;
  virtual bool AtEnd() const = 0;
  virtual uint64_t key() const = 0;
  virtual std::string_view value() const = 0;
  virtual Status Next() = 0;
};

}  // namespace nephila::drum
