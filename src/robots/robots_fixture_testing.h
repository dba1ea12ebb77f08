// The fixture of the stage's tests: a stage, a clock that stands still, and no
// threads. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "item/admission.h"
#include "robots/robots_stage.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {

using Numbers = std::vector<uint64_t>;

class RobotsStageTest : public ::testing::Test {
 protected:
  void SetUp() override { Make(SmallStage()); }

  void Make(RobotsStageOptions options) {
    options_ = options;
    dir_ += "x";
    auto stage = RobotsStage::Create({fs_, clock_, workers_}, dir_, options_);
    ASSERT_TRUE(stage.has_value()) << stage.error().message;
    stage_ = *std::move(stage);
  }
  void AddUrl(uint64_t origin, uint64_t number, bool is_private = false) {
    AddRecord(EncodeUrl(origin, number, is_private));
  }
  void AddRecord(const std::string& record) {
    const auto added = stage_->Add(record, 10);
    ASSERT_TRUE(added.has_value()) << added.error().message;
    ASSERT_EQ(*added, item::Admission::kTaken);
  }
  // What comes out now, by number.
  std::vector<uint64_t> Run() {
    taken_.clear();
    EXPECT_TRUE(RunUntilDry(*stage_, taken_));
    EXPECT_EQ(stage_->account().Imbalance(), 0);
    const RobotsStats stats = stage_->stats();
    EXPECT_EQ(
        static_cast<int64_t>(stats.checking + stats.waiting + stats.parked),
        stage_->account().Totals().held);
    std::vector<uint64_t> numbers;
    for (const Taken& url : taken_) numbers.push_back(url.number);
    return numbers;
  }
  void End(const RobotsEnd& end) {
    const Status ended = stage_->RobotsEnded(end);
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
  }
  void Good(uint64_t origin, const std::string& rules = PrivateRules()) {
    End(GoodEnd(OriginText(origin), rules, clock_.WallNow()));
  }
  void Fail(uint64_t origin) {
    End(NetworkEnd(OriginText(origin), clock_.WallNow()));
  }
  // The one request that is there.
  void ExpectRequest(uint64_t origin) {
    EXPECT_EQ(TakeAll(*stage_), std::vector{OriginText(origin)});
  }
  void ExpectNoRequest() {
    EXPECT_EQ(TakeAll(*stage_), std::vector<std::string>());
  }
  uint64_t Dropped(DropReason reason) {
    return stage_->account().Totals().dropped[static_cast<size_t>(reason)];
  }
  std::string Commit() {
    const auto commit = stage_->BeginCommit();
    EXPECT_TRUE(commit.has_value());
    EXPECT_TRUE(stage_->FinishCommit().has_value());
    return *commit;
  }
  void Reopen(const std::string& commit) {
    stage_.reset();
    auto stage =
        RobotsStage::Open({fs_, clock_, workers_}, dir_, options_, commit);
    ASSERT_TRUE(stage.has_value()) << stage.error().message;
    stage_ = *std::move(stage);
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::string dir_ = "robots";
  RobotsStageOptions options_;
  std::unique_ptr<RobotsStage> stage_;
  std::vector<Taken> taken_;
};

}  // namespace nephila::robots
