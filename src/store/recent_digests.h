// RecentDigests: payloads that were archived lately, so that the same payload
// again becomes a revisit record that points at the first (users ask for it as
// deduplication).
//
// Bounded: one ring of bytes holds the latest originals, one table finds them,
// both of a size that is fixed at the start; the oldest is forgotten first.
// Forgetting costs space in the archive, never a page.
//
// What a revisit may name (design: a record that cannot be lost while the
// revisit stays): an earlier record of its own stream, since a restart cuts a
// stream only behind whatever it keeps; or a record of another stream that a
// checkpoint covers. Find applies the rule; Cover moves the mark.
//
// A restart begins with none. Threads: one. Cost: one cache miss or two a page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/digest.h"
#include "store/position.h"
#include "store/unit_maker.h"

namespace nephila::store {

class RecentDigests {
 public:
  // About `memory_bytes` in all; 0 remembers nothing.
  explicit RecentDigests(uint64_t memory_bytes);

  // The record with this payload that a revisit in `stream` may name.
  std::optional<Original> Find(const Digest& payload, uint32_t stream) const;
  // A response whose unit ends at `end` of `stream`. A payload that is known
  // keeps its first record, if a revisit in `stream` could name that one.
  void Add(const Digest& payload, const Original& original, uint32_t stream,
           Position end);
  // A durable checkpoint names this position of the stream.
  void Cover(uint32_t stream, Position position);

  uint64_t memory_bytes() const {
    return ring_.size() + slots_.size() * sizeof(slots_[0]);
  }
  // How many are remembered at most, if all URLs had this length.
  uint64_t CapacityFor(size_t url_bytes) const;

 private:
  struct Entry {
    Digest payload;
    uint32_t stream = 0;
    Position end;
    Original original;
  };

  std::optional<Entry> Read(uint64_t place) const;
  std::optional<Entry> Lookup(const Digest& payload) const;
  bool MayName(const Entry& entry, uint32_t stream) const;
  uint64_t BucketOf(const Digest& payload) const;
  void CopyIn(uint64_t place, std::string_view bytes);
  void CopyOut(uint64_t place, size_t size, char* out) const;

  // Places count bytes since the start; place p is ring_[p % size].
  std::string ring_;
  uint64_t head_ = 0;  // where the next entry goes
  // Groups of kWays places, by digest; 0 is free, others are place + 1.
  std::vector<uint64_t> slots_;
  std::map<uint32_t, Position> covered_;
};

}  // namespace nephila::store
