// Slots: things with small numbers that are used again.
//
// Threads: one. Cost: constant; memory is that of the most there ever were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace nephila::politeness {

template <typename T>
class Slots {
 public:
  uint32_t Add() {
    ++used_;
    if (free_.empty()) {
      things_.emplace_back();
      return static_cast<uint32_t>(things_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void Remove(uint32_t number) {
    --used_;
    things_[number] = T();
    free_.push_back(number);
  }
  // Stays where it is until it is removed.
  T& operator[](uint32_t number) { return things_[number]; }
  const T& operator[](uint32_t number) const { return things_[number]; }
  size_t size() const { return used_; }

 private:
  std::deque<T> things_;
  std::vector<uint32_t> free_;
  size_t used_ = 0;
};

}  // namespace nephila::politeness
