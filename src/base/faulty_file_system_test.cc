// What MemoryFileSystem loses with the power, and how FaultyFileSystem fails.
#include "base/faulty_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "base/memory_file_system.h"

namespace nephila {
namespace {

constexpr size_t kSector = MemoryFileSystem::kSectorBytes;
constexpr LossMode kAllModes[] = {LossMode::kNothingUnsynced,
                                  LossMode::kEverything, LossMode::kTorn};

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <typename T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return *std::move(result);
}

void MustDo(const Status& status) {
  EXPECT_TRUE(status.has_value())
      << (status.has_value() ? std::string() : status.error().message);
}

template <typename T>
std::string CodeOf(const Result<T>& result) {
  return std::string(result.has_value() ? "ok"
                                        : ErrorCodeName(result.error().code));
}

std::unique_ptr<File> Create(FileSystem& fs, const std::string& path) {
  return Must(fs.Open(path, OpenMode::kCreate));
}

void Put(FileSystem& fs, const std::string& path, std::string_view contents) {
  const auto file = Create(fs, path);
  MustDo(file->Truncate(0));
  MustDo(file->Write(0, Bytes(contents)));
  MustDo(file->Sync());
}

// The contents, or "(none)".
std::string Get(FileSystem& fs, const std::string& path) {
  const auto contents = ReadWholeFile(fs, path, 1 << 20);
  if (contents.has_value()) return *contents;
  EXPECT_EQ(CodeOf(contents), "not found");
  return "(none)";
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
        EXPECT_EQ(Must(fs.List("d")), std::vector<std::string>{"y"});
      }
    }
  }
}

TEST(MemoryFileSystemTest, KeepsEverythingWhenOnlyTheProcessDies) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDir("d"));
  MustDo(Create(fs, "d/a")->Write(0, Bytes("unsynced")));
  MustDo(fs.Rename("d/a", "b"));
  fs.LosePower(LossMode::kEverything);
  EXPECT_EQ(Get(fs, "b"), "unsynced");
  EXPECT_EQ(Must(fs.List("/")), (std::vector<std::string>{"b", "d"}));
  // What a dead process has left in the page cache is on the disk by now.
  fs.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(fs, "b"), "unsynced");
}

TEST(MemoryFileSystemTest, LeavesEachTornSectorOldOrNewAndReachesMixtures) {
  constexpr size_t kSectors = 8;
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", std::string(kSectors * kSector, '0'));
    MustDo(fs.SyncDir("/"));
    const auto file = Create(fs, "a");
    MustDo(file->Write(0, Bytes(std::string(5 * kSector, '1'))));
    MustDo(file->Write(3 * kSector, Bytes(std::string(5 * kSector, '2'))));
    fs.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(fs, "a");
    ASSERT_EQ(left.size(), kSectors * kSector);
    std::string state;
    for (size_t i = 0; i < kSectors; ++i) {
      const char byte = left[i * kSector];
      EXPECT_EQ(left.substr(i * kSector, kSector), std::string(kSector, byte));
      EXPECT_NE(std::string(i < 3   ? "01"
                            : i < 5 ? "012"
                                    : "02")
                    .find(byte),
                std::string::npos);
      state += byte;
    }
    states.insert(state);
  }
  EXPECT_GT(states.size(), 50u);
  EXPECT_TRUE(states.contains("00000000"));
  EXPECT_TRUE(states.contains("11111000"));  // the first write, whole
  EXPECT_TRUE(states.contains("11122222"));
}

