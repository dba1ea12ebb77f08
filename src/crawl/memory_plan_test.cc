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
         plan.dns + plan.cookies + plan.transfers * kTransfer;
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
  settings.politeness.max_hosts = 20;
  settings.politeness.max_urls = 30;
  const MemoryPlan plan = PlanMemory(settings);
  EXPECT_EQ(plan.bodies, uint64_t{2} << 20);
  EXPECT_EQ(plan.transfers, 7U);
  const config::Settings planned = WithPlan(plan, settings);
  EXPECT_EQ(planned.fetch.body_memory_bytes, uint64_t{2} << 20);
  EXPECT_EQ(planned.dns.cache_memory_bytes, 0U);
  EXPECT_EQ(planned.politeness.max_hosts, 20);
  EXPECT_EQ(planned.politeness.max_urls, 30);
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
