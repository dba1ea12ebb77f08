// How FaultyFileSystem fails, and what a crash test finds with it.
#include "base/faulty_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila {
namespace {

constexpr LossMode kAllModes[] = {LossMode::kNothingUnsynced,
                                  LossMode::kEverything, LossMode::kTorn};

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

// A restart finds a journal and publishes how long it is.
Status Recover(FileSystem& fs, bool sync_first) {
  NEPHILA_TRY(const std::string journal,
              ReadWholeFile(fs, "job/journal", 1000));
  if (sync_first) {
    NEPHILA_TRY(const auto file, fs.Open("job/journal", OpenMode::kReadWrite));
    NEPHILA_RETURN_IF_ERROR(file->Sync());
    NEPHILA_RETURN_IF_ERROR(fs.SyncDir("job"));
  }
  return PublishFile(fs, "job/manifest", std::to_string(journal.size()));
}

// Killed with an un-synced journal, recovered up to operation n, power lost:
// whether the manifest still tells the truth.
bool OutlivesKillAndLoss(bool sync_first, uint64_t n, LossMode mode,
                         uint64_t seed) {
  MemoryFileSystem memory;
  MustDo(EnsureDir(memory, "job"));
  MustDo(Create(memory, "job/journal")->Write(0, Bytes("ten bytes.")));
  memory.KillProcess();
  FaultyFileSystem fs(memory, seed);
  fs.StopAt(n);
  const Status recovered = Recover(fs, sync_first);
  EXPECT_EQ(CodeOf(recovered), fs.stopped() ? "stopped" : "ok");
  memory.LosePower(mode, seed);
  return Get(memory, "job/manifest") == "(none)" ||
         Get(memory, "job/journal") == "ten bytes.";
}

TEST(FaultyFileSystemTest, CatchesARecoveryThatBuildsOnWhatIsNotDurable) {
  bool caught = false;
  for (const LossMode mode : kAllModes) {
    for (uint64_t n = 1; n <= 10; ++n) {
      for (uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_TRUE(OutlivesKillAndLoss(true, n, mode, seed)) << n;
        caught |= !OutlivesKillAndLoss(false, n, mode, seed);
      }
    }
  }
  EXPECT_TRUE(caught);
  EXPECT_FALSE(OutlivesKillAndLoss(false, 10, LossMode::kNothingUnsynced, 0));
}

TEST(FaultyFileSystemTest, ASyncThatFailedIsNotMendedByTheNext) {
  for (const Fault fault : {Fault::kSyncFails, Fault::kEio, Fault::kNoSpace}) {
    MemoryFileSystem memory;
    PutOld(memory, "old");
    FaultyFileSystem fs(memory);
    const auto file = Create(fs, "job/a");
    MustDo(file->Write(0, Bytes("new")));
    fs.FailAt(2, fault);
    const Status failed = file->Sync();
    // Also for want of space: "no space" would ask for a second try.
    EXPECT_EQ(CodeOf(failed), "i/o error");
    MustDo(file->Sync());
    Put(fs, "job/b", "1");
    fs.FailAt(1, fault);
    EXPECT_EQ(CodeOf(fs.SyncDir("job")), "i/o error");
    MustDo(fs.SyncDir("job"));
    EXPECT_EQ(Get(memory, "job/a"), "new");
    EXPECT_EQ(Names(memory, "job"), (std::vector<std::string>{"a", "b"}));
    memory.LosePower(LossMode::kEverything);
    EXPECT_EQ(Get(memory, "job/a"), "old");
    EXPECT_EQ(Names(memory, "job"), std::vector<std::string>{"a"});
  }
}

TEST(FaultyFileSystemTest, AWriteThatFailsMayBeDoneInPart) {
  std::set<std::string> states;
  std::set<uint64_t> allocated;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    MemoryFileSystem memory;
    FaultyFileSystem fs(memory, seed);
    const auto file = Create(fs, "a");
    fs.FailAt(2, Fault::kEio);
    EXPECT_FAILS(file->Write(0, Bytes("new")), kIo, "a at offset 0");
    states.insert(Get(memory, "a"));
    MustDo(file->Truncate(0));
    fs.FailAt(1, Fault::kNoSpace);
    EXPECT_FAILS(file->Allocate(1000), kNoSpace, "allocate a");
    allocated.insert(Must(file->Size()));
  }
  EXPECT_EQ(states, (std::set<std::string>{"", "n", "ne"}));
  EXPECT_GT(allocated.size(), 20u);
  EXPECT_LT(*allocated.rbegin(), 1000u);
}

TEST(FaultyFileSystemTest, AFullDiskHitsWhateverNeedsABlock) {
  MemoryFileSystem memory;
  Put(memory, "a", "123");
  FaultyFileSystem fs(memory);
  const auto file = Create(fs, "a");
  const std::function<Status()> hit[] = {
      [&] { return file->Write(0, Bytes("x")); },
      [&] { return file->Truncate(4); },
      [&] { return file->Allocate(4); },
      [&] { return fs.Rename("a", "b"); },
      [&] { return fs.MakeDir("d"); },
      [&]() -> Status {
        NEPHILA_RETURN_IF_ERROR(fs.Open("new", OpenMode::kCreate));
        return {};
      }};
  for (const auto& operation : hit) {
    fs.FailAt(1, Fault::kNoSpace);
    EXPECT_EQ(CodeOf(operation()), "no space");
  }
  // A sync too, but that is final.
  fs.FailAt(1, Fault::kNoSpace);
  EXPECT_EQ(CodeOf(file->Sync()), "i/o error");
  fs.FailAt(1, Fault::kNoSpace);
  EXPECT_EQ(CodeOf(fs.SyncDir("/")), "i/o error");
  fs.FailAt(1, Fault::kNoSpace);
  MustDo(file->Truncate(1));
  MustDo(fs.Remove("a"));
}