TEST(MemoryFileSystemTest, TearsAnAppendIntoPrefixesAndZerosOnly) {
  std::set<size_t> sizes;
  bool zeros = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", std::string(100, 's'));
    MustDo(fs.SyncDir("/"));
    const auto file = Create(fs, "a");
    for (uint64_t i = 0; i < 10; ++i) {
      MustDo(file->Write(100 + i * 100, Bytes(std::string(100, 'n'))));
    }
    fs.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(fs, "a");
    sizes.insert(left.size());
    EXPECT_EQ(left.size() % 100, 0u);
    EXPECT_EQ(left.substr(0, 100), std::string(100, 's'));
    // Within a sector, what came first is there if anything later is.
    for (size_t begin = 0; begin < left.size(); begin += kSector) {
      const std::string sector = left.substr(begin, kSector);
      const size_t hole = sector.find('\0');
      zeros |= hole != std::string::npos;
      if (hole == std::string::npos) continue;
      EXPECT_EQ(sector.find_first_not_of('\0', hole), std::string::npos);
    }
  }
  EXPECT_TRUE(zeros);
  EXPECT_EQ(*sizes.begin(), 100u);
  EXPECT_EQ(*sizes.rbegin(), 1100u);
}

TEST(MemoryFileSystemTest, NeverMixesWhatATruncateSeparates) {
  bool old_seen = false;
  bool new_seen = false;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", std::string(4 * kSector, 'o'));
    MustDo(fs.SyncDir("/"));
    const auto file = Create(fs, "a");
    MustDo(file->Truncate(0));
    MustDo(file->Write(0, Bytes(std::string(4 * kSector, 'n'))));
    fs.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(fs, "a");
    const bool has_old = left.find('o') != std::string::npos;
    const bool has_new = left.find('n') != std::string::npos;
    EXPECT_FALSE(has_old && has_new);
    EXPECT_TRUE(!has_old || left == std::string(4 * kSector, 'o'));
    old_seen |= has_old;
    new_seen |= has_new;
  }
  EXPECT_TRUE(old_seen && new_seen);
}

TEST(MemoryFileSystemTest, TearsADirectoryIntoAPrefixOfItsChanges) {
  std::set<std::vector<std::string>> states;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", "1");
    MustDo(fs.SyncDir("/"));
    MustDo(fs.Rename("a", "b"));
    Put(fs, "c", "2");
    MustDo(fs.Remove("b"));
    fs.LosePower(LossMode::kTorn, seed);
    states.insert(Must(fs.List("/")));
  }
  const std::set<std::vector<std::string>> allowed = {
      {"a"}, {"b"}, {"b", "c"}, {"c"}};
  EXPECT_EQ(states, allowed);
}

TEST(MemoryFileSystemTest, TearsARenameAcrossDirectoriesNeverInTwo) {
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem fs;
    for (const char* dir : {"d", "e"}) MustDo(fs.MakeDir(dir));
    Put(fs, "d/a", "1");
    for (const char* dir : {"/", "d", "e"}) MustDo(fs.SyncDir(dir));
    Put(fs, "e/x", "2");
    MustDo(fs.Rename("d/a", "e/b"));
    Put(fs, "d/y", "3");
    fs.LosePower(LossMode::kTorn, seed);
    EXPECT_NE(Must(fs.Exists("d/a")), Must(fs.Exists("e/b")));
    // Directories keep the order of their own changes.
    EXPECT_TRUE(!Must(fs.Exists("e/b")) || Get(fs, "e/x") == "2");
    EXPECT_TRUE(!Must(fs.Exists("d/y")) || Get(fs, "e/b") == "1");
    states.insert(Must(fs.Exists("e/x")) ? "x" : "no x");
    states.insert(Must(fs.Exists("e/b")) ? "b" : "no b");
    states.insert(Must(fs.Exists("d/y")) ? "y" : "no y");
  }
  EXPECT_EQ(states.size(), 6u);
}

