// A fixed piece of work for the tests that stop it, starve it of disk space or
// damage what it leaves: large passes that write runs and merge them, small
// ones, commits while a batch fills, while a pass is on and while its results
// are taken. For tests only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "drum/drum_testing.h"

namespace nephila::drum {

class Workload {
 public:
  // The store is in kDir. `fs` lies over the machine's; both outlive this.
  Workload(TestMachine& machine, FileSystem& fs);

  // Makes the store.
  Status Start();
  // Opens a commit, and goes back to where the work was then.
  Status Reopen(uint64_t generation);
  // Works until the end, or step `until`, or the first error. Called again it
  // begins with the call that failed.
  Status Run(std::optional<uint64_t> until = std::nullopt);
  // All results have come once, and what is on disk is right.
  void CheckTheEnd(TestMachine& machine);

  CheckedDrum& store() { return store_; }
  uint64_t steps() const { return steps_.size(); }

 private:
  enum class Kind : uint8_t {
    kAdd,
    kFlush,
    kWait,
    kDeliver,
    kDeliverAll,
    kCommit,
    kBeginCommit,
    kFinishCommit,
    kCheckContents,
  };
  struct Step {
    Kind kind;
    uint64_t count = 0;
  };

  Status AddAll(uint64_t count);
  Status Do(const Step& step);
  // The place behind the step.
  uint64_t NextStep() const { return Place(step_ + 1, 0); }
  static uint64_t Place(uint64_t step, uint64_t tuple) {
    return step << 32 | tuple;
  }

  std::vector<Step> steps_;
  uint64_t step_ = 0;
  uint64_t tuple_ = 0;  // of a step that adds
  CheckedDrum store_;
};

}  // namespace nephila::drum
