// A Drum on a disk that is full, that fails, that is slow to take or give all
// it is asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"
#include "drum/drum_workload_testing.h"

namespace nephila::drum {
namespace {

// How many operations a test fails, unless NEPHILA_LONG_TESTS asks for all.
constexpr size_t kFaults = 60;

// The operations of the whole work of these kinds, all or evenly chosen.
std::vector<uint64_t> OperationsOf(const std::set<OperationKind>& kinds) {
  TestMachine machine;
  FaultyFileSystem fs(machine.fs);
  Workload work(machine, fs);
  MustDo(work.Start());
  MustDo(work.Run());
  EXPECT_LE(fs.operations(), FaultyFileSystem::kLogLimit);
  std::vector<uint64_t> all;
  for (const nephila::Operation& operation : fs.log()) {
    if (kinds.contains(operation.kind)) all.push_back(operation.number);
  }
  EXPECT_FALSE(all.empty());
  if (LongTests()) return all;
  std::vector<uint64_t> chosen;
  const size_t stride = all.size() / kFaults + 1;
  for (size_t i = 0; i < all.size(); i += stride) chosen.push_back(all[i]);
  return chosen;
}

const std::set<OperationKind> kSyncs = {OperationKind::kSync,
                                        OperationKind::kSyncDir};
const std::set<OperationKind> kNeedSpace = {
    OperationKind::kWrite, OperationKind::kAllocate, OperationKind::kCreate,
    OperationKind::kRename, OperationKind::kMakeDir};

// Repeats what fails for want of space, up to so many times.
Status Insist(const std::function<Status()>& work, uint64_t tries) {
  Status status = work();
  for (; !status.has_value() && tries > 0; --tries) {
    if (status.error().code != ErrorCode::kNoSpace) return status;
    status = work();
  }
  return status;
}

class DrumFaultTest : public ::testing::Test {
 protected:
  void DoWithoutSpaceAt(uint64_t n, uint64_t times) {
    TestMachine machine;
    FaultyFileSystem fs(machine.fs, n);
    fs.FailAt(n, Fault::kNoSpace, times);
    Workload work(machine, fs);
    // The first few operations are those of making the store, which a Create
    // that is called again makes again.
    MustDo(Insist([&] { return work.Start(); }, times));
    MustDo(Insist([&] { return work.Run(); }, times));
    fs.Heal();
    work.CheckTheEnd(machine);
  }
};

TEST_F(DrumFaultTest, ACallThatFoundTheDiskFullWorksWhenThereIsRoom) {
  for (const uint64_t n : OperationsOf(kNeedSpace)) {
    DoWithoutSpaceAt(n, 1);
    ASSERT_FALSE(HasFailure()) << "operation " << n;
  }
}

TEST_F(DrumFaultTest, ADiskThatIsFullOftenIsNoHarmEither) {
  // A failed sync is final, so these must not be hit; a store makes many
  // writes between two of them.
  const std::vector<uint64_t> writes = OperationsOf({OperationKind::kWrite});
  for (size_t i = 0; i < writes.size(); i += 4) {
    TestMachine machine;
    FaultyFileSystem fs(machine.fs, i);
    for (size_t j = i; j < writes.size(); j += 4) {
      fs.FailAt(writes[j], Fault::kNoSpace);
    }
    Workload work(machine, fs);
    Status status = Insist([&] { return work.Start(); }, writes.size());
    if (status.has_value()) {
      status = Insist([&] { return work.Run(); }, writes.size());
    }
    fs.Heal();
    if (status.has_value()) {
      work.CheckTheEnd(machine);
    } else {
      // Numbers shift after the first failure, and a sync was hit.
      EXPECT_NE(status.error().message.find("sync"), std::string::npos)
          << status.error().message;
    }
    ASSERT_FALSE(HasFailure()) << i;
  }
}

TEST_F(DrumFaultTest, GoesOnWhereItRanOutOfSpaceForALongTime) {
  TestMachine whole;
  const uint64_t room = Must(whole.fs.FreeSpace("/"));
  constexpr uint64_t kStep = 64 << 10;
  bool was_full = true;
  uint64_t tried = 0;
  for (uint64_t capacity = kStep; was_full; capacity += kStep, ++tried) {
    TestMachine machine;
    Workload work(machine, machine.fs);
    MustDo(work.Start());
    machine.fs.SetCapacity(capacity);
    Status status = Insist([&] { return work.Run(); }, 3);
    was_full = !status.has_value();
    if (was_full) {
      EXPECT_EQ(CodeOf(status), ErrorCodeName(ErrorCode::kNoSpace))
          << status.error().message;
      // Nothing but room is missing.
      EXPECT_FALSE(work.store().wrong());
      machine.fs.SetCapacity(room);
      MustDo(work.Run());
    }
    machine.fs.SetCapacity(room);
    work.CheckTheEnd(machine);
    ASSERT_FALSE(HasFailure()) << "capacity " << capacity;
  }
  EXPECT_GT(tried, 3U);
}

// Whatever is called after an error that is final returns it.
void ExpectAllCallsFail(Drum& drum, const Error& error) {
  CollectingReceiver receiver;
  const auto expect = [&](const auto& result, const char* call) {
    ASSERT_FALSE(result.has_value()) << call;
    EXPECT_EQ(ErrorCodeName(result.error().code), ErrorCodeName(error.code))
        << call << ": " << result.error().message;
    EXPECT_EQ(result.error().message, error.message) << call;
  };
  const std::string value = Fixed64(10);
  expect(drum.Add({Operation::kCheckUpdate, 1, value, "a"}), "Add");
  expect(drum.Flush(), "Flush");
  expect(drum.FlushIfCheap(), "FlushIfCheap");
  expect(drum.Deliver(receiver, 10), "Deliver");
  expect(drum.Wait(), "Wait");
  expect(drum.Drain(receiver), "Drain");
  expect(drum.BeginCommit(), "BeginCommit");
  expect(drum.FinishCommit(), "FinishCommit");
  expect(drum.Commit(), "Commit");
  EXPECT_TRUE(receiver.results.empty());
}

struct FinalFault {
  std::string name;
  Fault fault;
  std::set<OperationKind> kinds;
};

void PrintTo(const FinalFault& fault, std::ostream* out) { *out << fault.name; }

class DrumFinalFaultTest : public ::testing::TestWithParam<FinalFault> {};

TEST_P(DrumFinalFaultTest, EndsTheStoreAndTheLastCommitIsWhole) {
  constexpr LossMode kModes[] = {LossMode::kNothingUnsynced,
                                 LossMode::kEverything, LossMode::kTorn};
  uint64_t seen = 0;
  uint64_t round = 0;
  for (const uint64_t n : OperationsOf(GetParam().kinds)) {
    TestMachine machine;
    FaultyFileSystem fs(machine.fs, n);
    fs.FailAt(n, GetParam().fault);
    Workload work(machine, fs);
    Status status = work.Start();
    if (status.has_value()) status = work.Run();
    // At the latest the next commit tells.
    ASSERT_FALSE(status.has_value()) << "operation " << n;
    if (work.store().is_open()) {
      ++seen;
      ExpectAllCallsFail(work.store().drum(), status.error());
    }
    // The process ends; the machine may go on or not.
    work.store().Close();
    fs.Heal();
    switch (round++ % 4) {
      case 0:
        machine.fs.KillProcess();
        break;
      default:
        machine.fs.LosePower(kModes[round % 3], n);
    }
    if (work.store().commits().empty()) {
      MustDo(work.Start());
    } else {
      MustDo(work.Reopen(work.store().commits().back()));
    }
    ASSERT_TRUE(work.store().is_open()) << "operation " << n;
    MustDo(work.Run());
    work.CheckTheEnd(machine);
    ASSERT_FALSE(HasFailure()) << "operation " << n;
  }
  EXPECT_GT(seen, 5U);
}

INSTANTIATE_TEST_SUITE_P(
    All, DrumFinalFaultTest,
    ::testing::Values(
        FinalFault{"a sync", Fault::kSyncFails, kSyncs},
        FinalFault{"a sync for want of space", Fault::kNoSpace, kSyncs},
        FinalFault{"a write", Fault::kEio, {OperationKind::kWrite}}));

TEST_F(DrumFaultTest, ShortWritesAndReadsAreGoneOnWith) {
  for (const uint64_t every : {1U, 2U, 3U}) {
    TestMachine machine;
    FaultyFileSystem fs(machine.fs, every);
    fs.ShortWritesEvery(every);
    fs.ShortReadsEvery(every);
    Workload work(machine, fs);
    MustDo(work.Start());
    MustDo(work.Run());
    work.CheckTheEnd(machine);
  }
}

TEST_F(DrumFaultTest, AReadErrorInAPassNamesTheFileAndComesAgain) {
  // After the flush of the fourth large batch, before any of its results.
  constexpr uint64_t kUntil = 3 * 13 + 8 + 4;
  std::set<std::string> read;
  std::vector<std::string> names;
  {
    TestMachine machine;
    Workload work(machine, machine.fs);
    MustDo(work.Start());
    MustDo(work.Run(kUntil));
    names = FilesOf(machine.fs, kDir);
  }
  // The run that the pass itself writes gets another name the next time.
  const auto own =
      std::find_if(names.rbegin(), names.rend(),
                   [](const auto& n) { return n.ends_with(".run"); });
  ASSERT_NE(own, names.rend());
  names.erase(std::next(own).base());
  for (const std::string& name : names) {
    const std::string path = std::string(kDir) + "/" + name;
    TestMachine machine;
    FaultyFileSystem fs(machine.fs);
    Workload work(machine, fs);
    MustDo(work.Start());
    MustDo(work.Run(kUntil));
    ASSERT_TRUE(work.store().drum().PassIsOn());
    fs.FailReadsOf(path);
    CollectingReceiver receiver;
    const Status drained = work.store().drum().Drain(receiver);
    if (drained.has_value()) continue;  // not a file that a pass reads
    read.insert(name);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FAILS(work.store().drum().Drain(receiver), kIo, path);
    }
    // And the disk has what it had.
    work.store().Close();
    fs.Heal();
    MustDo(work.Reopen(work.store().commits().back()));
    MustDo(work.Run());
    work.CheckTheEnd(machine);
  }
  EXPECT_FALSE(read.empty());
  EXPECT_TRUE(std::any_of(read.begin(), read.end(), [](const auto& name) {
    return name.ends_with(".run");
  }));
}

}  // namespace
}  // namespace nephila::drum
