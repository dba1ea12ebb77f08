#include "base/frozen_file_system.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila {
namespace {

class FrozenFileSystemTest : public ::testing::Test {
 protected:
  FrozenFileSystemTest() {
    MustDo(real_.MakeDir("d"));
    Put(real_, "d/a", "abcdef");
    Put(real_, "d/b", "b");
  }

  MemoryFileSystem real_;
  FrozenFileSystem fs_{real_};
};

TEST_F(FrozenFileSystemTest, WhatIsDoneToTheViewIsSeenThereAndNowhereElse) {
  EXPECT_EQ(Get(fs_, "d/a"), "abcdef");
  MustDo(Must(fs_.Open("d/a", OpenMode::kReadWrite))->Truncate(3));
  EXPECT_EQ(Get(fs_, "d/a"), "abc");
  MustDo(Must(fs_.Open("d/a", OpenMode::kReadWrite))->Write(1, Bytes("XYZ")));
  EXPECT_EQ(Get(fs_, "d/a"), "aXYZ");
  MustDo(fs_.Remove("d/b"));
  EXPECT_EQ(CodeOf(fs_.Open("d/b", OpenMode::kRead)), "not found");
  Put(fs_, "d/c.tmp", "new");
  MustDo(fs_.Rename("d/c.tmp", "d/c"));
  EXPECT_EQ(Get(fs_, "d/c"), "new");
  EXPECT_EQ(Names(fs_, "d"), (std::vector<std::string>{"a", "c"}));
  MustDo(fs_.SyncDir("d"));
  const auto lock = Must(fs_.Lock("d/lock"));

  EXPECT_EQ(Get(real_, "d/a"), "abcdef");
  EXPECT_EQ(Names(real_, "d"), (std::vector<std::string>{"a", "b"}));
}

TEST_F(FrozenFileSystemTest, ANameThatWasRemovedCanBeMadeAnew) {
  MustDo(fs_.Remove("d/a"));
  EXPECT_EQ(CodeOf(fs_.Remove("d/a")), "not found");
  const auto file = Must(fs_.Open("d/a", OpenMode::kCreateNew));
  EXPECT_EQ(Must(file->Size()), 0U);
  MustDo(file->Write(0, Bytes("1")));
  EXPECT_EQ(Get(fs_, "d/a"), "1");
  EXPECT_EQ(CodeOf(fs_.Open("d/a", OpenMode::kCreateNew)), "already exists");
  EXPECT_EQ(Get(real_, "d/a"), "abcdef");
}

TEST_F(FrozenFileSystemTest, AReserveTakesNothing) {
  MustDo(Must(fs_.Open("d/reserve", OpenMode::kCreate))
             ->Allocate(uint64_t{1} << 40));
  EXPECT_EQ(Names(real_, "d"), (std::vector<std::string>{"a", "b"}));
}

TEST_F(FrozenFileSystemTest, WhatWouldTakeTooMuchMemoryIsRefused) {
  const auto file = Must(fs_.Open("d/big", OpenMode::kCreate));
  EXPECT_EQ(CodeOf(file->Truncate(FrozenFileSystem::kMostCopied + 1)),
            "unsupported");
  EXPECT_EQ(CodeOf(file->Write(FrozenFileSystem::kMostCopied, Bytes("x"))),
            "unsupported");
  EXPECT_EQ(CodeOf(fs_.RemoveDir("d")), "unsupported");
  EXPECT_EQ(CodeOf(fs_.MakeDir("e")), "unsupported");
  EXPECT_EQ(CodeOf(fs_.Rename("d/a", "d/z")), "unsupported");
}

}  // namespace
}  // namespace nephila