TEST(MemoryFileSystemTest, NeverPutsTwoDirectoriesWithinEachOther) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    MemoryFileSystem fs;
    MustDo(fs.MakeDirs("p/a/b"));
    MustDo(fs.MakeDir("q"));
    Put(fs, "p/a/b/f", "1");
    for (const char* dir : {"/", "p", "p/a", "p/a/b"}) MustDo(fs.SyncDir(dir));
    MustDo(fs.Rename("p/a/b", "q/b"));
    MustDo(fs.Rename("p/a", "q/b/a"));
    fs.LosePower(LossMode::kTorn, seed);
    EXPECT_NE(Must(fs.Exists("p/a/b/f")), Must(fs.Exists("q/b/f")));
    EXPECT_NE(Must(fs.Exists("p/a")), Must(fs.Exists("q/b/a")));
  }
}

TEST(MemoryFileSystemTest, GivesTheSameCrashForTheSameSeed) {
  const auto crash = [](uint64_t seed) {
    MemoryFileSystem fs;
    for (const char* name : {"a", "b", "c", "d"}) {
      MustDo(Create(fs, name)->Write(0, Bytes(std::string(3000, 'x'))));
    }
    fs.LosePower(LossMode::kTorn, seed);
    std::string state;
    for (const char* name : {"a", "b", "c", "d"}) state += Get(fs, name) + "|";
    return state;
  };
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(crash(seed), crash(seed));
    states.insert(crash(seed));
  }
  EXPECT_GT(states.size(), 5u);
}

TEST(MemoryFileSystemTest, LeavesFilesAndLocksFromBeforeALossDead) {
  for (const LossMode mode : kAllModes) {
    MemoryFileSystem fs;
    Put(fs, "a", "1");
    auto lock = Must(fs.Lock("lock"));
    MustDo(fs.SyncDir("/"));
    auto file = Create(fs, "a");
    fs.LosePower(mode);
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

void PutOld(MemoryFileSystem& fs, std::string_view contents) {
  MustDo(fs.MakeDir("job"));
  MustDo(fs.SyncDir("/"));
  Put(fs, "job/a", contents);
  MustDo(fs.SyncDir("job"));
}

TEST(FaultyFileSystemTest, PublishIsAllOrNothingWhereverTheMachineStops) {
  const std::string old(1500, 'o');
  const std::string first(3000, '1');
  const std::string second(2000, '2');
  // Twice: create, truncate, write, sync, rename, sync directory.
  constexpr uint64_t kTotal = 12;
  for (uint64_t n = 1; n <= kTotal + 1; ++n) {
    std::set<std::string> outcomes;
    for (const LossMode mode : kAllModes) {
      for (uint64_t seed = 0; seed < 40; ++seed) {
        MemoryFileSystem memory;
        PutOld(memory, old);
        FaultyFileSystem fs(memory, seed);
        fs.StopAt(n, seed % 2 == 0 ? StopStyle::kClean : StopStyle::kTornWrite);
        Status done = PublishFile(fs, "job/a", first);
        if (done.has_value()) done = PublishFile(fs, "job/a", second);
        EXPECT_EQ(CodeOf(done), n <= kTotal ? "stopped" : "ok");
        EXPECT_EQ(fs.operations(), std::min(n, kTotal));
        memory.LosePower(mode, seed);
        outcomes.insert(Get(memory, "job/a"));
        // And what a restart publishes over the remains is whole as well.
        MustDo(PublishFile(memory, "job/a", "restarted"));
        memory.LosePower(mode, seed);
        EXPECT_EQ(Get(memory, "job/a"), "restarted");
      }
    }
    // The rename is the 5th operation and durable with the 6th: stopped in
    // between, either file may be there; otherwise it is certain which.
    std::set<std::string> expected = {n <= 6 ? old : n <= 12 ? first : second};
    if (n == 6) expected.insert(first);
    if (n == 12) expected.insert(second);
    EXPECT_EQ(outcomes, expected) << "stopped at operation " << n;
  }
}

TEST(FaultyFileSystemTest, CatchesAPublishThatForgetsToSync) {
  // The same loop must find the classic mistake, or it proves nothing.
  bool found = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    MemoryFileSystem memory;
    PutOld(memory, "old");
    MustDo(Create(memory, "job/a.tmp")->Write(0, Bytes("new")));
    MustDo(memory.Rename("job/a.tmp", "job/a"));
    memory.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(memory, "job/a");
    found |= left != "old" && left != "new";
  }
  EXPECT_TRUE(found);
}

TEST(FaultyFileSystemTest, NumbersAndLogsWhatChangesTheDisk) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  MustDo(fs.MakeDirs("d/e"));
  MustDo(fs.MakeDirs("d/e"));
  const auto file = Create(fs, "d/a");
  EXPECT_EQ(Must(file->Size()), 0u);
  MustDo(file->Write(7, Bytes("xyz")));
  MustDo(file->Allocate(100));
  MustDo(file->Truncate(20));
  MustDo(file->Sync());
  EXPECT_EQ(Must(Create(fs, "d/a")->Size()), 20u);
  MustDo(fs.Rename("d/a", "d/b"));
  MustDo(fs.SyncDir("d"));
  MustDo(fs.Remove("d/b"));
  MustDo(fs.RemoveDir("d/e"));
  Must(fs.Lock("lock")).reset();
  Must(fs.Lock("lock")).reset();
  std::string log;
  for (const Operation& op : fs.log()) log += DescribeOperation(op) + "\n";
  EXPECT_EQ(log,
            "#1 make directory d\n#2 make directory d/e\n#3 create d/a\n"
            "#4 write d/a offset 7 length 3\n#5 allocate d/a size 100\n"
            "#6 truncate d/a size 20\n#7 sync d/a\n#8 rename d/a -> d/b\n"
            "#9 sync directory d\n#10 remove d/b\n#11 remove d/e\n"
            "#12 create lock\n");
  EXPECT_EQ(fs.operations(), 12u);
}

