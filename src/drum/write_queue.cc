#include "drum/write_queue.h"

namespace nephila::drum {

WriteQueue::~WriteQueue() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (in_flight_ == 0) return;
    }
    if (workers_.Help(Workers::Urgency::kUrgent)) continue;
    MutexLock lock(mutex_);
    if (in_flight_ > 0) changed_.Wait(mutex_);
  }
}

void WriteQueue::Run(Write& write) {
  Status status = write();
  MutexLock lock(mutex_);
  --in_flight_;
  if (!status) {
    if (status.error().code == ErrorCode::kNoSpace) {
      without_space_.push_back(std::move(write));
      no_space_ = std::move(status).error();
    } else if (!fatal_) {
      fatal_ = std::move(status).error();
    }
  }
  changed_.NotifyAll();
}

void WriteQueue::Post(Write write) {
  {
    MutexLock lock(mutex_);
    ++in_flight_;
  }
  workers_.Post([this, write = std::move(write)]() mutable { Run(write); },
                Workers::Urgency::kUrgent);
}

Status WriteQueue::Retry() {
  std::vector<Write> again;
  {
    MutexLock lock(mutex_);
    if (fatal_) return Unexpected(*fatal_);
    again.swap(without_space_);
    no_space_.reset();
    in_flight_ += again.size();
  }
  for (Write& write : again) Run(write);
  MutexLock lock(mutex_);
  if (fatal_) return Unexpected(*fatal_);
  if (no_space_) return Unexpected(*no_space_);
  return {};
}

Status WriteQueue::WaitUntilAtMost(size_t in_flight) {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (fatal_) return Unexpected(*fatal_);
      if (no_space_) return Unexpected(*no_space_);
      if (in_flight_ <= in_flight) return {};
    }
    if (workers_.Help(Workers::Urgency::kUrgent)) continue;
    MutexLock lock(mutex_);
    // Nothing waits, so a worker has the rest: it will notify.
    if (in_flight_ > in_flight) changed_.Wait(mutex_);
  }
}

Status WriteQueue::Settle() {
  NEPHILA_RETURN_IF_ERROR(Retry());
  return WaitUntilAtMost(0);
}

}  // namespace nephila::drum
