// What a MemoryFileSystem keeps and loses, and what it costs.
#include "base/memory_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "base/file_testing.h"
#include "base/random.h"

namespace nephila {
namespace {

constexpr uint64_t kSector = MemoryFileSystem::kSectorBytes;
constexpr LossMode kAllModes[] = {LossMode::kNothingUnsynced,
                                  LossMode::kEverything, LossMode::kTorn};

TEST(MemoryFileSystemTest, LosesDataThatWasNotSynced) {
  MemoryFileSystem fs;
  Put(fs, "a", "synced");
  EXPECT_OK(fs.SyncDir("/"));
  EXPECT_OK(Create(fs, "a")->Write(0, Bytes("UNSYNCED")));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "synced");
}

TEST(MemoryFileSystemTest, LosesTruncatesAndAllocatesThatWereNotSynced) {
  MemoryFileSystem fs;
  Put(fs, "a", "one");
  Put(fs, "b", "two");
  EXPECT_OK(fs.SyncDir("/"));
  EXPECT_OK(Create(fs, "a")->Truncate(1));
  EXPECT_OK(Create(fs, "b")->Allocate(5000));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "one");
  EXPECT_EQ(Get(fs, "b"), "two");
}

TEST(MemoryFileSystemTest, LosesSyncedDataWithItsUnsyncedName) {
  MemoryFileSystem fs;
  Put(fs, "a", "synced");
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "(none)");
}

