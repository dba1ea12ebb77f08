#include "fetch/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace nephila::fetch {
namespace {

constexpr double kNsPerSecond = 1e9;
// A debt of a year is one of for ever, and stays a number.
constexpr int64_t kMostDebtNs = int64_t{365} * 24 * 3600 * 1'000'000'000;

int64_t NsOf(MonoTime time) { return time.time_since_epoch().count(); }

}  // namespace

int64_t TokenBucket::CostNs(uint64_t tokens, uint64_t rate) {
  const double cost = std::ceil(static_cast<double>(tokens) * kNsPerSecond /
                                static_cast<double>(rate));
  return static_cast<int64_t>(std::min(cost, static_cast<double>(kMostDebtNs)));
}

void TokenBucket::SetRate(uint64_t rate, MonoTime now) {
  const uint64_t before = rate_.exchange(rate, std::memory_order_relaxed);
  const int64_t now_ns = NsOf(now);
  int64_t paid = paid_ns_.load(std::memory_order_relaxed);
  int64_t changed = 0;
  do {
    // A year's debt at most, so this is a number at any rates.
    const double owed =
        static_cast<double>(std::max<int64_t>(0, paid - now_ns));
    const double scaled =
        before == 0 || rate == 0
            ? 0
            : owed * static_cast<double>(before) / static_cast<double>(rate);
    changed = now_ns + static_cast<int64_t>(
                           std::min(scaled, static_cast<double>(kMostDebtNs)));
  } while (!paid_ns_.compare_exchange_weak(paid, changed,
                                           std::memory_order_relaxed));
}

void TokenBucket::Take(uint64_t tokens, MonoTime now) {
  const uint64_t rate = rate_.load(std::memory_order_relaxed);
  if (rate == 0) return;
  const int64_t now_ns = NsOf(now);
  const int64_t cost = CostNs(tokens, rate);
  int64_t paid = paid_ns_.load(std::memory_order_relaxed);
  int64_t changed = 0;
  do {
    changed = std::min(std::max(paid, now_ns - kSaved.count()) + cost,
                       now_ns + kMostDebtNs);
  } while (!paid_ns_.compare_exchange_weak(paid, changed,
                                           std::memory_order_relaxed));
}

bool TokenBucket::TryTake(MonoTime now) {
  const uint64_t rate = rate_.load(std::memory_order_relaxed);
  if (rate == 0) return true;
  const int64_t now_ns = NsOf(now);
  const int64_t cost = CostNs(1, rate);
  int64_t paid = paid_ns_.load(std::memory_order_relaxed);
  int64_t changed = 0;
  do {
    if (paid > now_ns) return false;
    changed = std::max(paid, now_ns - kSaved.count()) + cost;
  } while (!paid_ns_.compare_exchange_weak(paid, changed,
                                           std::memory_order_relaxed));
  return true;
}

MonoTime TokenBucket::WhenAllowed() const {
  if (rate_.load(std::memory_order_relaxed) == 0) return MonoTime();
  return MonoTime(
      std::chrono::nanoseconds(paid_ns_.load(std::memory_order_relaxed)));
}

RateLimit::RateLimit(const config::FetchSettings& settings, const Clock& clock)
    : clock_(clock) {
  SetBytesPerSecond(settings.max_bytes_per_second);
  SetPagesPerSecond(static_cast<uint64_t>(settings.max_pages_per_second));
}

// A page that could not be read would only wait with its connection open.
bool RateLimit::TakePage() {
  if (bytes_.rate() == 0 && pages_.rate() == 0) return true;
  const MonoTime now = clock_.Now();
  return bytes_.WhenAllowed() <= now && pages_.TryTake(now);
}

MonoTime RateLimit::WhenPageAllowed() const {
  return std::max(bytes_.WhenAllowed(), pages_.WhenAllowed());
}

bool RateLimit::MayRead() const {
  return bytes_.rate() == 0 || bytes_.WhenAllowed() <= clock_.Now();
}

void RateLimit::CountBytes(uint64_t bytes) {
  if (bytes_.rate() != 0) bytes_.Take(bytes, clock_.Now());
}

}  // namespace nephila::fetch