TEST(FaultyFileSystemTest, DoesNothingAfterTheStop) {
  MemoryFileSystem memory;
  Put(memory, "a", "old");
  FaultyFileSystem fs(memory);
  const auto file = Create(fs, "a");
  fs.StopAt(2);
  MustDo(file->Write(0, Bytes("n")));
  const Status stopped = file->Write(1, Bytes("ew"));
  EXPECT_EQ(stopped.error().message,
            "#2 write a offset 1 length 2: the machine has stopped");
  EXPECT_TRUE(fs.stopped());
  std::byte byte{};
  EXPECT_EQ(CodeOf(file->ReadSome(0, {&byte, 1})), "stopped");
  EXPECT_EQ(CodeOf(file->Sync()), "stopped");
  EXPECT_EQ(CodeOf(fs.Open("a", OpenMode::kRead)), "stopped");
  EXPECT_EQ(CodeOf(fs.Open("b", OpenMode::kCreate)), "stopped");
  EXPECT_EQ(CodeOf(fs.Remove("a")), "stopped");
  EXPECT_EQ(CodeOf(fs.MakeDir("d")), "stopped");
  EXPECT_EQ(CodeOf(fs.List("/")), "stopped");
  EXPECT_EQ(CodeOf(fs.Exists("a")), "stopped");
  EXPECT_EQ(CodeOf(fs.Lock("l")), "stopped");
  EXPECT_EQ(fs.operations(), 2u);
  EXPECT_EQ(Get(memory, "a"), "nld");
  EXPECT_EQ(Must(memory.List("/")), std::vector<std::string>{"a"});
}

TEST(FaultyFileSystemTest, LetsAPrefixOfATornWriteThrough) {
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    MemoryFileSystem memory;
    FaultyFileSystem fs(memory, seed);
    const auto file = Create(fs, "a");
    fs.StopAt(2, StopStyle::kTornWrite);
    EXPECT_EQ(CodeOf(file->Write(0, Bytes("0123456789"))), "stopped");
    EXPECT_EQ(CodeOf(file->Write(0, Bytes("abcdefghij"))), "stopped");
    const std::string left = Get(memory, "a");
    EXPECT_EQ(left, std::string("0123456789").substr(0, left.size()));
    sizes.insert(left.size());
  }
  EXPECT_GE(*sizes.begin(), 1u);
  EXPECT_LE(*sizes.rbegin(), 9u);
  EXPECT_GT(sizes.size(), 5u);
}

