// BodyPool: the one memory for the bodies of all transfers, of all threads
// (`fetch.body_memory`). When it is used up, the slowest transfers are
// truncated, so that ten thousand slow drips hold no more than it has and the
// fast ones go on.
//
//   BodyPool        the memory: blocks of one size, so that it never has holes
//   BodyShare       what one thread's engine holds of it; says how much it is
//                   asked to give back (Pressure)
//   Body            the bytes of one transfer, as a list of views
//   SlowestTransfers   which of an engine's transfers to truncate for that
//
// An engine asks Pressure() once a turn of its loop, which costs two loads, and
// truncates (Truncation::kPool) the slowest of its own until so much is free.
// Engines are asked in proportion to what they hold, so nobody has to know
// another thread's transfers, and with thousands each, the slowest of all are
// close to the slowest of each. What is finished and waits for parse or store
// counts too, but cannot be asked for: if a Body gets no block though all that
// was, its own transfer is the one to truncate.
//
// Blocks are 8 KiB: a mean page of 21 KB takes three and wastes a sixth; a
// transfer of which little has come holds no more than that.
//   Threads: any, except that a Body belongs to one at a time.
//   Cost: a mutex around a stack for a block; a body is given back in one go.
//   Memory: mapped at once, but touched only as far as it was ever in use.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace nephila::fetch {

class BodyPool {
 public:
  static constexpr size_t kBlockBytes = size_t{8} << 10;

  // Rounded down to whole blocks, at least one.
  static Result<std::unique_ptr<BodyPool>> Make(uint64_t capacity_bytes);
  // REQUIRES: every body was given back.
  ~BodyPool();
  BodyPool(const BodyPool&) = delete;
  BodyPool& operator=(const BodyPool&) = delete;

  uint64_t capacity_bytes() const { return blocks_ * kBlockBytes; }
  uint64_t used_bytes() const {
    return used_blocks_.load(std::memory_order_relaxed) * kBlockBytes;
  }

 private:
  friend class BodyShare;
  BodyPool(char* memory, size_t blocks);

  // Null: used up.
  char* Take() NEPHILA_EXCLUDES(mutex_);
  // The blocks that the pieces begin.
  void Give(std::span<const std::string_view> pieces) NEPHILA_EXCLUDES(mutex_);

  char* const memory_;
  const size_t blocks_;
  std::atomic<uint64_t> used_blocks_{0};
  Mutex mutex_;
  size_t fresh_ NEPHILA_GUARDED_BY(mutex_) = 0;  // never used from here on
  // The last one given back is the first to be taken: its memory is warm.
  std::vector<uint32_t> free_ NEPHILA_GUARDED_BY(mutex_);
};

class BodyShare {
 public:
  // The pool outlives it, and it outlives its bodies.
  explicit BodyShare(BodyPool& pool) : pool_(pool) {}
  ~BodyShare();
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  uint64_t held_bytes() const {
    return held_blocks_.load(std::memory_order_relaxed) * BodyPool::kBlockBytes;
  }
  // How much the owner should give back now: nothing below seven eighths of
  // the pool, else its part of what it takes to come to three quarters.
  uint64_t Pressure() const;

 private:
  friend class Body;
  char* Take();
  void Give(std::span<const std::string_view> pieces);

  BodyPool& pool_;
  std::atomic<uint64_t> held_blocks_{0};
};

// May travel to another thread; the share stays whose it was.
class Body {
 public:
  Body() = default;
  explicit Body(BodyShare* share) : share_(share) {}
  Body(Body&& other) noexcept;
  Body& operator=(Body&& other) noexcept;
  ~Body() { Clear(); }

  // Empty, for a transfer of that share's engine.
  void Begin(BodyShare* share);
  // Copies bytes to the end. How many: fewer than all if the pool is used up.
  // REQUIRES: a share.
  size_t Append(std::string_view bytes);
  // Gives all blocks back; keeps the list's memory.
  void Clear();

  bool empty() const { return size_bytes_ == 0; }
  uint64_t size_bytes() const { return size_bytes_; }
  // What Clear would give back.
  uint64_t held_bytes() const { return pieces_.size() * BodyPool::kBlockBytes; }
  // The bytes, until the next Append or Clear.
  std::span<const std::string_view> pieces() const { return pieces_; }

 private:
  BodyShare* share_ = nullptr;
  uint64_t size_bytes_ = 0;
  std::vector<std::string_view> pieces_;  // each in a block of its own
};

// A transfer that could be truncated.
struct BodyProgress {
  uint64_t held_bytes = 0;      // of the pool
  uint64_t received_bytes = 0;  // by the transfer, since its first byte
  std::chrono::nanoseconds age{};
};

// The positions of those to truncate, slowest first, until they hold
// `bytes_to_free` together. Those that hold nothing are not named.
//   Cost: linear, and log n for each that is named.
std::vector<size_t> SlowestTransfers(std::span<const BodyProgress> transfers,
                                     uint64_t bytes_to_free);

}  // namespace nephila::fetch
