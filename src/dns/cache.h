// Cache: what is known about names, for as long as it holds, in fixed memory.
//
// When the memory is used up a name that was not asked for lately goes (CLOCK:
// a hand goes round, and passes a name over once for each time it was used
// since). Absence is remembered like presence.
//   In: names, hostile (the hash is keyed)   Out: answers
//   Threads: one. Cost: a hash table's; eviction is O(1) amortised. Memory: at
//   most what was given, by the count of MemoryOf, which allows for the table
//   and the allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "dns/answer.h"

namespace nephila::dns {

// The hash of names, which come from the web: keyed, so that nobody can aim at
// collisions.
struct NameHash {
  using is_transparent = void;
  uint64_t seed;
  size_t operator()(std::string_view name) const;
};

// An Answer without what belongs to one question.
struct CachedAnswer {
  Outcome outcome = Outcome::kNoSuchName;
  std::vector<net::IpAddress> addresses;
  std::vector<RefusedAddress> refused;
  std::optional<net::Endpoint> server;
  std::string_view why;
  MonoTime expires;
};

class Cache {
 public:
  // `seed` keys the hash. With 0 bytes it remembers nothing.
  Cache(uint64_t memory_bytes, uint64_t seed);
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Null if unknown or no longer true; valid until the next call.
  const CachedAnswer* Find(std::string_view name, MonoTime now);
  // Replaces what was known. What does not hold after `now`, or is larger than
  // the whole cache, is not remembered.
  void Insert(std::string_view name, CachedAnswer answer, MonoTime now);
  void Clear();

  size_t entries() const { return ring_.size(); }
  uint64_t memory_bytes() const { return used_bytes_; }
  uint64_t evictions() const { return evictions_; }

  static uint64_t MemoryOf(std::string_view name, const CachedAnswer& answer);

 private:
  struct Node {
    CachedAnswer answer;
    uint64_t bytes = 0;
    size_t place = 0;  // in the ring
    bool used = false;
  };
  using Map = std::unordered_map<std::string, Node, NameHash, std::equal_to<>>;

  void Erase(Map::iterator found);
  void EvictOne();

  const uint64_t limit_bytes_;
  uint64_t used_bytes_ = 0;
  uint64_t evictions_ = 0;
  Map map_;
  std::vector<Map::value_type*> ring_;  // nodes of a map do not move
  size_t hand_ = 0;
};

}  // namespace nephila::dns
