#include "crawl/archive_folders.h"

#include <gtest/gtest.h>

#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila::crawl {
namespace {

class ArchiveFoldersTest : public testing::Test {
 protected:
  std::unique_ptr<job::JobFolder> Job(const std::string& dir, uint64_t seed) {
    job::JobRequest request;
    request.key_seed = seed;
    return Must(job::JobFolder::OpenOrCreate(fs_, dir, request));
  }
  Result<ArchiveFolders> Open(const std::vector<std::string>& wanted,
                              const std::vector<std::string>& named = {}) {
    return ArchiveFolders::Open(fs_, *job_, wanted, named);
  }

  MemoryFileSystem fs_;
  std::unique_ptr<job::JobFolder> job_ = Job("job", 7);
};

TEST_F(ArchiveFoldersTest, ByDefaultItIsTheJobsOwn) {
  const ArchiveFolders folders = Must(Open({"archive"}));
  EXPECT_EQ(folders.paths(), std::vector<std::string>{"job/archive"});
  EXPECT_EQ(folders.names(), std::vector<std::string>{"archive"});
  EXPECT_TRUE(folders.old_paths().empty());
  EXPECT_TRUE(Must(fs_.List("job/archive")).empty());
}

TEST_F(ArchiveFoldersTest, OthersAreMadeAndThoseOfBeforeAreKept) {
  const ArchiveFolders folders = Must(Open({"/big/a", "more"}, {"archive"}));
  EXPECT_EQ(folders.paths(), (std::vector<std::string>{"/big/a", "job/more"}));
  EXPECT_EQ(folders.old_paths(), std::vector<std::string>{"job/archive"});
  EXPECT_EQ(folders.AllPaths(),
            (std::vector<std::string>{"/big/a", "job/more", "job/archive"}));
  EXPECT_EQ(folders.NameOf("job/more"), "more");
  EXPECT_EQ(folders.NameOf("job/archive"), "archive");
  // They are found again.
  EXPECT_EQ(Must(Open({"archive"}, folders.names())).old_paths(),
            (std::vector<std::string>{"/big/a", "job/more"}));
}

TEST_F(ArchiveFoldersTest, WhatCannotBeIsRefusedByName) {
  EXPECT_FAILS(Open({}), kInvalidArgument, "store.folders");
  EXPECT_FAILS(Open({"a", "b", "a"}), kInvalidArgument, "'a' is named twice");
  EXPECT_FAILS(Open({""}), kInvalidArgument, "store.folders");
  EXPECT_FAILS(Open(std::vector<std::string>(65, "x")), kInvalidArgument,
               "between 1 and 64");
  Must(Open({"/big/a"}));
  job_ = Job("other", 8);
  EXPECT_FAILS(Open({"/big/a"}), kInvalidArgument,
               "archive folder /big/a: it belongs to another job");
}

// A disk that is not mounted looks like an empty folder, or like none.
TEST_F(ArchiveFoldersTest, AFolderThatIsGoneIsAnError) {
  EXPECT_FAILS(Open({"archive"}, {"/big/a"}), kNotFound,
               "archive folder /big/a: it is missing");
  EXPECT_FAILS(Open({"/big/a"}, {"/big/a"}), kNotFound, "/big/a");
  MustDo(EnsureDir(fs_, "/big/a"));
  EXPECT_FAILS(Open({"/big/a"}, {"/big/a"}), kNotFound,
               "archive folder /big/a: there is no nephila-archive in it");
}

TEST_F(ArchiveFoldersTest, APartOfAManifestIsReadAsWritten) {
  ArchivePart part;
  EXPECT_EQ(Must(ReadArchivePart(WriteArchivePart(part))), part);
  part.folders = {"archive", "/big/a"};
  part.streams = {{{1, 100}, 20, "/big/a"}, {{3, 1}, 0, "archive"}};
  const std::string bytes = WriteArchivePart(part);
  EXPECT_EQ(Must(ReadArchivePart(bytes)), part);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(CodeOf(ReadArchivePart(bytes.substr(0, size))), "corruption");
  }
  EXPECT_EQ(CodeOf(ReadArchivePart(bytes + "x")), "corruption");
}

}  // namespace
}  // namespace nephila::crawl
