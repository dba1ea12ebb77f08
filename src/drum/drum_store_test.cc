// What a Drum keeps: commits, runs on disk, scans, loads, its limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/random.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"

namespace nephila::drum {
namespace {

constexpr Operation kCheck = Operation::kCheck;
constexpr Operation kUpdate = Operation::kUpdate;
constexpr Operation kBoth = Operation::kCheckUpdate;

using Records = std::map<uint64_t, std::string>;

Records Rest(Scan& scan) {
  Records records;
  while (!scan.AtEnd()) {
    EXPECT_TRUE(records.empty() || records.rbegin()->first < scan.key());
    records[scan.key()] = scan.value();
    MustDo(scan.Next());
  }
  return records;
}

class DrumStoreTest : public ::testing::Test {
 protected:
  CheckedDrum Make(DrumOptions options) {
    return CheckedDrum(machine_.context(), kDir, std::move(options));
  }
  size_t RunFiles() { return FilesOf(machine_.fs, kDir, ".run").size(); }

  // Keys from `first` on with a value each, in one pass.
  static void Fill(CheckedDrum& store, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i) {
      MustDo(store.AddMakingRoom({kBoth, KeyOf(i), Fixed64(i), "aux"}));
    }
    MustDo(store.Drain());
  }

  TestMachine machine_;
};

// Far more records than a store with SmallOptions keeps in memory.
constexpr uint64_t kManyRecords = 20'000;

TEST_F(DrumStoreTest, ANewStoreIsGenerationZeroAndEmpty) {
  auto drum = Must(
      Drum::Create(machine_.context(), kDir, SmallOptions(kNoValue, nullptr)));
  EXPECT_EQ(drum->generation(), 0U);
  EXPECT_TRUE(Must(drum->NewScan({}))->AtEnd());
  drum = nullptr;
  EXPECT_EQ(Must(Drum::NewestGeneration(machine_.fs, kDir)), 0U);
  machine_.fs.LosePower(LossMode::kNothingUnsynced);
  drum = Must(
      Drum::Open(machine_.context(), kDir, SmallOptions(kNoValue, nullptr), 0));
  EXPECT_TRUE(Must(drum->NewScan({}))->AtEnd());
}

TEST_F(DrumStoreTest, AStoreIsNotMadeOverAnother) {
  const DrumOptions options = SmallOptions(kNoValue, nullptr);
  Must(Drum::Create(machine_.context(), kDir, options));
  EXPECT_FAILS(Drum::Create(machine_.context(), kDir, options), kAlreadyExists,
               kDir);
}

TEST_F(DrumStoreTest, WhatIsNotThereIsNotFound) {
  const DrumOptions options = SmallOptions(kNoValue, nullptr);
  EXPECT_FAILS(Drum::NewestGeneration(machine_.fs, kDir), kNotFound, kDir);
  EXPECT_FAILS(Drum::Open(machine_.context(), kDir, options, 0), kNotFound,
               kDir);
  Must(Drum::Create(machine_.context(), kDir, options));
  EXPECT_FAILS(Drum::Open(machine_.context(), kDir, options, 1), kNotFound,
               kDir);
  EXPECT_FAILS(ScanCommit(machine_.fs, kDir, 1, {}), kNotFound, kDir);
}

TEST_F(DrumStoreTest, WhatIsNotCommittedIsGone) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  Fill(store, 0, 10);
  const uint64_t generation = Must(store.Commit());
  Fill(store, 5, 10);
  Must(store.Open(generation));
  EXPECT_EQ(store.reference().records().size(), 10U);
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, TheLastTwoCommitsCanBeOpenedEachAsItWas) {
  for (const bool newest : {true, false}) {
    TestMachine machine;
    CheckedDrum store(machine.context(), kDir,
                      SmallOptions(kFixed8, MakeOverwriteRule()));
    MustDo(store.Create());
    uint64_t last = 0;
    uint64_t before = 0;
    for (uint64_t i = 0; i < 4; ++i) {
      Fill(store, i * kManyRecords / 8, kManyRecords / 4);
      before = std::exchange(last, Must(store.Commit()));
    }
    EXPECT_EQ(Must(Drum::NewestGeneration(machine.fs, kDir)), last);
    Must(store.Open(newest ? last : before));
    EXPECT_EQ(store.drum().generation(), newest ? last : before);
    MustDo(store.CheckContents());
    // And it goes on from there.
    Fill(store, 0, kManyRecords);
    const uint64_t next = Must(store.Commit());
    Must(store.Open(next));
    MustDo(store.CheckContents());
  }
}