TEST(MemoryFileSystemTest, KeepsASyncedNameWithoutUnsyncedData) {
  MemoryFileSystem fs;
  EXPECT_OK(Create(fs, "a")->Write(0, Bytes("unsynced")));
  EXPECT_OK(fs.SyncDir("/"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "");
}

TEST(MemoryFileSystemTest, LosesADirectoryWhoseParentWasNotSynced) {
  MemoryFileSystem fs;
  EXPECT_OK(fs.MakeDirs("d/e"));
  Put(fs, "d/e/a", "1");
  EXPECT_OK(fs.SyncDir("d/e"));
  EXPECT_OK(fs.SyncDir("/"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_TRUE(Must(fs.Exists("d")));
  EXPECT_FALSE(Must(fs.Exists("d/e")));
}

TEST(MemoryFileSystemTest, RevertsARenameOrRemovalThatWasNotSynced) {
  MemoryFileSystem fs;
  Put(fs, "a", "new");
  Put(fs, "b", "old");
  Put(fs, "c", "removed");
  EXPECT_OK(fs.SyncDir("/"));
  EXPECT_OK(fs.Rename("a", "b"));
  EXPECT_OK(fs.Remove("c"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "new");
  EXPECT_EQ(Get(fs, "b"), "old");
  EXPECT_EQ(Get(fs, "c"), "removed");
}

TEST(MemoryFileSystemTest, RunsOutOfSpaceAndGetsItBack) {
  MemoryFileSystem fs;
  fs.SetCapacity(4 * kSector);
  const auto file = Create(fs, "a");
  const std::string data(6 * kSector, 'x');
  EXPECT_EQ(Must(file->WriteSome(0, Bytes(data))), 4 * kSector);
  EXPECT_FAILS(file->Write(4 * kSector, Bytes("x")), kNoSpace, "");
  EXPECT_EQ(Must(fs.FreeSpace("/")), 0u);
  EXPECT_OK(file->Write(kSector, Bytes("in place needs no room")));
  EXPECT_OK(file->Truncate(2 * kSector));
  EXPECT_EQ(Must(fs.FreeSpace("/")), 2 * kSector);
  // An allocate that fails has taken what there was.
  EXPECT_FAILS(file->Allocate(5 * kSector), kNoSpace, "");
  EXPECT_EQ(Must(file->Size()), 4 * kSector);
  EXPECT_EQ(Must(fs.FreeSpace("/")), 0u);
  EXPECT_OK(file->Truncate(2 * kSector));
  // Space of a removed file is free when its last user is gone.
  auto other = Create(fs, "b");
  EXPECT_OK(other->Write(0, Bytes("x")));
  EXPECT_OK(fs.Remove("b"));
  EXPECT_EQ(Must(fs.FreeSpace("/")), kSector);
  other.reset();
  EXPECT_EQ(Must(fs.FreeSpace("/")), 2 * kSector);
  fs.LosePower(LossMode::kEverything);
  EXPECT_EQ(Must(fs.FreeSpace("/")), 2 * kSector);
}

TEST(MemoryFileSystemTest, ReservesSpaceByAllocateButNotByTruncate) {
  MemoryFileSystem fs;
  fs.SetCapacity(4 * kSector);
  const auto reserved = Create(fs, "reserved");
  EXPECT_OK(reserved->Allocate(2 * kSector));
  const auto hole = Create(fs, "hole");
  EXPECT_OK(hole->Truncate(100 * kSector));
  EXPECT_EQ(Must(fs.FreeSpace("/")), 2 * kSector);
  EXPECT_OK(Create(fs, "rest")->Write(0, Bytes(std::string(2 * kSector, 'x'))));
  EXPECT_FAILS(hole->Write(0, Bytes("x")), kNoSpace, "");
  EXPECT_OK(reserved->Write(0, Bytes(std::string(2 * kSector, 'x'))));
}

TEST(MemoryFileSystemTest, KeepsARenameInBothDirectoriesIfOneIsSynced) {
  for (const LossMode mode : kAllModes) {
    for (const char* synced : {"d", "e"}) {
      MemoryFileSystem fs;
      MustDo(fs.MakeDir("d"));
      MustDo(fs.MakeDir("e"));
      MustDo(fs.SyncDir("/"));
      Put(fs, "d/a", "1");
      MustDo(fs.Rename("d/a", "e/b"));
      MustDo(fs.SyncDir(synced));
      fs.LosePower(mode);
      EXPECT_EQ(Get(fs, "d/a"), "(none)");
      EXPECT_EQ(Get(fs, "e/b"), "1");
    }
  }
}

TEST(MemoryFileSystemTest, KeepsWhatWasSyncedInEveryMode) {
  for (const LossMode mode : kAllModes) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      MemoryFileSystem fs;
      MustDo(fs.MakeDir("d"));
      MustDo(fs.SyncDir("/"));
      Put(fs, "d/x", std::string(2000, 'x'));
      MustDo(fs.Rename("d/x", "d/y"));
      MustDo(fs.SyncDir("d"));
      for (int losses = 0; losses < 3; ++losses) {
        fs.LosePower(mode, seed);
        EXPECT_EQ(Get(fs, "d/y"), std::string(2000, 'x'));
        EXPECT_EQ(Names(fs, "d"), std::vector<std::string>{"y"});
      }
    }
  }
}

TEST(MemoryFileSystemTest, KeepsEverythingIfAllReachedTheDiskInTime) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDir("d"));
  MustDo(Create(fs, "d/a")->Write(0, Bytes("unsynced")));
  MustDo(fs.Rename("d/a", "b"));
  fs.LosePower(LossMode::kEverything);
  EXPECT_EQ(Get(fs, "b"), "unsynced");
  EXPECT_EQ(Names(fs, "/"), (std::vector<std::string>{"b", "d/"}));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "b"), "unsynced");
}

