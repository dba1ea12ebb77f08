// A Drum with threads: passes of many buckets while its user adds, takes
// results and commits, and another thread finishes the commits.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "base/workers.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kTuples = 60'000;
constexpr int kThreads = 3;

enum class Disk : uint8_t { kReal, kMemory };

class DrumThreadsTest : public ::testing::TestWithParam<Disk> {
 protected:
  DrumThreadsTest() {
    if (GetParam() == Disk::kMemory) {
      fs_ = std::make_unique<MemoryFileSystem>();
      root_ = "job";
    } else {
      fs_ = MakeRealFileSystem();
      root_ = testing::TempDir() + "nephila_drum_threads_XXXXXX";
      EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    }
    dir_ = root_ + "/store";
    MustDo(EnsureDir(*fs_, dir_));
  }
  ~DrumThreadsTest() override { MustDo(RemoveAll(*fs_, root_)); }

  DrumContext context() { return {*fs_, clock_, workers_}; }

  Tuple MakeTuple(uint64_t i, std::string& value, std::string& aux) {
    const uint64_t number = random_.Below(i / 2 + 100);
    value = Fixed64(random_.Below(1000));
    aux = std::to_string(i) + TextOf(i, random_.Below(60));
    return {Operation::kCheckUpdate, KeyOf(number), value, aux};
  }

  std::unique_ptr<FileSystem> fs_;
  std::string root_;
  std::string dir_;
  RealClock clock_;
  Workers workers_{kThreads};
  Random random_{1};
};

TEST_P(DrumThreadsTest, AddsDeliversAndCommitsTogether) {
  CheckedDrum store(context(), dir_, SmallOptions(kFixed8, MakeAddRule()));
  MustDo(store.Create());
  std::optional<std::thread> finisher;
  Status finished;
  const auto join = [&] {
    if (!finisher.has_value()) return;
    finisher->join();
    finisher.reset();
    MustDo(finished);
    store.CommitIsFinished();
  };
  std::string value;
  std::string aux;
  for (uint64_t i = 0; i < kTuples && !HasFailure(); ++i) {
    const Tuple tuple = MakeTuple(i, value, aux);
    Status added = store.Add(tuple);
    for (int tries = 0; !added.has_value() && tries < 10; ++tries) {
      EXPECT_EQ(CodeOf(added), ErrorCodeName(ErrorCode::kBusy));
      join();
      MustDo(store.DeliverAll());
      Must(store.Commit());
      added = store.Add(tuple);
    }
    MustDo(added);
    if (i % 50 == 0) Must(store.Deliver(random_.Below(200)));
    if (i % 9000 == 8999) MustDo(store.Flush());
    if (i % 2500 == 2499) {
      // The one before has had time; then this one runs beside the calls that
      // follow.
      join();
      Must(store.BeginCommit());
      finisher.emplace([&] { finished = store.drum().FinishCommit(); });
    }
    if (i % 20'000 == 19'999) {
      join();
      Must(store.Open(store.commits().back()));
    }
  }
  join();
  MustDo(store.Drain());
  store.ExpectNothingLeft();
  MustDo(store.CheckContents());
  Must(store.Open(Must(store.Commit())));
  MustDo(store.CheckContents());
}

TEST_P(DrumThreadsTest, AScanGoesOnBesidePasses) {
  CheckedDrum store(context(), dir_, SmallOptions(kFixed8, MakeAddRule()));
  MustDo(store.Create());
  std::string value;
  std::string aux;
  for (uint64_t i = 0; i < kTuples / 4; ++i) {
    MustDo(store.AddMakingRoom(MakeTuple(i, value, aux)));
  }
  MustDo(store.Drain());
  const auto before = store.reference().records();
  const auto scan = Must(store.drum().NewScan({}));
  auto expected = before.begin();
  for (uint64_t i = 0; !scan->AtEnd(); ++i) {
    ASSERT_NE(expected, before.end());
    ASSERT_EQ(scan->key(), expected->first);
    ASSERT_EQ(scan->value(), expected->second);
    ++expected;
    MustDo(scan->Next());
    MustDo(store.AddMakingRoom(MakeTuple(i, value, aux)));
    if (i % 3000 == 0) MustDo(store.Flush());
    if (i % 20 == 0) Must(store.Deliver(100));
  }
  EXPECT_EQ(expected, before.end());
  MustDo(store.Drain());
  MustDo(store.CheckContents());
}

TEST_P(DrumThreadsTest, EndsInTheMidstOfAPass) {
  // The destructor waits for the tasks; what they did is gone.
  CheckedDrum store(context(), dir_, SmallOptions(kFixed8, MakeAddRule()));
  MustDo(store.Create());
  std::string value;
  std::string aux;
  for (uint64_t round = 0; round < 6; ++round) {
    for (uint64_t i = 0; i < 3000; ++i) {
      MustDo(store.AddMakingRoom(MakeTuple(i, value, aux)));
    }
    const uint64_t generation = Must(store.Commit());
    MustDo(store.Flush());
    if (round % 2 == 0) MustDo(store.Wait());
    Must(store.Open(generation));
    MustDo(store.CheckContents());
    MustDo(store.Drain());
    MustDo(store.CheckContents());
  }
}

TEST_P(DrumThreadsTest, TwoStoresShareTheWorkers) {
  MustDo(EnsureDir(*fs_, root_ + "/other"));
  CheckedDrum one(context(), dir_, SmallOptions(kFixed8, MakeAddRule()));
  CheckedDrum two(context(), root_ + "/other",
                  SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(one.Create());
  MustDo(two.Create());
  std::string value;
  std::string aux;
  for (uint64_t i = 0; i < kTuples / 4; ++i) {
    const Tuple tuple = MakeTuple(i, value, aux);
    MustDo(one.AddMakingRoom(tuple));
    MustDo(two.AddMakingRoom(tuple));
    if (i % 4000 == 3999) {
      MustDo(one.Flush());
      MustDo(two.Flush());
    }
    if (i % 30 == 0) {
      Must(one.Deliver(50));
      Must(two.Deliver(50));
    }
  }
  for (CheckedDrum* store : {&one, &two}) {
    MustDo(store->Drain());
    store->ExpectNothingLeft();
    MustDo(store->CheckContents());
  }
}

INSTANTIATE_TEST_SUITE_P(All, DrumThreadsTest,
                         ::testing::Values(Disk::kReal, Disk::kMemory));

}  // namespace
}  // namespace nephila::drum