TEST_F(DrumStoreTest, ACommitCoversTuplesThatWaitAndResultsNotTaken) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  for (uint64_t i = 0; i < 3000; ++i) {
    MustDo(store.Add({kBoth, KeyOf(i % 1000), Fixed64(i), std::to_string(i)}));
  }
  const uint64_t filling = Must(store.Commit());
  Must(store.Open(filling));
  EXPECT_EQ(store.reference().open_tuples(), 3000U);
  MustDo(store.Flush());
  MustDo(store.Wait());
  EXPECT_EQ(Must(store.Deliver(700)), 700U);
  MustDo(store.Add({kBoth, KeyOf(1), Fixed64(9), "next batch"}));
  const uint64_t delivering = Must(store.Commit());
  EXPECT_EQ(Must(store.Deliver(100)), 100U);
  Must(store.Open(delivering));
  EXPECT_TRUE(store.drum().PassIsOn());
  EXPECT_EQ(store.reference().results_left(), 2300U);
  // The pass that was cut off is no part of the records yet.
  MustDo(store.CheckContents());
  EXPECT_TRUE(store.reference().records().empty());
  MustDo(store.Drain());
  store.ExpectNothingLeft();
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, APassThatIsDoneAgainHasTheParametersOfTheFirstTime) {
  uint64_t per_queue = 2;
  DrumOptions options = SmallOptions(kFixed8, MakeQueueRule());
  options.parameters = [&] { return Fixed64(per_queue); };
  auto drum = Must(Drum::Create(machine_.context(), kDir, options));
  const std::string zero = Fixed64(0);
  for (int i = 0; i < 6; ++i) MustDo(drum->Add({kBoth, 1, zero, ""}));
  MustDo(drum->Flush());
  const uint64_t generation = Must(drum->Commit());
  drum = nullptr;
  per_queue = 1000;
  drum = Must(Drum::Open(machine_.context(), kDir, options, generation));
  CollectingReceiver receiver;
  MustDo(drum->Drain(receiver));
  std::vector<int> queues;
  for (const OwnedResult& result : receiver.results) {
    queues.push_back(result.value.at(0));
  }
  EXPECT_EQ(queues, (std::vector<int>{0, 0, 1, 1, 2, 2}));
}

TEST_F(DrumStoreTest, ACommitBegunIsOfTheMomentItWasBegun) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  Fill(store, 0, 100);
  MustDo(store.Add({kBoth, KeyOf(1), Fixed64(1), "before"}));
  const uint64_t generation = Must(store.BeginCommit());
  MustDo(store.Add({kBoth, KeyOf(2), Fixed64(2), "after"}));
  Fill(store, 50, 100);
  MustDo(store.FinishCommit());
  Must(store.Open(generation));
  EXPECT_EQ(store.reference().open_tuples(), 1U);
  MustDo(store.CheckContents());
  MustDo(store.Drain());
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, SmallPassesWriteNoRunAndOutliveAReopen) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeAddRule()));
  MustDo(store.Create());
  constexpr uint64_t kPasses = 100;
  for (uint64_t pass = 0; pass < kPasses; ++pass) {
    for (uint64_t i = 0; i < 10; ++i) {
      MustDo(store.Add({kBoth, KeyOf((pass + i) % 60), Fixed64(i), "aux"}));
    }
    MustDo(store.Drain());
    if (pass % 7 == 0) Must(store.Open(Must(store.Commit())));
    EXPECT_EQ(RunFiles(), 0U);
  }
  EXPECT_EQ(store.drum().stats().runs, 0U);
  // Some are shadowed by newer ones.
  EXPECT_GE(store.drum().stats().memory_records, 60U);
  EXPECT_LE(store.drum().stats().memory_records, 2 * 60U);
  const uint64_t generation = Must(store.Commit());
  machine_.fs.LosePower(LossMode::kNothingUnsynced);
  Must(store.Open(generation));
  MustDo(store.CheckContents());
  EXPECT_EQ(RunFiles(), 0U);
  EXPECT_EQ(store.reference().records().size(), 60U);
}

