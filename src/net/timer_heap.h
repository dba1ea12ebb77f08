// TimerHeap: functions to call at a time, taken out in the order of time and,
// where that is equal, of their coming.
//
// A 4-ary heap of (time, order, slot); slots hold the functions and know their
// place in the heap, so a timer can be cancelled from the middle.
//   Threads: one. Cost: add, cancel and take O(log n); 24 bytes in the heap and
//   48 in the slot of each; no allocation besides growth, and besides what a
//   std::function takes for more than two captured words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"

namespace nephila::net {

// A timer that was; never one that will be. 0 is none.
enum class TimerId : uint64_t { kNone = 0 };

class TimerHeap {
 public:
  TimerId Add(MonoTime time, std::function<void()> function) {
    uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot].function = std::move(function);
    slots_[slot].place = heap_.size();
    heap_.push_back({time, next_order_++, slot});
    Up(heap_.size() - 1);
    return MakeId(slot);
  }

  // False if it was taken or cancelled before.
  bool Cancel(TimerId id) {
    const auto slot = static_cast<uint32_t>(static_cast<uint64_t>(id));
    if (slot >= slots_.size() || MakeId(slot) != id) return false;
    Remove(slots_[slot].place);
    return true;
  }

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  // REQUIRES: not empty.
  MonoTime first_time() const { return heap_[0].time; }
  // Grows with each timer: whoever was added later has a larger one.
  uint64_t first_order() const { return heap_[0].order; }
  uint64_t next_order() const { return next_order_; }

  std::function<void()> TakeFirst() {
    NEPHILA_CHECK(!heap_.empty());
    return Remove(0);
  }

 private:
  static constexpr size_t kWays = 4;

  struct Entry {
    MonoTime time;
    uint64_t order = 0;
    uint32_t slot = 0;
    bool Before(const Entry& other) const {
      return time != other.time ? time < other.time : order < other.order;
    }
  };
  struct Slot {
    std::function<void()> function;
    size_t place = 0;
    uint32_t generation = 1;
  };

  TimerId MakeId(uint32_t slot) const {
    return static_cast<TimerId>(
        static_cast<uint64_t>(slots_[slot].generation) << 32 | slot);
  }

  std::function<void()> Remove(size_t place) {
    const uint32_t slot = heap_[place].slot;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place < heap_.size()) {
      Put(place, last);
      Up(place);
      Down(slots_[last.slot].place);
    }
    std::function<void()> function = std::move(slots_[slot].function);
    slots_[slot].function = nullptr;
    if (++slots_[slot].generation == 0) slots_[slot].generation = 1;
    free_.push_back(slot);
    return function;
  }

  void Put(size_t place, const Entry& entry) {
    heap_[place] = entry;
    slots_[entry.slot].place = place;
  }

  void Up(size_t place) {
    const Entry entry = heap_[place];
    while (place > 0) {
      const size_t parent = (place - 1) / kWays;
      if (!entry.Before(heap_[parent])) break;
      Put(place, heap_[parent]);
      place = parent;
    }
    Put(place, entry);
  }

  void Down(size_t place) {
    const Entry entry = heap_[place];
    while (true) {
      const size_t first = place * kWays + 1;
      if (first >= heap_.size()) break;
      const size_t end = std::min(first + kWays, heap_.size());
      size_t least = first;
      for (size_t child = first + 1; child < end; ++child) {
        if (heap_[child].Before(heap_[least])) least = child;
      }
      if (!heap_[least].Before(entry)) break;
      Put(place, heap_[least]);
      place = least;
    }
    Put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  uint64_t next_order_ = 1;
};

}  // namespace nephila::net
