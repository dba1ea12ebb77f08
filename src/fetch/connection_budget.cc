#include "fetch/connection_budget.h"

#include <algorithm>

#include "base/check.h"

namespace nephila::fetch {

bool ConnectionBudget::TryTake() {
  size_t used = used_.load(std::memory_order_relaxed);
  while (used < limit_) {
    if (used_.compare_exchange_weak(used, used + 1)) return true;
  }
  return false;
}

void ConnectionBudget::Take(size_t count) { used_.fetch_add(count); }

void ConnectionBudget::Give(size_t count) {
  if (count == 0) return;
  const size_t before = used_.fetch_sub(count);
  NEPHILA_CHECK(before >= count);
  if (waiting_.load() == 0) return;
  MutexLock lock(mutex_);
  ++gives_;
  given_.NotifyAll();
}

void ConnectionBudget::Join(Member* member) {
  MutexLock lock(mutex_);
  members_.push_back(member);
}

void ConnectionBudget::Leave(Member* member) {
  MutexLock lock(mutex_);
  std::erase(members_, member);
}

void ConnectionBudget::Squeeze(const Member* except, size_t count) {
  MutexLock lock(mutex_);
  for (Member* const member : members_) {
    if (member != except) member->CloseIdleSoon(count);
  }
}

void ConnectionBudget::WaitForGive(const Clock& clock, MonoTime deadline) {
  waiting_.fetch_add(1);
  {
    MutexLock lock(mutex_);
    const size_t before = gives_;
    while (gives_ == before && !clock.WaitUntil(given_, mutex_, deadline)) {
    }
  }
  waiting_.fetch_sub(1);
}

}  // namespace nephila::fetch
