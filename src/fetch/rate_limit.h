// RateLimit: what all transfers of all threads may take together, in bytes and
// pages a second (`fetch.max_bytes_per_second`, `fetch.max_pages_per_second`).
//
// Two token buckets. Each is one number: the time at which it will have paid
// for what was taken. A page may begin, and a socket may be read, when that
// time has come; bytes are counted when they are there, so the byte bucket may
// go into debt by what one read brings, and pays it back before the next. A
// bucket that was idle saves up a tenth of a second, no more. A new limit holds
// at once; what is owed is then paid at the new rate.
//
//   while (limit.TakePage()) start(next);      else wake at WhenPageAllowed()
//   if (limit.MayRead()) limit.CountBytes(n);  else wake at WhenReadAllowed()
//
//   Threads: any, without a lock.   Cost: a reading of the clock and an atomic
//   exchange; a load where there is no limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "config/settings.h"

namespace nephila::fetch {

class TokenBucket {
 public:
  static constexpr std::chrono::nanoseconds kSaved =
      std::chrono::milliseconds(100);

  // Tokens a second; 0: no limit.
  void SetRate(uint64_t rate, MonoTime now);
  uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

  // Takes `tokens`, whether they are there or not.
  void Take(uint64_t tokens, MonoTime now);
  // Takes one, if they are there.
  bool TryTake(MonoTime now);
  // From when on there are some; a time that has passed if there are.
  MonoTime WhenAllowed() const;

 private:
  // What `tokens` cost, rounded up, so that the rate is never exceeded.
  static int64_t CostNs(uint64_t tokens, uint64_t rate);

  std::atomic<uint64_t> rate_{0};
  std::atomic<int64_t> paid_ns_{0};  // MonoTime
};

class RateLimit {
 public:
  // The clock outlives it.
  RateLimit(const config::FetchSettings& settings, const Clock& clock);

  // At any time, from any thread; 0: no limit.
  void SetBytesPerSecond(uint64_t rate) { bytes_.SetRate(rate, clock_.Now()); }
  void SetPagesPerSecond(uint64_t rate) { pages_.SetRate(rate, clock_.Now()); }

  // True: a page may begin, and was counted.
  bool TakePage();
  MonoTime WhenPageAllowed() const;

  bool MayRead() const;
  MonoTime WhenReadAllowed() const { return bytes_.WhenAllowed(); }
  void CountBytes(uint64_t bytes);

 private:
  const Clock& clock_;
  TokenBucket bytes_;
  TokenBucket pages_;
};

}  // namespace nephila::fetch
