// The stage with workers, and commits that are finished on another thread.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "robots/robots_stage.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using item::Admission;

TEST(RobotsThreads, EachUrlComesOutOnceWhileOthersWork) {
  constexpr uint64_t kUrls = 5000;
  MemoryFileSystem fs;
  RealClock clock;
  Workers workers(2);
  RobotsStageOptions options = SmallStage();
  options.settings.retry_wait = std::chrono::milliseconds(1);
  options.settings.retry_wait_max = std::chrono::milliseconds(1);
  auto stage = RobotsStage::Create({fs, clock, workers}, "robots", options);
  ASSERT_TRUE(stage.has_value());
  std::set<uint64_t> out;
  std::map<uint64_t, uint64_t> asked;
  uint64_t next = 0;
  for (uint64_t turn = 1; next < kUrls || !(*stage)->IsEmpty(); ++turn) {
    for (int i = 0; i < 200 && next < kUrls; ++i) {
      const auto added = (*stage)->Add(EncodeUrl(next % 97, next, false), 1);
      ASSERT_TRUE(added.has_value());
      if (*added == Admission::kFull) break;
      ++next;
    }
    const auto moved = (*stage)->Step(
        [&out](const ReadyUrl& url) -> Result<Admission> {
          EXPECT_TRUE(out.insert(NumberOf(url.record)).second);
          return Admission::kTaken;
        },
        300);
    ASSERT_TRUE(moved.has_value());
    for (const std::string& origin : TakeAll(**stage)) {
      const uint64_t number = OriginNumber(origin);
      SiteAnswer answer = AskSite(number, asked[number]++, clock.WallNow());
      answer.end.origin = origin;
      answer.end.rules = answer.rules;
      ASSERT_TRUE((*stage)->RobotsEnded(answer.end).has_value());
    }
    if (*moved == 0) {
      ASSERT_TRUE((*stage)->Flush().has_value());
      ASSERT_TRUE((*stage)->Wait().has_value());
    }
    if (turn % 4 != 0) continue;
    ASSERT_TRUE((*stage)->BeginCommit().has_value());
    Status finished;
    std::thread other([&] { finished = (*stage)->FinishCommit(); });
    ASSERT_TRUE((*stage)
                    ->RobotsEnded(GoodEnd("http://other.test/",
                                          LongPrivateRules(), clock.WallNow()))
                    .has_value());
    other.join();
    ASSERT_TRUE(finished.has_value());
  }
  EXPECT_EQ(out.size(), kUrls);
  EXPECT_EQ((*stage)->account().Imbalance(), 0);
}

}  // namespace
}  // namespace nephila::robots