TEST(MemoryFileSystemTest, LeavesFilesAndLocksFromBeforeADeathDead) {
  const std::function<void(MemoryFileSystem&)> deaths[] = {
      [](MemoryFileSystem& fs) { fs.LosePower(LossMode::kNothingUnsynced); },
      [](MemoryFileSystem& fs) { fs.LosePower(LossMode::kEverything); },
      [](MemoryFileSystem& fs) { fs.LosePower(LossMode::kTorn); },
      [](MemoryFileSystem& fs) { fs.KillProcess(); }};
  for (const auto& die : deaths) {
    MemoryFileSystem fs;
    Put(fs, "a", "1");
    auto lock = Must(fs.Lock("lock"));
    MustDo(fs.SyncDir("/"));
    auto file = Create(fs, "a");
    die(fs);
    std::byte byte{};
    EXPECT_EQ(CodeOf(file->ReadSome(0, {&byte, 1})), "stopped");
    EXPECT_EQ(CodeOf(file->Write(0, Bytes("2"))), "stopped");
    EXPECT_EQ(CodeOf(file->Sync()), "stopped");
    EXPECT_EQ(CodeOf(file->Truncate(0)), "stopped");
    EXPECT_EQ(CodeOf(file->Allocate(10)), "stopped");
    EXPECT_EQ(CodeOf(file->Size()), "stopped");
    const auto new_lock = Must(fs.Lock("lock"));
    lock.reset();
    file.reset();
    EXPECT_EQ(CodeOf(fs.Lock("lock")), "busy");
    EXPECT_EQ(Get(fs, "a"), "1");
    MustDo(fs.Remove("a"));
    EXPECT_EQ(Must(fs.FreeSpace("/")), MemoryFileSystem::kDefaultCapacityBytes);
  }
}

TEST(MemoryFileSystemTest,
     AKilledProcessLeavesAllInSightAndNothingMoreDurable) {
  for (const LossMode mode :
       {LossMode::kNothingUnsynced, LossMode::kEverything}) {
    MemoryFileSystem fs;
    MustDo(fs.MakeDir("d"));
    Put(fs, "d/old", "old");
    MustDo(fs.SyncDir("/"));
    MustDo(fs.SyncDir("d"));
    MustDo(Create(fs, "d/old")->Write(0, Bytes("OLD and more")));
    Put(fs, "d/new", "synced, but not its name");
    MustDo(fs.Rename("d/new", "d/newer"));
    fs.KillProcess();
    EXPECT_EQ(Get(fs, "d/old"), "OLD and more");
    EXPECT_EQ(Get(fs, "d/newer"), "synced, but not its name");
    fs.LosePower(mode);
    const bool all = mode == LossMode::kEverything;
    EXPECT_EQ(Get(fs, "d/old"), all ? "OLD and more" : "old");
    EXPECT_EQ(Must(fs.Exists("d/newer")), all);
  }
}

