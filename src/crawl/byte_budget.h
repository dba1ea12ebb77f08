// ByteBudget: a number of bytes that several threads share, such as what may
// be on its way from the downloaders to the frontier (memory_plan.h).
//
// ByteCharge: the bytes of a budget that one object uses. It moves with the
// object from thread to thread and gives the bytes back when the object is
// destroyed.
//   Threads: ByteBudget any; a ByteCharge belongs to one thread at a time.
//   Cost: one atomic operation for each change
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace nephila::crawl {

class ByteBudget {
 public:
  explicit ByteBudget(uint64_t limit = std::numeric_limits<uint64_t>::max())
      : limit_(limit) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // Takes the bytes, or returns false and takes none if the limit does not
  // allow them.
  bool TryTake(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > limit_ || bytes > limit_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes,
                                          std::memory_order_relaxed));
    return true;
  }
  // Takes the bytes even if the limit does not allow them.
  void Take(uint64_t bytes) {
    used_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void Give(uint64_t bytes) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  bool IsUsedUp() const { return used() >= limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

class ByteCharge {
 public:
  // Charges nobody.
  ByteCharge() = default;
  // `budget` must outlive the charge; null charges nobody.
  explicit ByteCharge(ByteBudget* budget) : budget_(budget) {}
  ~ByteCharge() { Clear(); }
  // A copy of an object is charged to nobody.
  ByteCharge(const ByteCharge& /*other*/) {}
  ByteCharge& operator=(const ByteCharge& other) {
    if (this == &other) return *this;
    Clear();
    budget_ = nullptr;
    return *this;
  }
  ByteCharge(ByteCharge&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  ByteCharge& operator=(ByteCharge&& other) noexcept {
    if (this == &other) return *this;
    Clear();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  // As those of ByteBudget.
  bool TryGrow(uint64_t bytes) {
    if (budget_ != nullptr && !budget_->TryTake(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  void Grow(uint64_t bytes) {
    if (budget_ != nullptr) budget_->Take(bytes);
    bytes_ += bytes;
  }
  // Sets the charge to `bytes`, even if the limit does not allow them.
  void Set(uint64_t bytes) {
    if (bytes > bytes_) return Grow(bytes - bytes_);
    if (budget_ != nullptr) budget_->Give(bytes_ - bytes);
    bytes_ = bytes;
  }
  void Clear() { Set(0); }
  uint64_t bytes() const { return bytes_; }

 private:
  ByteBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace nephila::crawl
