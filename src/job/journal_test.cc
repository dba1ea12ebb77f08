#include "job/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "job/flip_testing.h"
#include "job/journal_file.h"
#include "job/journal_testing.h"

namespace nephila::job {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { MustDo(EnsureDir(fs_, kTestDir)); }

  std::vector<std::string> EntriesFrom(uint64_t from) {
    return ReadAll(Must(JournalReader::Open(fs_, kTestDir, from)));
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names = Names(fs_, kTestDir);
    std::erase(names, "reserve");
    return names;
  }
  static std::string PathOf(uint64_t first) {
    return kTestDir + "/" + JournalFileName(first);
  }

  MemoryFileSystem fs_;
};

TEST_F(JournalTest, NumbersEntriesFromOneInTheirOrder) {
  const auto journal = OpenJournal(fs_, 1);
  EXPECT_EQ(journal->next(), 1U);
  AppendTo(*journal, 20);
  EXPECT_EQ(journal->next(), 21U);
  EXPECT_EQ(ReadAll(Must(journal->Read(1))), TestEntries(1, 20));
  EXPECT_EQ(ReadAll(Must(journal->Read(13))), TestEntries(13, 20));
  EXPECT_EQ(ReadAll(Must(journal->Read(21))), TestEntries(21, 20));
}

TEST_F(JournalTest, GoesOnAfterARestart) {
  {
    const auto journal = OpenJournal(fs_, 1);
    AppendTo(*journal, 10);
  }
  for (const uint64_t from : {1U, 1U, 4U, 11U, 11U, 15U}) {
    const auto journal = OpenJournal(fs_, from);
    const uint64_t next = journal->next();
    EXPECT_EQ(journal->synced(), next - 1);
    EXPECT_FALSE(journal->cut().has_value());
    AppendTo(*journal, next + 3);
    EXPECT_EQ(ReadAll(Must(journal->Read(from))), TestEntries(from, next + 3));
  }
}

TEST_F(JournalTest, AnOlderManifestStillFindsItsEntries) {
  {
    const auto journal = OpenJournal(fs_, 1);
    AppendTo(*journal, 12);
  }
  { AppendTo(*OpenJournal(fs_, 9), 20); }
  { AppendTo(*OpenJournal(fs_, 17), 25); }
  const auto journal = OpenJournal(fs_, 5);
  EXPECT_EQ(ReadAll(Must(journal->Read(5))), TestEntries(5, 25));
  AppendTo(*journal, 30);
  EXPECT_EQ(EntriesFrom(2), TestEntries(2, 30));
}

TEST_F(JournalTest, FilesThatTwoManifestsCoverGo) {
  const auto journal = OpenJournal(fs_, 1);
  AppendTo(*journal, 40);
  const std::vector<std::string> before = Files();
  ASSERT_GT(before.size(), 5U);
  MustDo(journal->Covered(0));
  EXPECT_EQ(Files(), before);
  for (uint64_t covered = 1; covered <= 40; ++covered) {
    MustDo(journal->Covered(covered));
    EXPECT_EQ(ReadAll(Must(journal->Read(covered + 1))),
              TestEntries(covered + 1, 40));
    // None but the first holds only what is covered.
    const auto files = Must(ListJournal(fs_, kTestDir));
    ASSERT_FALSE(files.empty());
    EXPECT_LE(files.front(), covered + 1);
    EXPECT_TRUE(files.size() == 1 || files[1] > covered + 1);
  }
  MustDo(journal->Covered(1000));
  EXPECT_EQ(Files().size(), 1U);
  AppendTo(*journal, 41);
}

TEST_F(JournalTest, FilesStayWithinTheirBound) {
  const auto journal = OpenJournal(fs_, 1);
  AppendTo(*journal, 40);
  for (const uint64_t first : Must(ListJournal(fs_, kTestDir))) {
    const auto file = Must(fs_.Open(PathOf(first), OpenMode::kRead));
    EXPECT_LE(Must(file->Size()), SmallJournal().file_bytes);
  }
  // An entry that is larger has a file of its own.
  EXPECT_EQ(Must(journal->Append(std::string(5000, 'x'))), 41U);
  AppendTo(*journal, 43);
  EXPECT_EQ(ReadAll(Must(journal->Read(42))), TestEntries(42, 43));
}