TEST(MemoryFileSystemTest, WhatTheNextProcessSyncsIsDurable) {
  MemoryFileSystem fs;
  MustDo(Create(fs, "a")->Write(0, Bytes("unsynced")));
  fs.KillProcess();
  MustDo(Create(fs, "a")->Sync());
  MustDo(fs.SyncDir("/"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "unsynced");
}

TEST(MemoryFileSystemTest, AKillFreesWhatHasNoName) {
  MemoryFileSystem fs;
  const auto nameless = Create(fs, "a");
  MustDo(nameless->Write(0, Bytes("x")));
  MustDo(fs.Remove("a"));
  EXPECT_EQ(Must(fs.FreeSpace("/")),
            MemoryFileSystem::kDefaultCapacityBytes - kSector);
  fs.KillProcess();
  EXPECT_EQ(Must(fs.FreeSpace("/")), MemoryFileSystem::kDefaultCapacityBytes);
}

TEST(MemoryFileSystemTest, EnsuredDirectoriesLastAlsoIfAnotherMadeThem) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDirs("d/e"));
  fs.KillProcess();
  MustDo(EnsureDir(fs, "d/e/f"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_TRUE(Must(fs.Exists("d/e/f")));
}

TEST(MemoryFileSystemTest, NeverKeepsWhatAFailedSyncShouldHaveKept) {
  for (const LossMode mode : kAllModes) {
    MemoryFileSystem fs;
    Put(fs, "a", "old old old");
    MustDo(fs.SyncDir("/"));
    const auto file = Create(fs, "a");
    MustDo(file->Write(0, Bytes("NEW")));
    MustDo(file->Write(11, Bytes(" and longer")));
    fs.FailNextSync(EIO);
    EXPECT_FAILS(file->Sync(), kIo, "sync a");
    EXPECT_EQ(Get(fs, "a"), "NEW old old and longer");
    MustDo(file->Write(4, Bytes("OLD")));
    MustDo(file->Sync());
    MustDo(file->Sync());
    fs.KillProcess();
    EXPECT_EQ(Get(fs, "a"), "NEW OLD old and longer");
    MustDo(Create(fs, "a")->Sync());
    fs.LosePower(mode);
    EXPECT_EQ(Get(fs, "a"), "old OLD old");
  }
}

TEST(MemoryFileSystemTest, NeverKeepsNamesThatAFailedSyncShouldHaveKept) {
  for (const LossMode mode : kAllModes) {
    MemoryFileSystem fs;
    Put(fs, "a", "1");
    MustDo(fs.SyncDir("/"));
    Put(fs, "new", "2");
    MustDo(fs.Rename("a", "b"));
    fs.FailNextSync(EIO);
    EXPECT_FAILS(fs.SyncDir("/"), kIo, "sync directory /");
    EXPECT_EQ(Names(fs, "/"), (std::vector<std::string>{"b", "new"}));
    Put(fs, "later", "3");
    MustDo(fs.SyncDir("/"));
    fs.LosePower(mode);
    EXPECT_EQ(Names(fs, "/"), (std::vector<std::string>{"a", "later"}));
  }
}

TEST(MemoryFileSystemTest, NeverFindsAFileTwiceAfterAFailedSyncOfItsMove) {
  MemoryFileSystem fs;
  Put(fs, "a", "1");
  MustDo(fs.SyncDir("/"));
  MustDo(fs.Rename("a", "b"));
  fs.FailNextSync(EIO);
  EXPECT_FAILS(fs.SyncDir("/"), kIo, "");
  MustDo(fs.Rename("b", "c"));
  MustDo(fs.SyncDir("/"));
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Names(fs, "/"), std::vector<std::string>{"c"});
}

