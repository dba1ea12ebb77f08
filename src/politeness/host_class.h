// HostClass: how far a host is trusted with places that others need too.
//
// A host is proven once it delivered a complete response in good time in this
// life of the process. It is slow if its last transfer took longer than
// transfers usually take, or if it is not proven and did not answer the last
// time. Each lease has the class that its host had when it was given.
//
// ProvenHosts remembers hosts that have left memory.
//   Threads: one. Cost: constant; four bytes for each place.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nephila::politeness {

enum class HostClass : uint8_t { kProven = 0, kUnproven = 1, kSlow = 2 };
inline constexpr size_t kHostClasses = 3;

// Each host has one place, by its key, and a later host takes it from an
// earlier one. A wrong answer, one of four billion, costs a host nothing but a
// better place in the queue.
class ProvenHosts {
 public:
  explicit ProvenHosts(size_t hosts) : places_(std::bit_ceil(hosts * 2)) {}

  void Insert(uint64_t key) {
    if (marks_.empty()) marks_.resize(places_);
    marks_[PlaceOf(key)] = MarkOf(key);
  }
  void Erase(uint64_t key) {
    if (Contains(key)) marks_[PlaceOf(key)] = 0;
  }
  bool Contains(uint64_t key) const {
    return !marks_.empty() && marks_[PlaceOf(key)] == MarkOf(key);
  }

 private:
  // The low bits of a host's key are those of its domain; the high ones are as
  // good as random.
  size_t PlaceOf(uint64_t key) const { return (key >> 10) & (places_ - 1); }
  static uint32_t MarkOf(uint64_t key) {
    return static_cast<uint32_t>(key * 0x9E3779B97F4A7C15 >> 32) | 1;
  }

  size_t places_;
  std::vector<uint32_t> marks_;  // 0: none; empty until one is proven
};

}  // namespace nephila::politeness