TEST_F(JournalTest, RefusesWhatIsTooLarge) {
  const auto journal = OpenJournal(fs_, 1);
  const std::string most(kMostEntryBytes, 'x');
  EXPECT_FAILS(journal->Append(most + "x"), kInvalidArgument, "too large");
  EXPECT_EQ(Must(journal->Append(most)), 1U);
  EXPECT_EQ(ReadAll(Must(journal->Read(1))), std::vector<std::string>{most});
}

TEST_F(JournalTest, AnEmptyEntryIsOne) {
  const auto journal = OpenJournal(fs_, 1);
  EXPECT_EQ(Must(journal->Append("")), 1U);
  EXPECT_EQ(EntriesFrom(1), std::vector<std::string>{""});
  EXPECT_EQ(EntriesFrom(2), std::vector<std::string>{});
}

TEST_F(JournalTest, IsNeverShorterThanAManifestKnows) {
  EXPECT_FAILS(Journal::Open(fs_, kTestDir, SmallJournal(), 2), kCorruption,
               "covers entry 1");
  AppendTo(*OpenJournal(fs_, 1), 10);
  const std::vector<std::string> before = Files();
  EXPECT_FAILS(Journal::Open(fs_, kTestDir, SmallJournal(), 12), kCorruption,
               "ends with entry 10, and a manifest covers entry 11");
  EXPECT_EQ(Files(), before);
  // Nor does it begin later.
  MustDo(fs_.Remove(PathOf(1)));
  EXPECT_FAILS(Journal::Open(fs_, kTestDir, SmallJournal(), 1), kCorruption,
               "holds entry 1");
}

TEST_F(JournalTest, CutShortAnywhereItEndsWithTheLastWholeEntry) {
  JournalOptions options = SmallJournal();
  options.file_bytes = 1 << 20;
  {
    const auto journal = Must(Journal::Open(fs_, kTestDir, options, 1));
    AppendTo(*journal, 6);
  }
  const std::string whole = Get(fs_, PathOf(1));
  const size_t head = JournalHead(1, kTestSalt).size();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::set<uint64_t> ends = {head};
    uint64_t entries = 0;
    for (uint64_t end = head, i = 1; i <= 6; ++i) {
      end += kFrameHeaderBytes + TestEntry(i).size();
      if (end <= size) entries = i;
      ends.insert(end);
    }
    Put(fs_, PathOf(1), std::string_view(whole).substr(0, size));
    auto journal = Journal::Open(fs_, kTestDir, options, 3);
    if (size < head || entries < 2) {
      EXPECT_EQ(CodeOf(journal), "corruption") << size;
      EXPECT_EQ(Get(fs_, PathOf(1)).size(), size);
      continue;
    }
    ASSERT_TRUE(journal.has_value()) << size;
    EXPECT_EQ((*journal)->cut().has_value(), !ends.contains(size)) << size;
    EXPECT_EQ(ReadAll(Must((*journal)->Read(3))), TestEntries(3, entries));
    AppendTo(**journal, 8);
    EXPECT_EQ(EntriesFrom(3), TestEntries(3, 8));
    journal->reset();
    MustDo(fs_.Remove(PathOf(3)));
  }
}

TEST_F(JournalTest, WithAFlippedBitAnywhereItIsShorterOrDamaged) {
  { AppendTo(*OpenJournal(fs_, 1), 12); }
  std::vector<uint64_t> files = Must(ListJournal(fs_, kTestDir));
  ASSERT_GT(files.size(), 2U);
  for (const uint64_t first : files) {
    const std::string whole = Get(fs_, PathOf(first));
    for (size_t i = 0; i < whole.size(); ++i) {
      const std::string flipped = Flipped(whole, i, i % 8);
      Put(fs_, PathOf(first), flipped);
      for (const uint64_t from : {1U, 4U, 13U}) {
        auto reader = JournalReader::Open(fs_, kTestDir, from);
        if (!reader.has_value()) {
          EXPECT_TRUE(CodeOf(reader) == "corruption" ||
                      CodeOf(reader) == "unsupported");
          continue;
        }
        const std::vector<std::string> read = ReadAll(*std::move(reader));
        EXPECT_EQ(read, TestEntries(from, from - 1 + read.size()));
        EXPECT_LE(read.size(), 13 - from);
      }
    }
    Put(fs_, PathOf(first), whole);
  }
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 12));
}

