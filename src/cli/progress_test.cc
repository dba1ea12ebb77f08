#include "cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

namespace nephila::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

crawl::CrawlStatus Status() {
  crawl::CrawlStatus status;
  status.elapsed = seconds(30);
  status.pages = 100;
  status.bytes = 100'000;
  return status;
}

TEST(ProgressTest, WithoutALimitNobodyKnowsHowLong) {
  EXPECT_FALSE(TimeLeft(Status(), 10, {}));
}

TEST(ProgressTest, TheLimitThatComesFirstCounts) {
  config::CrawlSettings limits;
  limits.max_time = minutes(2);
  EXPECT_EQ(TimeLeft(Status(), 10, limits), seconds(90));
  limits.max_pages = 600;
  EXPECT_EQ(TimeLeft(Status(), 10, limits), seconds(50));
  limits.max_bytes = 200'000;
  EXPECT_EQ(TimeLeft(Status(), 10, limits), seconds(10));
}

TEST(ProgressTest, AtNoRateOnlyTimePasses) {
  config::CrawlSettings limits;
  limits.max_pages = 600;
  limits.max_bytes = 200'000;
  EXPECT_FALSE(TimeLeft(Status(), 0, limits));
  limits.max_time = minutes(2);
  EXPECT_EQ(TimeLeft(Status(), 0, limits), seconds(90));
}

TEST(ProgressTest, ALimitThatIsReachedIsNotNegative) {
  config::CrawlSettings limits;
  limits.max_pages = 50;
  EXPECT_EQ(TimeLeft(Status(), 10, limits), seconds(0));
}

TEST(ProgressTest, TheLineSaysWhatIsLeft) {
  EXPECT_NE(
      ProgressLine(Status(), 10, seconds(125)).find(", at most 2m 5s left"),
      std::string::npos);
  EXPECT_NE(
      ProgressLine(Status(), 10, seconds(90'000)).find("at most 1d 1h left"),
      std::string::npos);
  EXPECT_EQ(ProgressLine(Status(), 10, std::nullopt).find("left"),
            std::string::npos);
}

TEST(ProgressTest, MillionsOfSeedsAreNotTakenInSilence) {
  std::ostringstream err;
  Progress loud(/*quiet=*/false, err);
  Progress quiet(/*quiet=*/true, err);
  for (const uint64_t seeds : {0, 1, 999'999, 1'000'000, 1'000'001}) {
    loud.ShowSeeds(seeds);
    quiet.ShowSeeds(seeds);
  }
  EXPECT_EQ(err.str(), "nephila: 1 million seeds taken\n");
}

TEST(ProgressTest, WhatMattersMostComesFirst) {
  crawl::CrawlStatus status = Status();
  status.waiting = 7;
  EXPECT_EQ(ProgressLine(status, 10, seconds(5)),
            "100 pages, 10.0/s, 97.7 KiB, at most 5s left; 0 failed; 0 in "
            "flight, 0 ready, 7 waiting");
}

}  // namespace
}  // namespace nephila::cli
