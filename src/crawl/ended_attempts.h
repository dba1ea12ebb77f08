// EndedAttempts: attempts that are over by entries of the journal, whose URLs
// the rolled-back frontier may still hold: each is skipped when it comes up.
//   In: keys of attempts   Out: whether one was ended   Memory, and bytes of a
//   manifest: about 70 and 8 a key
//
// A key goes when its URL comes up. One whose URL never does (the scope or the
// rules of its site have changed since) stays, so there are at most `most`: the
// oldest goes then, and the worst that comes of it is a page fetched twice. A
// restart adds as many as a crawl fetches between two checkpoints, so that is
// after some hundred crashes, if none of them ever came up.
//   Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "base/bytes.h"

namespace nephila::crawl {

class EndedAttempts {
 public:
  static constexpr size_t kMost = size_t{1} << 20;
  explicit EndedAttempts(size_t most = kMost) : most_(most) {}

  void Add(uint64_t key) {
    if (!keys_.emplace(key, next_).second) return;
    order_.push_back({key, next_++});
    while (keys_.size() > most_) {
      if (IsThere(order_.front())) keys_.erase(order_.front().key);
      order_.pop_front();
    }
  }
  // Whether it was there; it is not any more.
  bool Take(uint64_t key) {
    if (keys_.empty() || keys_.erase(key) == 0) return false;
    // Those that came up leave their place, until it is worth the while.
    if (order_.size() > 2 * keys_.size() + kSlack) {
      std::erase_if(order_, [this](Place place) { return !IsThere(place); });
    }
    return true;
  }
  // Adds all of another, which may have room for more.
  void TakeAll(const EndedAttempts& other) {
    for (const Place& place : other.order_) {
      if (other.IsThere(place)) Add(place.key);
    }
  }
  bool Contains(uint64_t key) const { return keys_.contains(key); }
  size_t size() const { return keys_.size(); }

  // The oldest first.
  void Write(ByteWriter& writer) const {
    writer.Varint(keys_.size());
    for (const Place& place : order_) {
      if (IsThere(place)) writer.U64(place.key);
    }
  }
  bool Read(ByteReader& reader) {
    const auto count = reader.Varint();
    if (!count.has_value()) return false;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto key = reader.U64();
      if (!key.has_value()) return false;
      Add(*key);
    }
    return true;
  }

 private:
  struct Place {
    uint64_t key;
    uint64_t number;  // never used twice
  };
  static constexpr size_t kSlack = 64;

  bool IsThere(const Place& place) const {
    const auto found = keys_.find(place.key);
    return found != keys_.end() && found->second == place.number;
  }

  size_t most_;
  uint64_t next_ = 0;
  std::unordered_map<uint64_t, uint64_t> keys_;  // and the number of its place
  std::deque<Place> order_;                      // with some that are gone
};

}  // namespace nephila::crawl