TEST_F(JournalTest, DamageToWhatIsCoveredDoesNoHarm) {
  { AppendTo(*OpenJournal(fs_, 1), 5); }
  const uint64_t body = JournalHead(1, kTestSalt).size() + kFrameHeaderBytes;
  MustDo(fs_.FlipBit(PathOf(1), body, 3));
  EXPECT_EQ(EntriesFrom(2), TestEntries(2, 5));
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 0));
}

TEST_F(JournalTest, SaysWhatItCutOff) {
  { AppendTo(*OpenJournal(fs_, 1), 12); }
  const auto files = Must(ListJournal(fs_, kTestDir));
  ASSERT_GT(files.size(), 2U);
  const uint64_t head = JournalHead(1, kTestSalt).size();
  MustDo(fs_.FlipBit(PathOf(files[1]), head, 0));
  const auto journal = OpenJournal(fs_, 1);
  EXPECT_EQ(journal->next(), files[1]);
  ASSERT_TRUE(journal->cut().has_value());
  EXPECT_EQ(journal->cut()->path, PathOf(files[1]));
  EXPECT_EQ(journal->cut()->offset, head);
  EXPECT_GT(journal->cut()->bytes, SmallJournal().file_bytes / 2);
  // What was cut is gone, and the numbers are used again.
  EXPECT_EQ(Must(journal->Append("other")), files[1]);
  EXPECT_EQ(EntriesFrom(files[1]), std::vector<std::string>{"other"});
}

TEST_F(JournalTest, AFileWithoutAHeadIsNotThere) {
  { AppendTo(*OpenJournal(fs_, 1), 5); }
  for (const uint64_t from : {1U, 4U, 6U}) {
    Put(fs_, PathOf(6), std::string(10, '\0'));
    const auto journal = OpenJournal(fs_, from);
    EXPECT_EQ(journal->next(), 6U);
    ASSERT_TRUE(journal->cut().has_value());
    EXPECT_EQ(journal->cut()->bytes, 10U);
  }
}

TEST_F(JournalTest, AnotherJournalsFileIsNotTaken) {
  { AppendTo(*OpenJournal(fs_, 1), 3); }
  std::string other = JournalHead(4, kTestSalt + 1);
  AppendFrame(other, "theirs", JournalEntrySalt(kTestSalt + 1, 4));
  Put(fs_, PathOf(4), other);
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 3));
  // A journal keeps its salt, whatever is asked.
  JournalOptions options = SmallJournal();
  options.salt = 5;
  AppendTo(*Must(Journal::Open(fs_, kTestDir, options, 1)), 5);
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 5));
}

TEST_F(JournalTest, AnotherVersionIsRefusedAndKept) {
  { AppendTo(*OpenJournal(fs_, 1), 3); }
  for (const bool later : {true, false}) {
    const uint64_t version = later ? kJournalVersion + 1 : kJournalVersion - 1;
    std::string payload;
    ByteWriter writer(payload);
    writer.Sized("nephila journal");
    writer.Varint(version);
    writer.Raw("whatever");
    std::string file;
    AppendFrame(file, payload, JournalHeadSalt(4));
    Put(fs_, PathOf(4), file);
    EXPECT_FAILS(Journal::Open(fs_, kTestDir, SmallJournal(), 1), kUnsupported,
                 "version " + std::to_string(version));
    EXPECT_FAILS(Journal::Open(fs_, kTestDir, SmallJournal(), 4), kUnsupported,
                 later ? "a later nephila" : "an earlier nephila");
    EXPECT_EQ(Get(fs_, PathOf(4)), file);
  }
}