TEST_F(DrumStoreTest, LargePassesWriteRunsThatStayFew) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  constexpr uint64_t kPasses = 20;
  for (uint64_t pass = 0; pass < kPasses; ++pass) {
    Fill(store, pass * kManyRecords / 10, kManyRecords / 5);
    Must(store.Commit());
  }
  const DrumStats stats = store.drum().stats();
  EXPECT_GE(stats.passes, kPasses);
  EXPECT_LT(stats.small_passes, stats.passes);
  EXPECT_GT(stats.runs, 0U);
  // Merged now and then, or a scan would need a cursor for each.
  EXPECT_LT(stats.runs, kPasses);
  EXPECT_GE(stats.records + stats.memory_records,
            store.reference().records().size());
  EXPECT_GE(RunFiles(), stats.runs);
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, ADryConsumerDoesNotWaitForItsOwnSlowness) {
  CheckedDrum store = Make(SmallOptions(kNoValue, nullptr));
  MustDo(store.Create());
  for (uint64_t i = 0; i < 10; ++i) {
    MustDo(store.Add({kBoth, KeyOf(i), "", "first"}));
  }
  EXPECT_TRUE(*store.drum().FlushIfCheap());
  // The results are taken one by one, as hosts allow.
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(Must(store.Deliver(1)), 1U);
    machine_.clock.Advance(std::chrono::seconds(10));
  }
  MustDo(store.Add({kBoth, KeyOf(11), "", "second"}));
  EXPECT_TRUE(*store.drum().FlushIfCheap());
  MustDo(store.Drain());
}