TEST(FaultyFileSystemTest, FailsTheNthReadAndNoOther) {
  MemoryFileSystem memory;
  Put(memory, "a", "123");
  FaultyFileSystem fs(memory);
  const auto file = Create(fs, "a");
  fs.FailReadAt(2);
  std::byte byte{};
  MustDo(file->ReadExact(0, {&byte, 1}));
  EXPECT_FAILS(file->ReadExact(1, {&byte, 1}), kIo, "a at offset 1");
  MustDo(file->ReadExact(1, {&byte, 1}));
  EXPECT_EQ(fs.reads(), 3u);
  EXPECT_EQ(fs.operations(), 0u);
  fs.FailReadAt(1, 2);
  EXPECT_EQ(CodeOf(file->ReadSome(0, {&byte, 1})), "i/o error");
  EXPECT_EQ(CodeOf(file->ReadSome(0, {&byte, 1})), "i/o error");
  MustDo(file->ReadExact(0, {&byte, 1}));
}

TEST(FaultyFileSystemTest, MakesShortReadsThatReadHides) {
  const std::string data = "the quick brown fox jumps over the lazy dog";
  MemoryFileSystem memory;
  Put(memory, "a", data);
  FaultyFileSystem fs(memory);
  const auto file = Create(fs, "a");
  std::string out(data.size(), '?');
  const auto buffer = std::as_writable_bytes(std::span(out));
  fs.ShortReadsEvery(2);
  EXPECT_EQ(Must(file->ReadSome(0, buffer)), data.size());
  EXPECT_LT(Must(file->ReadSome(0, buffer)), data.size());
  for (const uint64_t every : {1u, 2u, 3u}) {
    fs.ShortReadsEvery(every);
    const uint64_t before = fs.reads();
    for (int i = 0; i < 5; ++i) MustDo(file->ReadExact(0, buffer));
    EXPECT_GT(fs.reads(), before + 5);
    EXPECT_EQ(out, data);
  }
}

TEST(FaultyFileSystemTest, FailsReadsOfAFileUnderItsOldAndItsNewPath) {
  MemoryFileSystem memory;
  MustDo(memory.MakeDir("d"));
  for (const char* name : {"d/a", "d/c"}) Put(memory, name, "1");
  FaultyFileSystem fs(memory);
  const auto moved = Must(fs.Open("d/a", OpenMode::kRead));
  const auto other = Must(fs.Open("d/c", OpenMode::kRead));
  MustDo(fs.Rename("d/a", "d/b"));
  MustDo(fs.Rename("d", "e"));
  std::byte byte{};
  for (const char* path : {"d/a", "e/b"}) {
    fs.FailReadsOf(path);
    EXPECT_EQ(CodeOf(moved->ReadSome(0, {&byte, 1})), "i/o error") << path;
    EXPECT_EQ(CodeOf(other->ReadSome(0, {&byte, 1})), "ok");
    fs.Heal();
  }
  fs.FailReadsOf("d/b");  // in between it was that
  EXPECT_EQ(CodeOf(moved->ReadSome(0, {&byte, 1})), "ok");
  MustDo(fs.Rename("e/c", "e/b"));
  fs.FailReadsOf("e/b");  // another file by now
  EXPECT_EQ(CodeOf(moved->ReadSome(0, {&byte, 1})), "ok");
  EXPECT_EQ(CodeOf(other->ReadSome(0, {&byte, 1})), "i/o error");
}

TEST(FaultyFileSystemTest, PartsOfDirectReadsAndWritesAreAligned) {
  struct alignas(kDirectAlignment) Buffer {
    std::array<std::byte, 5 * kDirectAlignment> bytes{};
  };
  const auto buffer = std::make_unique<Buffer>();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MemoryFileSystem memory;
    FaultyFileSystem fs(memory, seed);
    const auto file = Must(fs.Open("a", {OpenMode::kCreate, true}));
    fs.ShortWritesEvery(2);
    fs.ShortReadsEvery(2);
    for (int i = 0; i < 4; ++i) {
      MustDo(file->Write(0, buffer->bytes));
      MustDo(file->ReadExact(0, buffer->bytes));
    }
    fs.FailAt(1, Fault::kEio);
    EXPECT_EQ(CodeOf(file->Write(0, buffer->bytes)), "i/o error");
  }
}

TEST(FaultyFileSystemTest, ASlowDiskLetsTimePass) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  ManualClock clock;
  const MonoTime start = clock.Now();
  const auto file = Create(fs, "a");
  EXPECT_EQ(clock.Now(), start);
  fs.SlowDown(clock, std::chrono::milliseconds(5), 1000);
  MustDo(file->Write(0, Bytes(std::string(200, 'x'))));
  EXPECT_EQ(clock.Now() - start, std::chrono::milliseconds(205));
  MustDo(file->Sync());
  EXPECT_EQ(clock.Now() - start, std::chrono::milliseconds(210));
  std::byte byte{};
  MustDo(file->ReadExact(0, {&byte, 1}));
  EXPECT_EQ(clock.Now() - start, std::chrono::milliseconds(216));
  fs.Heal();
  MustDo(file->Sync());
  EXPECT_EQ(clock.Now() - start, std::chrono::milliseconds(216));
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
  EXPECT_EQ(CodeOf(fs.Stamp("a")), "stopped");
  EXPECT_EQ(CodeOf(fs.Lock("l")), "stopped");
  EXPECT_EQ(fs.operations(), 2u);
  EXPECT_EQ(Get(memory, "a"), "nld");
  EXPECT_EQ(Names(memory, "/"), std::vector<std::string>{"a"});
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
