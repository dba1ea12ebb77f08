// What LossMode::kTorn leaves, and never leaves.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila {
namespace {

constexpr uint64_t kSector = MemoryFileSystem::kSectorBytes;

TEST(MemoryTornTest, LeavesEachTornSectorOldOrNewAndReachesMixtures) {
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

TEST(MemoryTornTest, TearsAnAppendIntoPrefixesAndZerosOnly) {
  std::set<size_t> sizes;
  bool zeros = false;
  bool within = false;
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
    within |= left.size() % 100 != 0;
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
  EXPECT_TRUE(within);  // the size may be inside one of the writes
  EXPECT_EQ(*sizes.begin(), 100u);
  EXPECT_EQ(*sizes.rbegin(), 1100u);
}

TEST(MemoryTornTest, NeverMixesWhatATruncateSeparates) {
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

TEST(MemoryTornTest, TearsADirectoryIntoAPrefixOfItsChanges) {
  std::set<std::vector<std::string>> states;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", "1");
    MustDo(fs.SyncDir("/"));
    MustDo(fs.Rename("a", "b"));
    Put(fs, "c", "2");
    MustDo(fs.Remove("b"));
    fs.LosePower(LossMode::kTorn, seed);
    states.insert(Names(fs, "/"));
  }
  const std::set<std::vector<std::string>> allowed = {
      {"a"}, {"b"}, {"b", "c"}, {"c"}};
  EXPECT_EQ(states, allowed);
}

TEST(MemoryTornTest, TearsARenameAcrossDirectoriesNeverInTwo) {
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

TEST(MemoryTornTest, NeverPutsTwoDirectoriesWithinEachOther) {
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

TEST(MemoryTornTest, GivesTheSameCrashForTheSameSeed) {
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

TEST(MemoryTornTest, TearsTheSizeInsideOneWrite) {
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", std::string(10, 's'));
    MustDo(fs.SyncDir("/"));
    MustDo(Create(fs, "a")->Write(10, Bytes(std::string(2000, 'n'))));
    fs.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(fs, "a");
    EXPECT_EQ(left.substr(0, 10), std::string(10, 's'));
    sizes.insert(left.size());
  }
  EXPECT_EQ(*sizes.begin(), 10u);
  EXPECT_EQ(*sizes.rbegin(), 2010u);
  EXPECT_GT(sizes.size(), 30u);
}

TEST(MemoryTornTest, WhatATruncateCutWithinASectorNeverComesBack) {
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    MemoryFileSystem fs;
    Put(fs, "a", std::string(400, 'o'));
    MustDo(fs.SyncDir("/"));
    const auto file = Create(fs, "a");
    MustDo(file->Truncate(100));
    MustDo(file->Write(300, Bytes(std::string(200, 'n'))));
    fs.LosePower(LossMode::kTorn, seed);
    const std::string left = Get(fs, "a");
    EXPECT_EQ(left.substr(0, 100), std::string(100, 'o'));
    // Longer than 400 only by the write, 100 only by the truncate. With 400
    // the truncate may not have lasted.
    if (left.size() != 400) {
      EXPECT_EQ(left.find('o', 100), std::string::npos);
    }
    if (left.size() > 300 && left.size() != 400) {
      EXPECT_EQ(left.substr(100, 200), std::string(200, '\0'));
    }
    states.insert(left);
  }
  std::string whole(500, '\0');
  whole.replace(0, 100, 100, 'o');
  whole.replace(300, 200, 200, 'n');
  EXPECT_TRUE(states.contains(whole));
  // The new size without the new data: zeros, not what was there before.
  EXPECT_TRUE(states.contains(std::string(100, 'o') + std::string(400, '\0')));
  EXPECT_TRUE(states.contains(std::string(400, 'o')));
}

}  // namespace
}  // namespace nephila