TEST_F(DrumStoreTest, FilesThatNoCommitNamesAreRemoved) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  Fill(store, 0, kManyRecords);
  Must(store.Commit());
  Fill(store, 0, kManyRecords);
  store.Close();
  Put(machine_.fs, std::string(kDir) + "/1234567.run", "left by a crash");
  Must(store.Open(store.commits().back()));
  EXPECT_FALSE(Must(machine_.fs.Exists(std::string(kDir) + "/1234567.run")));
  // The same work over and over does not fill the disk.
  size_t files = 0;
  for (int i = 0; i < 6; ++i) {
    Fill(store, 0, 1000);
    Must(store.Open(Must(store.Commit())));
    if (i == 2) files = FilesOf(machine_.fs, kDir).size();
  }
  EXPECT_LE(FilesOf(machine_.fs, kDir).size(), files + 3);
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, BusyWhenTheDiskBudgetIsUsedUpUntilResultsAreTaken) {
  DrumOptions options = SmallOptions(kNoValue, nullptr);
  options.disk_bytes = uint64_t{1} << 20;
  CheckedDrum store = Make(options);
  MustDo(store.Create());
  constexpr uint64_t kMost = 1'000'000;
  for (int round = 0; round < 3; ++round) {
    uint64_t added = 0;
    Status status;
    for (; added < kMost; ++added) {
      status = store.Add({kBoth, KeyOf(added), "", TextOf(added, 100)});
      if (!status.has_value()) break;
    }
    ASSERT_EQ(CodeOf(status),
              CodeOf(Status(Unexpected(Error{ErrorCode::kBusy, ""}))));
    // More than the budget was not taken: some slack for open blocks.
    EXPECT_LE(store.drum().stats().batch_disk_bytes,
              options.disk_bytes * 5 / 4);
    // It comes again, and adds nothing.
    EXPECT_FALSE(store.Add({kBoth, 1, "", "refused"}).has_value());
    MustDo(store.AddMakingRoom({kBoth, KeyOf(kMost), "", "taken"}));
    MustDo(store.Drain());
    store.ExpectNothingLeft();
  }
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, LoadFillsAnEmptyStore) {
  CheckedDrum store = Make(SmallOptions(kVariable, MakeKeepRule()));
  MustDo(store.Create());
  Records records;
  for (uint64_t i = 0; i < kManyRecords; ++i) {
    records[KeyOf(i)] = TextOf(i, i % 30);
  }
  MustDo(store.Load(records));
  MustDo(store.CheckContents());
  const uint64_t generation = Must(store.Commit());
  machine_.fs.LosePower(LossMode::kNothingUnsynced);
  Must(store.Open(generation));
  MustDo(store.CheckContents());
  for (uint64_t i = 0; i < 2 * kManyRecords; i += 3) {
    MustDo(store.AddMakingRoom({kBoth, KeyOf(i), "new", "aux"}));
  }
  MustDo(store.Drain());
  MustDo(store.CheckContents());
}

TEST_F(DrumStoreTest, LoadThatIsNotCommittedIsGone) {
  CheckedDrum store = Make(SmallOptions(kVariable, MakeKeepRule()));
  MustDo(store.Create());
  MustDo(store.Load({{1, "one"}}));
  Must(store.Open(0));
  MustDo(store.CheckContents());
  EXPECT_TRUE(store.reference().records().empty());
}

TEST_F(DrumStoreTest, LoadRefusesWhatItCannotTake) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeKeepRule()));
  MustDo(store.Create());
  const std::string value = Fixed64(1);
  std::vector<std::pair<uint64_t, std::string>> records;
  const auto load = [&] {
    size_t i = 0;
    return store.drum().Load([&](uint64_t& key, std::string& next) {
      if (i == records.size()) return false;
      key = records[i].first;
      next = records[i].second;
      ++i;
      return true;
    });
  };
  records = {{2, value}, {1, value}};
  EXPECT_FAILS(load(), kInvalidArgument, "");
  records = {{2, value}, {2, value}};
  EXPECT_FAILS(load(), kInvalidArgument, "");
  records = {{1, value}, {2, "short"}};
  EXPECT_FAILS(load(), kInvalidArgument, "");
  // Nothing of that is left, and the store still works.
  MustDo(store.CheckContents());
  Fill(store, 0, 10);
  records = {{1, value}};
  EXPECT_FAILS(load(), kInvalidArgument, "");
  MustDo(store.CheckContents());
}

// A store with runs on disk and records in memory.
class DrumScanTest : public DrumStoreTest {
 protected:
  DrumScanTest()
      : store_(machine_.context(), kDir,
               SmallOptions(kVariable, MakeEraseRule())) {
    MustDo(store_.Create());
    for (const uint64_t pass : {0U, 1U, 2U, 3U}) {
      for (uint64_t i = 0; i < (pass < 3 ? 4000U : 20U); ++i) {
        const std::string value =
            i % 5 == pass ? "-" : TextOf(i + pass, i % 20 + 1);
        MustDo(
            store_.AddMakingRoom({kBoth, KeyOf(i + 2000 * pass), value, ""}));
      }
      MustDo(store_.Drain());
    }
    EXPECT_GT(RunFiles(), 0U);
  }

  CheckedDrum store_;
};

