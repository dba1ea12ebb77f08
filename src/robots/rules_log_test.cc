#include "robots/rules_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"

namespace nephila::robots {
namespace {

class RulesLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(EnsureDir(fs_, "log").has_value());
    log_ = RulesLog::Create(fs_, "log", RulesLog::kLeastBytes);
  }
  std::string Commit() {
    std::string bytes;
    ByteWriter writer(bytes);
    EXPECT_TRUE(log_->BeginCommit(writer).has_value());
    EXPECT_TRUE(log_->FinishCommit().has_value());
    return bytes;
  }
  void Open(const std::string& commit) {
    ByteReader reader{std::string_view(commit)};
    auto log = RulesLog::Open(fs_, "log", RulesLog::kLeastBytes, reader);
    ASSERT_TRUE(log.has_value()) << log.error().message;
    EXPECT_TRUE(reader.AtEnd());
    log_ = *std::move(log);
  }
  RulesPlace Append(uint64_t key, const std::string& rules) {
    const auto place = log_->Append(key, rules);
    EXPECT_TRUE(place.has_value());
    return place.has_value() ? *place : RulesPlace();
  }
  std::string Read(uint64_t key, const RulesPlace& place) {
    const auto rules = log_->Read(key, place);
    return rules.has_value() ? *rules
                             : std::string(ErrorCodeName(rules.error().code));
  }
  size_t Files() { return fs_.List("log")->size(); }

  MemoryFileSystem fs_;
  std::unique_ptr<RulesLog> log_;
};

const std::string kCorrupt(ErrorCodeName(ErrorCode::kCorruption));
const std::string kGone(ErrorCodeName(ErrorCode::kNotFound));

TEST_F(RulesLogTest, GivesBackWhatWentIn) {
  const RulesPlace one = Append(1, "first");
  const RulesPlace two = Append(2, std::string(100'000, 'x'));
  EXPECT_EQ(Read(1, one), "first");
  EXPECT_EQ(Read(2, two), std::string(100'000, 'x'));
  // Of another origin, or of no place.
  EXPECT_EQ(Read(2, one), kCorrupt);
  EXPECT_EQ(Read(1, {one.file, one.offset + 1, one.size}), kCorrupt);
  EXPECT_EQ(Read(1, {one.file, one.offset, 1'000'000}), kCorrupt);
  EXPECT_EQ(Read(1, {one.file, UINT64_MAX, one.size}), kCorrupt);
  EXPECT_EQ(Read(1, {99, 0, 5}), kGone);
}

TEST_F(RulesLogTest, ACommitIsExactlyWhatItWas) {
  const RulesPlace one = Append(1, "first");
  const std::string commit = Commit();
  const RulesPlace two = Append(2, "second");
  for (int i = 0; i < 2; ++i) {
    fs_.LosePower(LossMode::kNothingUnsynced, 1);
    Open(commit);
    EXPECT_EQ(Read(1, one), "first");
    EXPECT_EQ(Read(2, two), kCorrupt);
    EXPECT_EQ(Append(3, "third"), (RulesPlace{two.file, two.offset, 5}));
  }
}

TEST_F(RulesLogTest, TheOldestFileIsForgottenAndRemovedTwoCommitsLater) {
  const std::string rules(RulesLog::kLeastBytes / 8, 'r');
  const RulesPlace first = Append(1, rules);
  const std::string commit = Commit();
  for (uint64_t i = 2; i <= 8; ++i) Append(i, rules);
  EXPECT_EQ(Read(1, first), rules);
  Append(9, rules);
  EXPECT_EQ(Read(1, first), kGone);
  EXPECT_EQ(Files(), 9U);
  EXPECT_LE(log_->bytes(), 2 * RulesLog::kLeastBytes);
  const std::string next = Commit();
  // Either can be gone on from.
  Open(next);
  EXPECT_EQ(Read(1, first), kGone);
  Open(commit);
  EXPECT_EQ(Read(1, first), rules);
  EXPECT_EQ(Files(), 1U);
  for (uint64_t i = 2; i <= 9; ++i) Append(i, rules);
  Commit();
  Commit();
  EXPECT_EQ(Files(), 9U);
  Commit();
  EXPECT_EQ(Files(), 8U);
}

TEST_F(RulesLogTest, AFileThatIsGoneIsNoError) {
  const RulesPlace place = Append(1, "first");
  const std::string commit = Commit();
  ASSERT_TRUE(fs_.Remove("log/rules-00000001").has_value());
  Open(commit);
  EXPECT_EQ(Read(1, place), kGone);
  const RulesPlace next = Append(2, "second");
  EXPECT_EQ(next.file, 2U);
  EXPECT_EQ(Read(2, next), "second");
}

TEST_F(RulesLogTest, AFullDiskRefusesAndTheSameWorksLater) {
  const RulesPlace one = Append(1, "first");
  fs_.SetCapacity(1);
  const auto refused = log_->Append(2, std::string(100'000, 'x'));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
  const RulesPlace two = Append(2, "second");
  EXPECT_EQ(Read(1, one), "first");
  EXPECT_EQ(Read(2, two), "second");
}

TEST_F(RulesLogTest, DamagedStatesAreRefused) {
  Append(1, "first");
  const std::string commit = Commit();
  for (size_t size = 0; size < commit.size(); ++size) {
    ByteReader reader{std::string_view(commit).substr(0, size)};
    EXPECT_FALSE(
        RulesLog::Open(fs_, "log", RulesLog::kLeastBytes, reader).has_value());
  }
}

}  // namespace
}  // namespace nephila::robots
