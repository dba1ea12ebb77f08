#include "crawl/memory_plan.h"

#include <gtest/gtest.h>

#include "config/profile.h"

namespace nephila::crawl {
namespace {

// Of a transfer, as the plan has it.
constexpr uint64_t kTransfer = 100 << 10;

uint64_t Sum(const MemoryPlan& plan) {
  return plan.bodies + plan.seen + plan.reputation + plan.budget_drum +
         plan.budget_queues + plan.robots + plan.ready + plan.politeness +
         plan.dns + plan.cookies + plan.transfers * kTransfer +
         plan.in_transit + plan.page_links + 3 * plan.steps +
         3 * plan.frontier_page + 2 * plan.thread_pages + plan.revisits +
         plan.indexes + plan.caps;
}

TEST(MemoryPlanTest, ItsPartsAreNotMoreThanTheWhole) {
  for (const auto profile : {config::Profile::kSite, config::Profile::kBroad}) {
    config::Settings settings = config::SettingsOf(profile);
    for (int shift = 26; shift < 40; ++shift) {
      settings.crawl.memory_bytes = uint64_t{1} << shift;
      const MemoryPlan plan = PlanMemory(settings);
      EXPECT_LE(Sum(plan), settings.crawl.memory_bytes) << shift;
      EXPECT_GE(plan.transfers, 16U);
      EXPECT_GT(plan.seen, 0U);
      EXPECT_LE(plan.seen_disk + plan.reputation_disk + plan.budget_disk +
                    plan.robots_disk,
                settings.crawl.disk_bytes);
    }
  }
}

TEST(MemoryPlanTest, WithoutBudgetsTheirShareIsSeens) {
  config::Settings settings = config::SettingsOf(config::Profile::kBroad);
  const MemoryPlan with = PlanMemory(settings);
  settings.crawl.budgets = false;
  const MemoryPlan without = PlanMemory(settings);
  EXPECT_EQ(without.reputation + without.budget_drum + without.budget_queues,
            0U);
  EXPECT_GT(without.seen, with.seen);
  EXPECT_GT(without.seen_disk, with.seen_disk);
}

TEST(MemoryPlanTest, WhatTheUserSetsSmallerHolds) {
  config::Settings settings = config::SettingsOf(config::Profile::kBroad);
  settings.fetch.body_memory_bytes = uint64_t{2} << 20;
  settings.fetch.cookie_memory_bytes = uint64_t{2} << 20;
  settings.dns.cache_memory_bytes = 0;
  settings.crawl.max_transfers = 7;
  settings.parse.max_links_size = 5000;
  settings.politeness.max_hosts = 20;
  settings.politeness.max_urls = 30;
  const MemoryPlan plan = PlanMemory(settings);
  EXPECT_EQ(plan.bodies, uint64_t{2} << 20);
  EXPECT_EQ(plan.transfers, 7U);
  EXPECT_EQ(plan.page_links, 5000U);
  const config::Settings planned = WithPlan(plan, settings);
  EXPECT_EQ(planned.fetch.body_memory_bytes, uint64_t{2} << 20);
  EXPECT_EQ(planned.dns.cache_memory_bytes, 0U);
  EXPECT_EQ(planned.politeness.max_hosts, 20);
  EXPECT_EQ(planned.politeness.max_urls, 30);
}

TEST(MemoryPlanTest, EveryBoundIsSmallerWithLessMemory) {
  config::Settings settings = config::SettingsOf(config::Profile::kBroad);
  settings.crawl.memory_bytes = uint64_t{64} << 30;
  const MemoryPlan large = PlanMemory(settings);
  EXPECT_EQ(large.ended_attempts, size_t{1} << 20);
  EXPECT_EQ(large.robots_ahead, 200'000U);
  EXPECT_EQ(large.robots_requests, 200'000U);
  EXPECT_EQ(large.robots_early_ends, 65'536U);
  EXPECT_EQ(WithPlan(large, settings).politeness.max_parked,
            settings.politeness.max_parked);
  EXPECT_EQ(WithPlan(large, settings).fetch.max_content_bytes,
            settings.fetch.max_content_bytes);
  EXPECT_EQ(StepUrls(large, settings), 1000U);
  settings.crawl.memory_bytes = uint64_t{64} << 20;
  const MemoryPlan small = PlanMemory(settings);
  EXPECT_LT(small.ended_attempts, large.ended_attempts / 50);
  EXPECT_LT(small.robots_ahead, large.robots_ahead);
  EXPECT_LT(small.robots_requests, large.robots_requests / 50);
  EXPECT_LT(small.robots_early_ends, large.robots_early_ends / 20);
  EXPECT_LT(small.names, large.names / 100);
  EXPECT_LT(WithPlan(small, settings).politeness.max_parked,
            settings.politeness.max_parked / 50);
  EXPECT_LT(WithPlan(small, settings).fetch.max_body_bytes, small.bodies);
  EXPECT_LT(StepUrls(small, settings), 100U);
}

TEST(MemoryPlanTest, MoreThreadsLeaveLessForTheRest) {
  config::Settings settings = config::SettingsOf(config::Profile::kBroad);
  settings.crawl.memory_bytes = uint64_t{256} << 20;
  settings.crawl.threads = 1;
  const uint64_t seen = PlanMemory(settings).seen;
  settings.crawl.threads = 16;
  EXPECT_LT(PlanMemory(settings).seen, seen);
}

TEST(MemoryPlanTest, PolitenessHasRoomForItsShare) {
  config::Settings settings = config::SettingsOf(config::Profile::kBroad);
  settings.crawl.memory_bytes = uint64_t{64} << 20;
  const MemoryPlan plan = PlanMemory(settings);
  const config::Settings planned = WithPlan(plan, settings);
  EXPECT_LT(planned.politeness.max_hosts, settings.politeness.max_hosts);
  EXPECT_LT(planned.politeness.max_urls, settings.politeness.max_urls);
  EXPECT_GE(planned.politeness.max_hosts, 16);
  EXPECT_GE(planned.politeness.max_urls, 64);
}

}  // namespace
}  // namespace nephila::crawl
