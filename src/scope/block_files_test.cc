#include "scope/block_files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "url/record_keys.h"

namespace nephila::scope {
namespace {

class BlockFilesTest : public testing::Test {
 protected:
  BlockFiles::Parts PartsOf() {
    return {fs_, settings_, suffixes_, "blocked",
            [this](std::string_view line) { said_.emplace_back(line); }};
  }
  std::unique_ptr<BlockFiles> Open() {
    return Must(BlockFiles::Open(PartsOf()));
  }
  std::string ErrorOfOpen() {
    const auto files = BlockFiles::Open(PartsOf());
    return files.has_value() ? "" : files.error().message;
  }
  bool Blocks(const BlockFiles& files, std::string_view url) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    std::string scratch;
    return files.lists()
        ->Find(url::MakeUrlRecord(*canonical), scratch)
        .has_value();
  }

  MemoryFileSystem fs_;
  config::Settings settings_;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, 1};
  std::vector<std::string> said_;
};

TEST_F(BlockFilesTest, SettingsFilesAndTheJobsOwnHoldTogether) {
  settings_.scope.block = {"host a.test", "host b.test"};
  settings_.scope.block_files = {"list"};
  Put(fs_, "list", "host c.test\n");
  Put(fs_, "blocked", "host d.test\n");
  const auto files = Open();
  for (const char* url : {"http://a.test/", "http://b.test/", "http://c.test/",
                          "http://d.test/"}) {
    EXPECT_TRUE(Blocks(*files, url)) << url;
  }
  EXPECT_FALSE(Blocks(*files, "http://e.test/"));
  EXPECT_FALSE(files->Look());
}

TEST_F(BlockFilesTest, AFileIsReadAgainWhenItHasChanged) {
  settings_.scope.block_files = {"list"};
  Put(fs_, "list", "host a.test\n");
  const auto files = Open();
  const auto before = files->lists();
  Put(fs_, "list", "host b.test\n");
  EXPECT_TRUE(files->Look());
  EXPECT_FALSE(Blocks(*files, "http://a.test/"));
  EXPECT_TRUE(Blocks(*files, "http://b.test/"));
  // Who has the set of before has it as it was.
  EXPECT_EQ(before->lines(), 1U);
  EXPECT_NE(before, files->lists());
  EXPECT_FALSE(files->Look());
}

TEST_F(BlockFilesTest, TheJobsOwnFileMayCome) {
  const auto files = Open();
  EXPECT_FALSE(files->Look());
  EXPECT_TRUE(files->lists()->empty());
  Put(fs_, "blocked", "host a.test\n");
  EXPECT_TRUE(files->Look());
  EXPECT_TRUE(Blocks(*files, "http://a.test/"));
  EXPECT_TRUE(said_.empty());
}

TEST_F(BlockFilesTest, AFileThatGoesKeepsItsListAndIsSaidOnce) {
  settings_.scope.block_files = {"list"};
  Put(fs_, "list", "host a.test\n");
  const auto files = Open();
  MustDo(fs_.Remove("list"));
  EXPECT_FALSE(files->Look());
  EXPECT_FALSE(files->Look());
  EXPECT_TRUE(Blocks(*files, "http://a.test/"));
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("list"), std::string::npos);
  EXPECT_NE(said_[0].find("stays as it was"), std::string::npos);
  // And holds again when it is back.
  Put(fs_, "list", "host b.test\n");
  EXPECT_TRUE(files->Look());
  EXPECT_TRUE(Blocks(*files, "http://b.test/"));
  MustDo(fs_.Remove("list"));
  EXPECT_FALSE(files->Look());
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(BlockFilesTest, ALineThatIsWrongIsSaidOnceWithItsPlace) {
  settings_.scope.block_files = {"list"};
  Put(fs_, "list", "host a.test\nexample.org\n");
  const auto files = Open();
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_TRUE(said_[0].starts_with("list:2: 'example.org' is none of"));
  EXPECT_TRUE(said_[0].ends_with("; left out"));
  Put(fs_, "list", "host a.test\nexample.org\nhost b.test\n");
  EXPECT_TRUE(files->Look());
  EXPECT_TRUE(Blocks(*files, "http://b.test/"));
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(BlockFilesTest, OfAFileThatIsNoListFewLinesAreSaid) {
  settings_.scope.block_files = {"list"};
  std::string text;
  for (int i = 0; i < 100; ++i) text += "no line\n";
  Put(fs_, "list", text);
  const auto files = Open();
  EXPECT_EQ(said_.size(), 21U);
  EXPECT_EQ(said_.back(), "list: 80 lines more are left out");
}

TEST_F(BlockFilesTest, WhatIsWrongAtTheStartIsAnError) {
  settings_.scope.block = {"host a.test", "hosts b.test"};
  EXPECT_TRUE(ErrorOfOpen().starts_with("scope.block: 'hosts b.test' is none"));
  settings_.scope.block = {"host a.test\nhost b.test"};
  EXPECT_TRUE(ErrorOfOpen().starts_with("scope.block: "));
  settings_.scope.block = {};
  settings_.scope.block_files = {"none"};
  EXPECT_TRUE(ErrorOfOpen().starts_with("scope.block_files: "));
  EXPECT_NE(ErrorOfOpen().find("none"), std::string::npos);
}

}  // namespace
}  // namespace nephila::scope