TEST_F(DrumScanTest, ScansRangesAndShards) {
  MustDo(store_.CheckContents());
  Random random(1);
  const Records& records = store_.reference().records();
  for (int i = 0; i < 200; ++i) {
    ScanRange range;
    range.first = random.Next();
    range.last = range.first + (random.Next() >> random.Below(64));
    if (random.Chance(0.3)) {
      // Ends that are records: they are included.
      range.first = records.lower_bound(random.Below(uint64_t{1} << 63))->first;
      range.last = std::next(records.find(range.first),
                             static_cast<int64_t>(random.Below(3)))
                       ->first;
    }
    if (random.Chance(0.5)) {
      range.shards.emplace();
      for (uint64_t n = random.Below(600); n > 0; --n) {
        range.shards->set(random.Below(range.shards->size()));
      }
    }
    MustDo(store_.CheckContents(range));
    ASSERT_FALSE(store_.wrong()) << i;
  }
}

TEST_F(DrumScanTest, ARangeThatEndsBeforeItBeginsIsEmpty) {
  EXPECT_TRUE(Must(store_.drum().NewScan({.first = 2, .last = 1}))->AtEnd());
}

TEST_F(DrumScanTest, AScanStaysAsItIsWhilePassesGoOn) {
  const Records before = store_.reference().records();
  const auto whole = Must(store_.drum().NewScan({}));
  const auto half = Must(store_.drum().NewScan({.first = uint64_t{1} << 63}));
  for (int pass = 0; pass < 5; ++pass) {
    for (uint64_t i = 0; i < 9000; ++i) {
      MustDo(store_.AddMakingRoom(
          {kUpdate, KeyOf(i), i % 3 == 0 ? "-" : "changed", ""}));
    }
    MustDo(store_.Drain());
    Must(store_.Commit());
  }
  EXPECT_EQ(Rest(*whole), before);
  EXPECT_EQ(Rest(*half),
            Records(before.lower_bound(uint64_t{1} << 63), before.end()));
  MustDo(store_.CheckContents());
}

TEST_F(DrumScanTest, AScanDuringAPassIsOfBeforeIt) {
  for (uint64_t i = 0; i < 500; ++i) {
    MustDo(store_.Add({kBoth, KeyOf(i), "changed", ""}));
  }
  MustDo(store_.Flush());
  MustDo(store_.Wait());
  EXPECT_EQ(Must(store_.Deliver(499)), 499U);
  ASSERT_TRUE(store_.drum().PassIsOn());
  MustDo(store_.CheckContents());
  MustDo(store_.DeliverAll());
  MustDo(store_.CheckContents());
}

TEST_F(DrumScanTest, ScanCommitReadsACommitAndChangesNothing) {
  const uint64_t generation = Must(store_.Commit());
  const Records committed = store_.reference().records();
  for (uint64_t i = 0; i < 500; ++i) {
    MustDo(store_.Add({kUpdate, KeyOf(i), "changed", ""}));
  }
  MustDo(store_.Drain());
  const uint64_t later = Must(store_.Commit());
  const Records changed = store_.reference().records();
  store_.Close();
  FaultyFileSystem watched(machine_.fs);
  EXPECT_EQ(Rest(*Must(ScanCommit(watched, kDir, generation, {}))), committed);
  EXPECT_EQ(Rest(*Must(ScanCommit(watched, kDir, later, {}))), changed);
  const ScanRange range = {.first = uint64_t{1} << 62,
                           .last = uint64_t{1} << 63};
  EXPECT_EQ(Rest(*Must(ScanCommit(watched, kDir, later, range))),
            Records(changed.lower_bound(range.first),
                    changed.upper_bound(range.last)));
  EXPECT_EQ(watched.operations(), 0U);
}

