#include "crawl/descriptor_plan.h"

#include <gtest/gtest.h>

#include "config/profile.h"
#include "crawl/memory_plan.h"

namespace nephila::crawl {
namespace {

config::Settings SettingsFor(config::Profile profile) {
  config::Settings settings = config::SettingsOf(profile);
  settings.crawl.threads = 1;
  settings.dns.servers = {"127.0.0.1:53"};
  return settings;
}

TEST(DescriptorPlanTest, PartsAddUpToTheLimit) {
  for (const auto profile : {config::Profile::kSite, config::Profile::kBroad}) {
    const config::Settings settings = SettingsFor(profile);
    for (size_t limit = LeastDescriptors(settings); limit < 100'000;
         limit += 1 + limit / 10) {
      const auto plan = PlanDescriptors(settings, limit);
      ASSERT_TRUE(plan) << limit << ": " << plan.error().message;
      EXPECT_EQ(plan->limit, limit);
      EXPECT_EQ(plan->reserved + plan->connections, limit);
      EXPECT_GE(plan->connections, 16U) << limit;
      EXPECT_LE(plan->transfers, plan->connections) << limit;
      EXPECT_GE(plan->transfers, 16U) << limit;
      // Sockets that have a slot find a number while files keep to theirs.
      EXPECT_GE(static_cast<size_t>(plan->max_descriptor), plan->connections);
      EXPECT_LT(static_cast<size_t>(plan->max_descriptor), limit);
    }
  }
}

TEST(DescriptorPlanTest, ReserveGrowsToWhatALargeCrawlOpens) {
  const config::Settings settings = SettingsFor(config::Profile::kBroad);
  const auto small = PlanDescriptors(settings, 256);
  const auto large = PlanDescriptors(settings, 1024);
  const auto huge = PlanDescriptors(settings, 1'000'000);
  ASSERT_TRUE(small && large && huge);
  EXPECT_LT(small->reserved, large->reserved);
  EXPECT_EQ(large->reserved, huge->reserved);
  EXPECT_EQ(huge->transfers, PlanMemory(settings).transfers);
}

TEST(DescriptorPlanTest, MoreStoresAndThreadsNeedMore) {
  config::Settings settings = SettingsFor(config::Profile::kSite);
  const size_t site = LeastDescriptors(settings);
  settings.crawl.threads = 4;
  EXPECT_GT(LeastDescriptors(settings), site);
  settings.crawl.threads = 1;
  settings.crawl.budgets = true;
  const size_t budgets = LeastDescriptors(settings);
  EXPECT_GT(budgets, site);
  settings.scope.max_pages_per_host = 10;
  EXPECT_GT(LeastDescriptors(settings), budgets);
  settings.dns.servers = {"127.0.0.1:53", "127.0.0.2:53", "127.0.0.3:53"};
  EXPECT_GT(LeastDescriptors(settings), budgets);
}

TEST(DescriptorPlanTest, LimitThatIsTooLowIsAnErrorWithTheNeededNumber) {
  const config::Settings settings = SettingsFor(config::Profile::kSite);
  const auto plan = PlanDescriptors(settings, 64);
  ASSERT_FALSE(plan);
  EXPECT_TRUE(plan.error().message.starts_with(
      "ulimit -n 64 is too low: at least " +
      std::to_string(LeastDescriptors(settings)) + " open files are needed"))
      << plan.error().message;
  EXPECT_EQ(plan.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(PlanDescriptors(settings, LeastDescriptors(settings) - 1));
  EXPECT_TRUE(PlanDescriptors(settings, LeastDescriptors(settings)));
}

TEST(DescriptorPlanTest, MaxTransfersOfTheUserHolds) {
  config::Settings settings = SettingsFor(config::Profile::kBroad);
  settings.crawl.max_transfers = 7;
  const auto plan = PlanDescriptors(settings, 4096);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->transfers, 7U);
  EXPECT_GT(plan->connections, 3000U);
}

}  // namespace
}  // namespace nephila::crawl
