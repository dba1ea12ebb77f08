#include "crawl/transfer_classes.h"

#include <algorithm>

#include "base/check.h"

namespace nephila::crawl {
namespace {

using std::chrono::nanoseconds;

// How much a single transfer counts for the mean.
constexpr int kMeanWeight = 32;

size_t Left(size_t most, size_t used) { return most - std::min(most, used); }

}  // namespace

nanoseconds TransferClasses::slow_after() const {
  return std::clamp<nanoseconds>(kSlowTimes * mean_, kSlowLeast, kSlowMost);
}

void TransferClasses::Start(uint64_t lease, HostClass host, size_t downloader,
                            MonoTime now) {
  const bool is_new =
      transfers_.emplace(lease, Transfer{host, downloader, now}).second;
  NEPHILA_CHECK(is_new);
  ++CountOf(host);
  if (host != HostClass::kSlow) watched_.emplace(now, lease);
}

bool TransferClasses::End(uint64_t lease, bool is_whole, MonoTime now) {
  const auto found = transfers_.find(lease);
  NEPHILA_CHECK(found != transfers_.end());
  const Transfer transfer = found->second;
  transfers_.erase(found);
  watched_.erase({transfer.start, lease});
  --CountOf(transfer.host);
  const nanoseconds took = now - transfer.start;
  const bool slow = took >= slow_after();
  // Slow servers do not decide what is usual.
  if (is_whole && transfer.host == HostClass::kProven) {
    mean_ += (std::min(took, slow_after()) - mean_) / kMeanWeight;
  }
  return slow;
}

politeness::LeaseLimits TransferClasses::Limits(size_t most,
                                                size_t free) const {
  const size_t others = count(HostClass::kUnproven) + count(HostClass::kSlow);
  politeness::LeaseLimits limits;
  limits.all = free;
  limits.slow = Left(MostSlow(most), count(HostClass::kSlow));
  limits.not_proven = Left(most - most / 2, others);
  limits.not_proven_if_free = Left(most - most / 8, others);
  return limits;
}

std::vector<TransferClasses::Ended> TransferClasses::EndSlow(size_t most,
                                                             bool others_wait,
                                                             MonoTime now) {
  std::vector<Ended> ended;
  auto at = watched_.begin();
  while (at != watched_.end() && at->first + slow_after() <= now) {
    Transfer& transfer = transfers_.at(at->second);
    if (count(HostClass::kSlow) < MostSlow(most)) {
      --CountOf(transfer.host);
      transfer.host = HostClass::kSlow;
      ++CountOf(transfer.host);
    } else if (others_wait) {
      ended.push_back({at->second, transfer.downloader});
    } else {
      return ended;
    }
    at = watched_.erase(at);
  }
  return ended;
}

MonoTime TransferClasses::NextSlow() const {
  if (watched_.empty()) return MonoTime::max();
  return watched_.begin()->first + slow_after();
}

}  // namespace nephila::crawl
