#include "control/limit.h"

#include <gtest/gtest.h>

namespace nephila::control {
namespace {

using crawl::CrawlState;
using std::chrono::milliseconds;

TEST(LimitTest, NumbersAreReadInGroups) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(2130), "2 130");
  EXPECT_EQ(Grouped(1'000'000), "1 000 000");
}

TEST(LimitTest, HostsThatWaitAreCounted) {
  LimitFacts facts;
  facts.most_in_flight = 500;
  facts.hosts_waiting = 2130;
  facts.waiting = 50'000;
  EXPECT_EQ(LimitText(facts),
            "2 130 hosts wait for their delay; nothing else is ready");
  facts.hosts_waiting = 1;
  facts.next_host = milliseconds(2500);
  EXPECT_EQ(LimitText(facts),
            "1 host waits for its delay, the first for 2.5 s; nothing else is "
            "ready");
  facts.ready = 1200;
  facts.hosts_due = 3;
  EXPECT_EQ(LimitText(facts),
            "3 hosts wait for their turn at an address "
            "(politeness.server_delay), 1 for its delay");
  facts.hosts_waiting = 4;
  EXPECT_EQ(LimitText(facts),
            "4 hosts wait for their delay, the first for 2.5 s; 3 for a turn "
            "at an address; 1 200 URLs are ready behind them");
}

TEST(LimitTest, WhatHoldsACrawlComesBeforeWhatItWaitsFor) {
  LimitFacts facts;
  facts.hosts_waiting = 5;
  facts.in_flight = 2;
  facts.state = CrawlState::kPaused;
  EXPECT_EQ(LimitText(facts), "paused; 2 requests are in flight");
  facts.in_flight = 0;
  EXPECT_EQ(LimitText(facts), "paused");
  facts.state = CrawlState::kWaitingForDisk;
  facts.disk = "disk: 1.0 GiB free, below disk.floor of 2.0 GiB; waiting";
  EXPECT_EQ(LimitText(facts), facts.disk);
  facts.state = CrawlState::kStopping;
  facts.end = "max-pages";
  facts.in_flight = 1;
  EXPECT_EQ(LimitText(facts), "it ends (max-pages); 1 request is in flight");
  facts.in_flight = 0;
  EXPECT_EQ(LimitText(facts),
            "it ends (max-pages); its last checkpoint is made");
  facts.state = CrawlState::kStopped;
  EXPECT_EQ(LimitText(facts), "stopped: max-pages");
}

TEST(LimitTest, RatesThatWereSetAreNamedWhenTheyAreReached) {
  LimitFacts facts;
  facts.in_flight = facts.most_in_flight = 10;
  facts.max_pages_per_second = 100;
  facts.pages_per_second = 95;
  EXPECT_EQ(LimitText(facts),
            "the 100 pages per second that were set "
            "(fetch.max_pages_per_second)");
  facts.pages_per_second = 50;
  facts.max_bytes_per_second = 1 << 20;
  facts.bytes_per_second = 1 << 20;
  EXPECT_EQ(LimitText(facts),
            "the 1.0 MiB per second that were set "
            "(fetch.max_bytes_per_second)");
  facts.bytes_per_second = 0;
  EXPECT_EQ(LimitText(facts),
            "transfers: all 10 are in flight (crawl.max_transfers)");
}

TEST(LimitTest, StagesThatCannotKeepUpAreTheDisk) {
  LimitFacts facts;
  facts.is_behind = true;
  EXPECT_TRUE(LimitText(facts).starts_with("the disk: ")) << LimitText(facts);
}

TEST(LimitTest, SmallCrawlsWaitForSmallThings) {
  LimitFacts facts;
  facts.waiting = 9;
  facts.hosts_due = 2;
  EXPECT_EQ(LimitText(facts),
            "2 hosts wait for their turn at an address "
            "(politeness.server_delay)");
  facts.hosts_due = 0;
  facts.resolving = 1;
  EXPECT_EQ(LimitText(facts), "names: 1 URL waits for the address of a host");
  facts.resolving = 0;
  facts.in_flight = 1;
  EXPECT_EQ(LimitText(facts), "1 request is in flight; nothing else is ready");
  facts.in_flight = 0;
  facts.ready = 2;
  EXPECT_EQ(LimitText(facts), "2 URLs are about to be asked for");
  facts.ready = 0;
  facts.for_robots = 7;
  EXPECT_EQ(LimitText(facts), "7 URLs wait for a robots.txt");
  facts.for_robots = 0;
  EXPECT_EQ(LimitText(facts), "9 URLs wait for a pass of the stages on disk");
}

TEST(LimitTest, WhatIsLeftIsNamedWithItsTime) {
  LimitFacts facts;
  facts.waiting = facts.parked = 3;
  EXPECT_EQ(LimitText(facts), "nothing is left but 3 URLs that wait");
  facts.next_parked = WallTime(std::chrono::seconds(1'700'000'000));
  EXPECT_EQ(LimitText(facts),
            "nothing is left but 3 URLs that wait until "
            "2023-11-14T22:13:20.000Z");
  facts.waiting = facts.parked = 0;
  EXPECT_EQ(LimitText(facts), "nothing is left");
}

}  // namespace
}  // namespace nephila::control
