// BodyPool: the one memory for the bodies of all transfers, of all threads
// (`fetch.body_memory`). When it is used up, the slowest transfers are
// truncated, so that ten thousand slow drips hold no more than it has and the
// fast ones go on.
//
//   BodyPool        the memory: blocks of one size, so that it never has holes
//   BodyShare       what one thread's engine holds of it; says how much it is
//                   asked to give back (Pressure)
//   Body            the bytes of one transfer, as a list of views
//   RecentSpeed     how fast a transfer was lately
//   SlowestTransfers   which of an engine's transfers to truncate for that
//
// An engine asks Pressure() once a turn of its loop, which costs two loads, and
// truncates (Truncation::kPool) the slowest of its own until so much is free.
// Engines are asked in proportion to what their transfers hold, so nobody has
// to know another thread's, and with thousands each, the slowest of all are
// close to the slowest of each. What is finished (Body::Finished) and waits for
// parse or store cannot be asked for: transfers pay for it until they hold half
// of the pool and no further. Beyond that it is those stages that are slow, and
// the remedy is to begin no transfers (MayStart) until they have caught up. If
// a Body gets no block though all that was, it waits for one, or its own
// transfer is the one to truncate.
//
// Large heads are kept elsewhere, by the result and by libcurl, and count too:
// their transfer takes blocks for them and leaves them empty (Body::Charge).
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
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
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
  // Of bodies that are not finished.
  uint64_t in_flight_bytes() const {
    return in_flight_blocks_.load(std::memory_order_relaxed) * kBlockBytes;
  }
  // Whether new transfers should begin: not while bodies that wait for parse or
  // store have more than a quarter of the pool, and it is three quarters full.
  bool MayStart() const;

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
  std::atomic<uint64_t> in_flight_blocks_{0};  // counted by the shares
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
  uint64_t in_flight_bytes() const {
    return in_flight_blocks_.load(std::memory_order_relaxed) *
           BodyPool::kBlockBytes;
  }
  // How much the owner's transfers should give back now: nothing below seven
  // eighths of the pool, else their part of what it takes to come to three
  // quarters, or to half of it in transfers, whichever is less.
  uint64_t Pressure() const;
  // BodyPool::MayStart.
  bool MayStart() const { return pool_.MayStart(); }

 private:
  friend class Body;
  char* Take();
  // One that takes no memory until it is written to.
  char* TakeEmpty();
  void Give(std::span<const std::string_view> pieces, bool in_flight);
  void Finish(size_t blocks);

  BodyPool& pool_;
  std::atomic<uint64_t> held_blocks_{0};
  std::atomic<uint64_t> in_flight_blocks_{0};
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
  // REQUIRES: a share, and not finished.
  size_t Append(std::string_view bytes);
  // The transfer has so many bytes elsewhere: takes blocks for them that stay
  // empty, until Clear. False: the pool is used up. REQUIRES: as Append.
  bool Charge(uint64_t bytes);
  // The transfer is over, and what it holds waits for whoever reads it: no
  // longer the engine's to give back. Until Begin or Clear.
  void Finished();
  // Gives all blocks back; keeps the list's memory.
  void Clear();

  bool empty() const { return size_bytes_ == 0; }
  uint64_t size_bytes() const { return size_bytes_; }
  // What Clear would give back.
  uint64_t held_bytes() const {
    return (pieces_.size() + charged_.size()) * BodyPool::kBlockBytes;
  }
  // The bytes, until the next Append or Clear.
  std::span<const std::string_view> pieces() const { return pieces_; }

 private:
  BodyShare* share_ = nullptr;
  uint64_t size_bytes_ = 0;
  bool finished_ = false;
  std::vector<std::string_view> pieces_;   // each in a block of its own
  std::vector<std::string_view> charged_;  // empty ones, each a block
};

// The speed of a transfer in its last seconds: a mean over all of its time in
// which a byte weighs less the older it is, by a factor of e in kMemory. One
// that came fast and then stands still is slow after a few of those.
//   Cost: an exponential for each Count, some 20 ns.
class RecentSpeed {
 public:
  static constexpr std::chrono::seconds kMemory{5};

  // With the first byte.
  void Begin(MonoTime now);
  void Count(uint64_t bytes, MonoTime now);
  double BytesPerSecond(MonoTime now) const;

 private:
  MonoTime begin_{};
  MonoTime counted_{};  // the last time
  double weighed_ = 0;  // bytes by their weight at that time
};

// A transfer that could be truncated.
struct BodyProgress {
  uint64_t held_bytes = 0;      // of the pool
  uint64_t received_bytes = 0;  // by the transfer, since its first byte
  std::chrono::nanoseconds age{};
  // RecentSpeed; none: that of all its time, from the two above.
  std::optional<double> recent_bytes_per_second = std::nullopt;
};

// The positions of those to truncate, slowest first, until they hold
// `bytes_to_free` together. Those that hold nothing are not named.
//   Cost: linear, and log n for each that is named.
std::vector<size_t> SlowestTransfers(std::span<const BodyProgress> transfers,
                                     uint64_t bytes_to_free);

}  // namespace nephila::fetch