TEST(MemoryFileSystemTest, HoldsSparseFilesOfAnySize) {
  MemoryFileSystem fs;
  const auto file = Create(fs, "a");
  constexpr uint64_t kFar = (uint64_t{1} << 33) + 12345;
  MustDo(file->Write(kFar, Bytes("far")));
  MustDo(file->Write(0, Bytes("near")));
  EXPECT_EQ(Must(file->Size()), kFar + 3);
  EXPECT_EQ(Must(fs.FreeSpace("/")),
            MemoryFileSystem::kDefaultCapacityBytes - 2 * kSector);
  MustDo(file->Sync());
  MustDo(fs.SyncDir("/"));
  MustDo(file->Write(kFar, Bytes("FAR")));
  fs.LosePower(LossMode::kNothingUnsynced);
  std::string out(8, '?');
  const auto again = Must(fs.Open("a", OpenMode::kReadWrite));
  MustDo(again->ReadExact(kFar - 5, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, std::string(5, '\0') + "far");
  MustDo(again->Truncate(kFar + 1));
  EXPECT_EQ(Must(again->Read(kFar, std::as_writable_bytes(std::span(out)))),
            1u);
  EXPECT_EQ(CodeOf(again->Write(uint64_t{1} << 63, Bytes("x"))), "i/o error");
}

TEST(MemoryFileSystemTest, BoundsByCapacityNotByOffset) {
  MemoryFileSystem fs;
  const auto file = Create(fs, "a");
  EXPECT_FAILS(file->Allocate(uint64_t{1} << 50), kNoSpace, "a");
  EXPECT_EQ(Must(file->Size()), MemoryFileSystem::kDefaultCapacityBytes);
  MustDo(file->Truncate(0));
  fs.SetCapacity(3 * kSector);
  MustDo(file->Write(uint64_t{1} << 50, Bytes("x")));
  EXPECT_EQ(Must(file->WriteSome(0, Bytes(std::string(9 * kSector, 'x')))),
            2 * kSector);
}

// 1,000 times 256 MiB: many minutes, if a step cost the size of the file.
TEST(MemoryFileSystemTest, AllocatesSyncsAndLosesAtTheCostOfWhatChanged) {
  constexpr uint64_t kBytes = uint64_t{256} << 20;
  MemoryFileSystem fs;
  MustDo(Create(fs, "a")->Allocate(kBytes));
  MustDo(Create(fs, "a")->Sync());
  MustDo(fs.SyncDir("/"));
  for (uint64_t i = 0; i < 1000; ++i) {
    const auto file = Create(fs, "a");
    MustDo(file->Write(i * 50000, Bytes("x")));
    if (i % 2 == 0) MustDo(file->Sync());
    MustDo(file->Allocate(kBytes));
    fs.LosePower(i % 3 == 0 ? LossMode::kTorn : LossMode::kNothingUnsynced, i);
  }
  EXPECT_EQ(Must(Create(fs, "a")->Size()), kBytes);
  EXPECT_EQ(Must(fs.FreeSpace("/")),
            MemoryFileSystem::kDefaultCapacityBytes - kBytes);
}

TEST(MemoryFileSystemTest, FlipsABitOnTheDisk) {
  MemoryFileSystem fs;
  Put(fs, "a", "abc");
  MustDo(fs.SyncDir("/"));
  MustDo(fs.FlipBit("a", 1, 0));
  EXPECT_EQ(Get(fs, "a"), "acc");
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "a"), "acc");
  MustDo(fs.FlipBit("a", 1, 0));
  EXPECT_EQ(Get(fs, "a"), "abc");
  EXPECT_FAILS(fs.FlipBit("a", 3, 0), kInvalidArgument, "a at offset 3");
  EXPECT_FAILS(fs.FlipBit("b", 0, 0), kNotFound, "b");
}

// Pages, sharing and the count of sectors, against a string.
TEST(MemoryFileSystemTest, AgreesWithAPlainModelUnderRandomChanges) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    MemoryFileSystem fs;
    Put(fs, "a", "");
    MustDo(fs.SyncDir("/"));
    std::string now;
    std::string durable;
    for (int step = 0; step < 300; ++step) {
      const auto file = Create(fs, "a");
      const uint64_t place = random.Below(30000);
      const uint64_t action = random.Below(12);
      if (action < 5) {
        const std::string data(random.Below(9000), static_cast<char>(step));
        MustDo(file->Write(place, Bytes(data)));
        if (data.empty()) continue;
        now.resize(std::max<size_t>(now.size(), place + data.size()));
        now.replace(place, data.size(), data);
      } else if (action < 7) {
        MustDo(file->Truncate(place));
        now.resize(place);
      } else if (action < 8) {
        MustDo(file->Allocate(place));
        now.resize(std::max<size_t>(now.size(), place));
      } else if (action < 11) {
        MustDo(file->Sync());
        durable = now;
      } else {
        fs.LosePower(LossMode::kNothingUnsynced);
        now = durable;
      }
      ASSERT_EQ(Get(fs, "a"), now) << seed << " " << step;
    }
    MustDo(Create(fs, "a")->Allocate(now.size()));
    EXPECT_EQ(Must(fs.FreeSpace("/")),
              MemoryFileSystem::kDefaultCapacityBytes -
                  MemoryContents::SectorsOf(now.size()) * kSector);
    MustDo(Create(fs, "a")->Truncate(0));
    EXPECT_EQ(Must(fs.FreeSpace("/")), MemoryFileSystem::kDefaultCapacityBytes);
  }
}

}  // namespace
}  // namespace nephila