TEST_F(JournalTest, OtherNamesAreLeftAlone) {
  for (const char* name : {"journal-1.log", "journal-00000000.log",
                           "journal-00000001", "journal-x.log", "notes"}) {
    EXPECT_FALSE(JournalFileFirst(name).has_value()) << name;
    Put(fs_, kTestDir + "/" + name, "mine");
  }
  { AppendTo(*OpenJournal(fs_, 1), 3); }
  const auto journal = OpenJournal(fs_, 1);
  EXPECT_EQ(Get(fs_, kTestDir + "/notes"), "mine");
  EXPECT_EQ(Get(fs_, kTestDir + "/journal-1.log"), "mine");
  EXPECT_EQ(JournalFileFirst("journal-123456789.log"), 123456789U);
}

TEST_F(JournalTest, AFullDiskTakesTheReserveAndThenNothing) {
  const auto journal = OpenJournal(fs_, 1);
  AppendTo(*journal, 3);
  EXPECT_FALSE(journal->on_reserve());
  fs_.SetCapacity(0);
  uint64_t appended = 3;
  Result<uint64_t> last = uint64_t{0};
  while ((last = journal->Append(TestEntry(appended + 1))).has_value()) {
    ASSERT_EQ(*last, ++appended);
  }
  // Once the sectors of the open file are full, the reserve is needed; what
  // it gave is not free on a disk whose capacity is 0.
  EXPECT_EQ(CodeOf(last), "no space");
  EXPECT_TRUE(journal->on_reserve());
  EXPECT_EQ(journal->next(), appended + 1);
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
  MustDo(journal->Sync());
  EXPECT_FALSE(journal->on_reserve());
  AppendTo(*journal, 60);
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 60));
}

TEST_F(JournalTest, TheReserveHoldsTheEndsOfWhatIsInFlight) {
  const auto journal = OpenJournal(fs_, 1);
  AppendTo(*journal, 3);
  MustDo(journal->Sync());
  // Others fill the disk.
  const auto filler = Create(fs_, "filler");
  const uint64_t free = Must(fs_.FreeSpace(kTestDir));
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes - free);
  ASSERT_EQ(Must(fs_.FreeSpace(kTestDir)), 0U);
  // 8 KiB of reserve: files of 300 bytes take a sector each.
  AppendTo(*journal, 40);
  EXPECT_TRUE(journal->on_reserve());
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 40));
  // While space is short it is not held anew.
  MustDo(journal->Sync());
  EXPECT_TRUE(journal->on_reserve());
}

TEST_F(JournalTest, EveryLackOfSpaceLeavesAllAsItWas) {
  FaultyFileSystem faulty(fs_);
  const auto journal = Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
  for (uint64_t number = 1; number <= 40; ++number) {
    // The reserve is given back at the first, and the second is for good.
    faulty.FailAt(faulty.operations() + 1, Fault::kNoSpace, 2);
    const auto failed = journal->Append(TestEntry(number));
    EXPECT_EQ(CodeOf(failed), "no space") << number;
    EXPECT_EQ(EntriesFrom(1), TestEntries(1, number - 1));
    faulty.Heal();
    EXPECT_EQ(Must(journal->Append(TestEntry(number))), number);
    MustDo(journal->Sync());
    EXPECT_FALSE(journal->on_reserve());
  }
  EXPECT_EQ(EntriesFrom(1), TestEntries(1, 40));
}

TEST_F(JournalTest, AnyOtherFailureIsFinal) {
  for (uint64_t fault = 0;; ++fault) {
    MemoryFileSystem fs;
    MustDo(EnsureDir(fs, kTestDir));
    FaultyFileSystem faulty(fs, fault);
    const auto journal =
        Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
    const uint64_t begin = faulty.operations();
    faulty.FailAt(begin + fault + 1, Fault::kEio);
    uint64_t appended = 0;
    Status status;
    while (status.has_value() && appended < 15) {
      if (const auto number = journal->Append(TestEntry(appended + 1))) {
        ++appended;
      } else {
        status = Unexpected(number.error());
      }
      if (status.has_value() && appended % 4 == 0) status = journal->Sync();
      if (status.has_value() && appended % 6 == 0) {
        status = journal->Covered(appended - 3);
      }
    }
    if (status.has_value()) {
      EXPECT_GT(fault, 20U);
      break;
    }
    EXPECT_EQ(CodeOf(status), "i/o error");
    EXPECT_EQ(CodeOf(journal->Append("x")), "i/o error");
    EXPECT_EQ(CodeOf(journal->Sync()), "i/o error");
    EXPECT_EQ(CodeOf(journal->Covered(1)), "i/o error");
  }
}

