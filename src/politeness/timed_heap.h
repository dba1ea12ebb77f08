// TimedHeap: which of many things is due first, where due times change.
//
// Things are small numbers, each at most once in the heap. Equal times come out
// in the order of the numbers, so that a run can be repeated.
//
// Threads: one. Cost: O(log n) to put, move or take; 16 bytes a thing, and 4
// for every number up to the largest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"

namespace nephila::politeness {

class TimedHeap {
 public:
  // Puts it in, or moves it.
  void Put(uint32_t thing, MonoTime time) {
    if (thing >= places_.size()) places_.resize(thing + 1, kNowhere);
    if (places_[thing] == kNowhere) {
      places_[thing] = static_cast<uint32_t>(heap_.size());
      heap_.push_back({time, thing});
      Up(heap_.size() - 1);
      return;
    }
    const size_t at = places_[thing];
    heap_[at].time = time;
    Up(at);
    Down(places_[thing]);
  }

  void Remove(uint32_t thing) {
    if (!Contains(thing)) return;
    const size_t at = places_[thing];
    Swap(at, heap_.size() - 1);
    heap_.pop_back();
    places_[thing] = kNowhere;
    if (at == heap_.size()) return;
    const uint32_t moved = heap_[at].thing;
    Up(at);
    Down(places_[moved]);
  }

  bool Contains(uint32_t thing) const {
    return thing < places_.size() && places_[thing] != kNowhere;
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  // REQUIRES: not empty.
  MonoTime time() const {
    NEPHILA_CHECK(!heap_.empty());
    return heap_.front().time;
  }
  uint32_t front() const {
    NEPHILA_CHECK(!heap_.empty());
    return heap_.front().thing;
  }
  uint32_t Take() {
    NEPHILA_CHECK(!heap_.empty());
    const uint32_t thing = heap_.front().thing;
    Remove(thing);
    return thing;
  }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  struct Entry {
    MonoTime time;
    uint32_t thing;

    bool operator<(const Entry& other) const {
      return time != other.time ? time < other.time : thing < other.thing;
    }
  };

  void Swap(size_t a, size_t b) {
    std::swap(heap_[a], heap_[b]);
    places_[heap_[a].thing] = static_cast<uint32_t>(a);
    places_[heap_[b].thing] = static_cast<uint32_t>(b);
  }
  void Up(size_t at) {
    while (at > 0 && heap_[at] < heap_[(at - 1) / 2]) {
      Swap(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
  }
  void Down(size_t at) {
    while (true) {
      size_t least = at;
      for (const size_t child : {2 * at + 1, 2 * at + 2}) {
        if (child < heap_.size() && heap_[child] < heap_[least]) least = child;
      }
      if (least == at) return;
      Swap(at, least);
      at = least;
    }
  }

  std::vector<Entry> heap_;
  std::vector<uint32_t> places_;  // by thing
};

// LatestHeap: the same, but the thing that is due last comes first.
class LatestHeap {
 public:
  void Put(uint32_t thing, MonoTime time) { heap_.Put(thing, Mirror(time)); }
  void Remove(uint32_t thing) { heap_.Remove(thing); }
  bool empty() const { return heap_.empty(); }
  // REQUIRES: not empty.
  MonoTime time() const { return Mirror(heap_.time()); }
  uint32_t front() const { return heap_.front(); }

 private:
  static MonoTime Mirror(MonoTime time) {
    return MonoTime(-time.time_since_epoch());
  }

  TimedHeap heap_;
};

}  // namespace nephila::politeness