TEST(FaultyFileSystemTest, FailsTheNextOperationThatTheFaultFits) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  fs.FailAt(1, Fault::kSyncFails);
  fs.FailAt(4, Fault::kEio);
  fs.FailAt(5, Fault::kNoSpace, 2);
  const auto file = Create(fs, "a");     // 1
  MustDo(file->Write(0, Bytes("one")));  // 2
  const Status failed = file->Sync();    // 3
  EXPECT_EQ(CodeOf(failed), "i/o error");
  EXPECT_NE(failed.error().message.find("sync a"), std::string::npos);
  EXPECT_EQ(CodeOf(file->Truncate(0)), "i/o error");  // 4
  MustDo(file->Truncate(2));                          // 5
  const Status full = file->Write(9, Bytes("x"));     // 6
  EXPECT_EQ(CodeOf(full), "no space");
  EXPECT_NE(full.error().message.find("a at offset 9"), std::string::npos);
  EXPECT_EQ(CodeOf(fs.Open("b", OpenMode::kCreate)), "no space");  // 7
  MustDo(file->Write(2, Bytes("x")));                              // 8
  EXPECT_EQ(Get(memory, "a"), "onx");
  EXPECT_FALSE(Must(memory.Exists("b")));
  MustDo(fs.SyncDir("/"));
  memory.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Get(memory, "a"), "");  // the failed sync kept nothing
}

TEST(FaultyFileSystemTest, MakesShortWritesThatWriteHides) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  const auto file = Create(fs, "a");
  const std::string data = "the quick brown fox jumps over the lazy dog";
  fs.FailAt(1, Fault::kShortWrite);
  EXPECT_LT(Must(file->WriteSome(0, Bytes(data))), data.size());
  EXPECT_EQ(Must(file->WriteSome(0, Bytes(data))), data.size());
  for (const uint64_t every : {1u, 2u, 3u}) {
    fs.ShortWritesEvery(every);
    const uint64_t before = fs.operations();
    for (uint64_t i = 0; i < 5; ++i) {
      MustDo(file->Write(i * data.size(), Bytes(data)));
    }
    EXPECT_GT(fs.operations(), before + 5);
    EXPECT_EQ(Get(memory, "a"), data + data + data + data + data);
    MustDo(file->Truncate(0));
  }
}

TEST(FaultyFileSystemTest, FailsReadsOfOnePathUntilHealed) {
  MemoryFileSystem memory;
  Put(memory, "a", "1");
  Put(memory, "b", "2");
  FaultyFileSystem fs(memory);
  fs.FailReadsOf("a");
  const auto failed = ReadWholeFile(fs, "a", 10);
  EXPECT_EQ(CodeOf(failed), "i/o error");
  EXPECT_NE(failed.error().message.find("a at offset 0"), std::string::npos);
  EXPECT_EQ(Get(fs, "b"), "2");
  fs.StopAt(1);
  EXPECT_EQ(CodeOf(fs.Remove("b")), "stopped");
  fs.Heal();
  EXPECT_EQ(Get(fs, "a"), "1");
  MustDo(fs.Remove("b"));
}

TEST(FaultyFileSystemTest, NumbersOperationsOfManyThreadsOnce) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c"}) {
    threads.emplace_back([&fs, name] {
      const auto file = Create(fs, name);
      for (uint64_t i = 0; i < 200; ++i) MustDo(file->Write(i, Bytes("x")));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fs.operations(), 603u);
  const std::vector<Operation> log = fs.log();
  for (size_t i = 0; i < log.size(); ++i) EXPECT_EQ(log[i].number, i + 1);
}

}  // namespace
}  // namespace nephila
