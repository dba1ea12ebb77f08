#include "drum/drum_workload_testing.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file_testing.h"
#include "base/random.h"
#include "drum/drum.h"

namespace nephila::drum {
namespace {

// With SmallOptions a pass writes a run from 32 KiB of records on, and a commit
// writes chunks of buckets with a page in them.
constexpr uint64_t kLargePasses = 6;
constexpr uint64_t kLargeBatch = 240;
constexpr uint64_t kSmallBatch = 8;
constexpr uint64_t kKeys = 900;
constexpr uint64_t kMaxValueText = 700;
constexpr uint64_t kMaxAux = 160;
// In steps, of which the whole has about a hundred.
constexpr uint64_t kMaxLife = 60;

}  // namespace

Workload::Workload(TestMachine& machine, FileSystem& fs)
    : store_({fs, machine.clock, machine.workers}, kDir, [this] {
        DrumOptions options = SmallOptions(kVariable, MakeDeadlineRule());
        options.parameters = [this] { return Fixed64(1000 + step_); };
        return options;
      }()) {
  for (uint64_t i = 0; i < kLargePasses; ++i) {
    steps_.insert(steps_.end(), {{Kind::kAdd, kLargeBatch / 2},
                                 {Kind::kCommit},
                                 {Kind::kAdd, kLargeBatch / 2},
                                 {Kind::kFlush},
                                 {Kind::kBeginCommit},
                                 {Kind::kAdd, kSmallBatch},
                                 {Kind::kWait},
                                 {Kind::kFinishCommit},
                                 {Kind::kDeliver, 40},
                                 {Kind::kCommit},
                                 {Kind::kCheckContents},
                                 {Kind::kDeliver, 30},
                                 {Kind::kDeliverAll}});
    if (i % 2 == 0) continue;
    for (int small = 0; small < 2; ++small) {
      steps_.insert(steps_.end(), {{Kind::kAdd, kSmallBatch},
                                   {Kind::kFlush},
                                   {Kind::kDeliverAll},
                                   {Kind::kCommit}});
    }
  }
}

Status Workload::Start() {
  step_ = 0;
  tuple_ = 0;
  return store_.Create();
}

Status Workload::Reopen(uint64_t generation) {
  NEPHILA_TRY(const uint64_t place, store_.Open(generation));
  step_ = place >> 32;
  tuple_ = place & 0xFFFFFFFF;
  return {};
}

Status Workload::AddAll(uint64_t count) {
  for (; tuple_ < count; ++tuple_) {
    // Of the place alone, so that a tuple is the same when it comes again.
    Random random(Place(step_, tuple_));
    const Operation operation = random.Chance(0.6)   ? Operation::kCheckUpdate
                                : random.Chance(0.5) ? Operation::kCheck
                                                     : Operation::kUpdate;
    const uint64_t key = KeyOf(random.Below(kKeys));
    std::string value;
    if (Updates(operation)) {
      value = Fixed64(1 + random.Below(kMaxLife)) +
              TextOf(random.Next(), random.Below(kMaxValueText));
    }
    const std::string aux = std::to_string(step_) + "." +
                            std::to_string(tuple_) + " " +
                            TextOf(random.Next(), random.Below(kMaxAux));
    NEPHILA_RETURN_IF_ERROR(store_.AddMakingRoom({operation, key, value, aux},
                                                 Place(step_, tuple_)));
  }
  return {};
}

Status Workload::Do(const Step& step) {
  switch (step.kind) {
    case Kind::kAdd:
      return AddAll(step.count);
    case Kind::kFlush:
      return store_.Flush();
    case Kind::kWait:
      return store_.Wait();
    case Kind::kDeliver: {
      NEPHILA_TRY(const size_t delivered, store_.Deliver(step.count));
      static_cast<void>(delivered);
      return {};
    }
    case Kind::kDeliverAll:
      return store_.DeliverAll();
    case Kind::kCommit: {
      NEPHILA_TRY(const uint64_t generation, store_.Commit(NextStep()));
      static_cast<void>(generation);
      return {};
    }
    case Kind::kBeginCommit: {
      NEPHILA_TRY(const uint64_t generation, store_.BeginCommit(NextStep()));
      static_cast<void>(generation);
      return {};
    }
    case Kind::kFinishCommit:
      // After a restart at a commit that was begun, there is none to finish.
      return store_.commit_begun() ? store_.FinishCommit() : Status();
    case Kind::kCheckContents:
      return store_.CheckContents();
  }
  return {};
}

Status Workload::Run(std::optional<uint64_t> until) {
  while (step_ < until.value_or(steps_.size()) && !store_.wrong()) {
    NEPHILA_RETURN_IF_ERROR(Do(steps_[step_]));
    ++step_;
    tuple_ = 0;
  }
  return {};
}

void Workload::CheckTheEnd(TestMachine& machine) {
  // Either has been told by now.
  if (store_.wrong() || !store_.is_open()) return;
  MustDo(store_.Drain());
  store_.ExpectNothingLeft();
  MustDo(store_.CheckContents());
  // Nor does it rest on anything that only seems to be on disk.
  const uint64_t generation = Must(store_.Commit(NextStep()));
  store_.Close();
  machine.fs.LosePower(LossMode::kNothingUnsynced);
  MustDo(Reopen(generation));
  if (!store_.is_open()) return;
  MustDo(store_.CheckContents());
  MustDo(store_.Drain());
  store_.ExpectNothingLeft();
}

}  // namespace nephila::drum