TEST_F(DrumStoreTest, FlushIfCheapFlushesWhilePassesTakeLittleOfTheTime) {
  FaultyFileSystem slow(machine_.fs);
  CheckedDrum store({slow, machine_.clock, machine_.workers}, kDir,
                    SmallOptions(kFixed8, MakeOverwriteRule()));
  MustDo(store.Create());
  EXPECT_FALSE(Must(store.drum().FlushIfCheap())) << "of an empty batch";
  const MonoTime begin = machine_.clock.Now();
  slow.SlowDown(machine_.clock, std::chrono::milliseconds(1), 1 << 20);
  Fill(store, 0, kManyRecords);
  const auto took = machine_.clock.Now() - begin;
  ASSERT_GT(took, std::chrono::milliseconds(100));
  MustDo(store.Add({kCheck, KeyOf(1), "", "a"}));
  EXPECT_FALSE(Must(store.drum().FlushIfCheap()));
  EXPECT_FALSE(store.drum().PassIsOn());
  machine_.clock.Advance(100 * took);
  EXPECT_TRUE(Must(store.drum().FlushIfCheap()));
  EXPECT_TRUE(store.drum().PassIsOn());
  MustDo(store.DeliverAll());
  store.ExpectNothingLeft();
}

TEST_F(DrumStoreTest, MemoryDiskAndThreadsMayChangeFromOpenToOpen) {
  CheckedDrum store = Make(SmallOptions(kFixed8, MakeAddRule()));
  MustDo(store.Create());
  for (uint64_t i = 0; i < 12; ++i) {
    Fill(store, i * 500, 5000);
    // In the midst of filling, and of delivering.
    for (uint64_t j = 0; j < 4000; ++j) {
      MustDo(store.AddMakingRoom({kBoth, KeyOf(j), Fixed64(j), "aux"}));
    }
    if (i % 2 == 0) {
      MustDo(store.Flush());
      MustDo(store.Wait());
      Must(store.Deliver(1000));
      for (uint64_t j = 0; j < 2000; ++j) {
        MustDo(store.AddMakingRoom({kBoth, KeyOf(3 * j), Fixed64(j), "aux"}));
      }
    }
    const uint64_t generation = Must(store.Commit());
    constexpr uint64_t kMiB = uint64_t{1} << 20;
    const uint64_t memories[] = {64 * kMiB, kMiB, 8 * kMiB, 2 * kMiB};
    const uint64_t disks[] = {kMiB, 100 * kMiB, 2 * kMiB};
    store.options().memory_bytes = memories[i % std::size(memories)];
    store.options().disk_bytes = disks[i % std::size(disks)];
    Must(store.Open(generation));
    MustDo(store.Drain());
    MustDo(store.CheckContents());
    ASSERT_FALSE(store.wrong()) << i;
  }
  const uint64_t generation = Must(store.Commit());
  const Records records = store.reference().records();
  store.Close();
  Workers threads(2);
  const auto drum = Must(Drum::Open({machine_.fs, machine_.clock, threads},
                                    kDir, store.options(), generation));
  EXPECT_EQ(Rest(*Must(drum->NewScan({}))), records);
}

TEST_F(DrumStoreTest, OptionsThatWereFixedWhenTheStoreWasMadeCannotChange) {
  DrumOptions made = SmallOptions(kFixed8, MakeKeepRule());
  made.only = kBoth;
  made.key_of_aux = KeyOfAux;
  Must(Drum::Create(machine_.context(), kDir, made));
  const auto opened = [&](const DrumOptions& options) {
    return Drum::Open(machine_.context(), kDir, options, 0);
  };
  DrumOptions other = made;
  other.value = {ValueKind::kFixed, 4};
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  other.value = kVariable;
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  other.value = kNoValue;
  other.rule = nullptr;
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  other = made;
  other.only = kCheck;
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  other.only = std::nullopt;
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  other = made;
  other.key_of_aux = nullptr;
  EXPECT_FAILS(opened(other), kInvalidArgument, kDir);
  // The refused ones have changed nothing.
  EXPECT_OK(opened(made));
}

}  // namespace
}  // namespace nephila::drum