TEST_F(JournalTest, ASyncThatFindsNoSpaceDoesNotAskForASecondTry) {
  FaultyFileSystem faulty(fs_);
  const auto journal = Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
  AppendTo(*journal, 1);
  faulty.FailAt(faulty.operations() + 1, Fault::kNoSpace);
  EXPECT_FAILS(journal->Sync(), kIo, "sync");
  EXPECT_FAILS(journal->Append("x"), kIo, "sync");
}

TEST_F(JournalTest, WhatASyncFailedToKeepIsWrittenAgain) {
  for (const bool new_file : {false, true}) {
    MemoryFileSystem fs;
    MustDo(EnsureDir(fs, kTestDir));
    FaultyFileSystem faulty(fs);
    {
      const auto journal =
          Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
      AppendTo(*journal, 2);
      MustDo(journal->Sync());
      AppendTo(*journal, new_file ? 9 : 3);
      // Of the file, or of the folder that has new names.
      faulty.FailAt(1, Fault::kSyncFails, 1);
      EXPECT_EQ(CodeOf(journal->Sync()), "i/o error");
    }
    fs.KillProcess();
    // The system shows what it will not keep.
    { AppendTo(*OpenJournal(fs, 3), 9); }
    { AppendTo(*OpenJournal(fs, 3), 9); }
    fs.LosePower(LossMode::kNothingUnsynced);
    EXPECT_EQ(ReadAll(Must(JournalReader::Open(fs, kTestDir, 3))),
              TestEntries(3, 9));
  }
}

TEST_F(JournalTest, ASyncWithoutNewsCostsNothing) {
  FaultyFileSystem faulty(fs_);
  const auto journal = Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
  AppendTo(*journal, 2);
  EXPECT_EQ(journal->synced(), 0U);
  MustDo(journal->Sync());
  EXPECT_EQ(journal->synced(), 2U);
  const uint64_t before = faulty.operations();
  MustDo(journal->Sync());
  EXPECT_EQ(faulty.operations(), before);
}

TEST_F(JournalTest, AnAppendIsOneWriteAndNoSync) {
  FaultyFileSystem faulty(fs_);
  const auto journal = Must(Journal::Open(faulty, kTestDir, SmallJournal(), 1));
  const uint64_t before = faulty.operations();
  AppendTo(*journal, 2);
  EXPECT_EQ(faulty.operations(), before + 2);
  for (const Operation& operation : faulty.log()) {
    if (operation.number <= before) continue;
    EXPECT_EQ(operation.kind, OperationKind::kWrite);
  }
}

TEST_F(JournalTest, ThreadsAppendInOneOrder) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 300;
  JournalOptions options = SmallJournal();
  options.file_bytes = 4096;
  const auto journal = Must(Journal::Open(fs_, kTestDir, options, 1));
  std::vector<std::vector<uint64_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads + 1);
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        numbers[t].push_back(
            Must(journal->Append(std::to_string(t * kEach + i))));
      }
    });
  }
  threads.emplace_back([&] {
    while (journal->next() <= kThreads * kEach) {
      MustDo(journal->Sync());
      const uint64_t synced = journal->synced();
      // What is covered is synced, and a reader sees what is not covered.
      const uint64_t covered = synced / 2;
      MustDo(journal->Covered(covered));
      const size_t read = ReadAll(Must(journal->Read(covered + 1))).size();
      EXPECT_GE(read, synced - covered);
    }
  });
  for (std::thread& thread : threads) thread.join();
  MustDo(journal->Sync());
  EXPECT_EQ(journal->synced(), kThreads * kEach);
  std::set<uint64_t> all;
  for (const auto& mine : numbers) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), kThreads * kEach);
  const uint64_t from = Must(ListJournal(fs_, kTestDir)).front();
  uint64_t number = from;
  for (const std::string& entry : EntriesFrom(from)) {
    const uint64_t written = std::stoull(entry);
    EXPECT_EQ(numbers[written / kEach][written % kEach], number++);
  }
  EXPECT_EQ(number, kThreads * kEach + 1);
}

}  // namespace
}  // namespace nephila::job
