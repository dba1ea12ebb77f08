// A machine that stops at any operation of a journal, and again at any
// operation of its recovery.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "job/journal.h"
#include "job/journal_testing.h"

namespace nephila::job {
namespace {

constexpr uint64_t kEntries = 30;

// What the owner of the journal knows of its last entry.
struct Known {
  uint64_t from = 1;     // the first that the manifest does not cover
  uint64_t durable = 0;  // at least this one is, whatever happens
  uint64_t seen = 0;     // at least this one is, if the power stays
  uint64_t most = 0;     // and none above this one
};

// Appends, syncs, and now and then has a manifest cover what is synced.
Status Work(Journal& journal, Known& known) {
  while (known.seen < kEntries) {
    const uint64_t number = known.seen + 1;
    // An append that the machine stopped in is cut off as a whole.
    NEPHILA_TRY(const uint64_t given, journal.Append(TestEntry(number)));
    EXPECT_EQ(given, number);
    known.seen = known.most = number;
    if (number % 5 == 0) {
      NEPHILA_RETURN_IF_ERROR(journal.Sync());
      known.durable = number;
    }
    if (number % 10 == 7) {
      const uint64_t older = known.from - 1;
      known.from = known.durable + 1;
      NEPHILA_RETURN_IF_ERROR(journal.Covered(older));
    }
  }
  return {};
}

Status RunOn(FileSystem& fs, Known& known) {
  NEPHILA_TRY(const auto journal,
              Journal::Open(fs, kTestDir, SmallJournal(), known.from));
  const uint64_t last = journal->next() - 1;
  EXPECT_GE(last, known.seen);
  EXPECT_LE(last, known.most);
  // What is there after a restart is durable.
  known.durable = known.seen = known.most = last;
  NEPHILA_TRY(JournalReader reader, journal->Read(known.from));
  EXPECT_EQ(ReadAll(std::move(reader)), TestEntries(known.from, last));
  return Work(*journal, known);
}

void Crashes(Crash crash, MemoryFileSystem& fs, uint64_t seed, Known& known) {
  Happen(crash, fs, seed);
  if (crash != Crash::kKill) known.seen = known.durable;
}

void StopOnce(MemoryFileSystem& memory, const Stop& stop, Known& known) {
  {
    FaultyFileSystem fs(memory, stop.at);
    fs.StopAt(stop.at, stop.style);
    ExpectStopped(RunOn(fs, known), fs);
  }
  Crashes(stop.crash, memory, stop.at, known);
}

// Two times, as what a restart has read may not be lost by the next.
void ExpectGoesOn(MemoryFileSystem& memory, Known& known) {
  MustDo(RunOn(memory, known));
  EXPECT_EQ(known.seen, kEntries);
  Crashes(Crash::kNothingUnsynced, memory, 1, known);
  MustDo(RunOn(memory, known));
}

uint64_t CountOperations() {
  MemoryFileSystem memory;
  MustDo(EnsureDir(memory, kTestDir));
  FaultyFileSystem fs(memory);
  Known known;
  MustDo(RunOn(fs, known));
  return fs.operations();
}

TEST(JournalCrash, StoppedAnywhereItKeepsWhatItPromised) {
  const uint64_t operations = CountOperations();
  for (uint64_t at = 1; at <= operations; ++at) {
    for (const StopStyle style : {StopStyle::kClean, StopStyle::kTornWrite}) {
      for (const Crash crash : kCrashes) {
        SCOPED_TRACE(testing::Message() << "stop at " << at << ", style "
                                        << static_cast<int>(style) << ", crash "
                                        << static_cast<int>(crash));
        MemoryFileSystem memory;
        MustDo(EnsureDir(memory, kTestDir));
        Known known;
        StopOnce(memory, {at, style, crash, false}, known);
        ExpectGoesOn(memory, known);
      }
    }
  }
}

// At every operation of the recovery, and a few of the work behind it.
TEST(JournalCrash, StoppedAgainInTheRecoveryItKeepsWhatItPromised) {
  const uint64_t operations = CountOperations();
  const uint64_t stride = StrideFor(operations, 15);
  for (uint64_t at = 2; at <= operations; at += stride) {
    for (const Crash first : kCrashes) {
      for (uint64_t again = 1; again <= 16; ++again) {
        for (const Crash second : kCrashes) {
          SCOPED_TRACE(testing::Message()
                       << "stops at " << at << ", " << again << ", crashes "
                       << static_cast<int>(first) << ", "
                       << static_cast<int>(second));
          MemoryFileSystem memory;
          MustDo(EnsureDir(memory, kTestDir));
          Known known;
          StopOnce(memory, {at, StopStyle::kTornWrite, first, false}, known);
          StopOnce(memory, {again, StopStyle::kTornWrite, second, false},
                   known);
          ExpectGoesOn(memory, known);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nephila::job
