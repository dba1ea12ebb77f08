#include "base/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nephila {
namespace {

enum class Reason : uint8_t { kDuplicate, kTooLong };
constexpr std::array<std::string_view, 2> kReasons = {"duplicate", "too_long"};

TEST(Metrics, SnapshotIsSortedAndWhole) {
  Metrics metrics;
  Counter& pages = metrics.AddCounter("pages", "Responses archived.");
  Gauge& open = metrics.AddGauge("open_files", "Files open now.");
  Counter& bytes = metrics.AddCounter("bytes", "Bytes received.");
  pages.Add();
  pages.Add(2);
  bytes.Add(1000);
  open.Set(5);
  open.Add(-7);
  const std::vector<MetricSample> samples = metrics.Snapshot();
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].name, "bytes");
  EXPECT_EQ(samples[0].value, 1000);
  EXPECT_EQ(samples[1].name, "open_files");
  EXPECT_EQ(samples[1].kind, MetricKind::kGauge);
  EXPECT_EQ(samples[1].value, -2);
  EXPECT_EQ(samples[2].name, "pages");
  EXPECT_EQ(samples[2].kind, MetricKind::kCounter);
  EXPECT_EQ(samples[2].help, "Responses archived.");
  EXPECT_EQ(samples[2].value, 3);
}

TEST(Metrics, ReferencesStayGoodAsTheRegistryGrows) {
  Metrics metrics;
  Counter& first = metrics.AddCounter("m", "The first.");
  for (int i = 0; i < 1000; ++i) {
    metrics.AddGauge("gauge" + std::to_string(i), "One of many.");
  }
  first.Add(9);
  EXPECT_EQ(metrics.Snapshot().back().value, 9);
}

TEST(Metrics, CountsEverythingFromManyThreads) {
  Metrics metrics;
  Counter& counter = metrics.AddCounter("all", "All.");
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      metrics.AddGauge("gauge" + std::to_string(i), "Mine.").Set(i);
      for (int k = 0; k < 10000; ++k) counter.Add();
      EXPECT_GE(metrics.Snapshot().size(), 2u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 40000u);
}

TEST(MetricsDeathTest, ASecondMetricOfTheSameNameIsABug) {
  Metrics metrics;
  metrics.AddCounter("pages", "One.");
  EXPECT_DEATH(metrics.AddGauge("pages", "Two."), "check failed: is_new");
}

TEST(StageAccount, BalancesWhenEverythingIsAccountedFor) {
  StageAccount account("seen", kReasons);
  EXPECT_EQ(account.Imbalance(), 0);
  account.In(10);
  account.Made(2);
  account.Hold(5);
  account.Out(3);
  account.Drop(Reason::kDuplicate, 3);
  account.Drop(1);
  EXPECT_EQ(account.Imbalance(), 0);
  account.Hold(-5);
  account.Out(5);
  EXPECT_EQ(account.Imbalance(), 0);

  const StageTotals totals = account.Totals();
  EXPECT_EQ(account.name(), "seen");
  EXPECT_EQ(totals.in, 10u);
  EXPECT_EQ(totals.made, 2u);
  EXPECT_EQ(totals.out, 8u);
  EXPECT_EQ(totals.held, 0);
  EXPECT_EQ(totals.dropped, (std::vector<uint64_t>{3, 1}));
  EXPECT_EQ(totals.DroppedSum(), 4u);
  EXPECT_EQ(account.drop_reasons()[1], "too_long");
}

TEST(StageAccount, ShowsItsNumbersBesideOtherMetrics) {
  StageAccount account("url", kReasons);
  account.In(10);
  account.Made(2);
  account.Out(3);
  account.Hold(4);
  account.Drop(Reason::kTooLong, 5);
  Metrics metrics;
  metrics.AddCounter("pages", "Responses archived.");
  std::vector<MetricSample> samples = metrics.Snapshot();
  account.AppendSamples(&samples);
  ASSERT_EQ(samples.size(), 7u);
  const std::pair<std::string, int64_t> expected[] = {
      {"pages", 0},
      {"stage_url_in", 10},
      {"stage_url_made", 2},
      {"stage_url_out", 3},
      {"stage_url_held", 4},
      {"stage_url_dropped_duplicate", 0},
      {"stage_url_dropped_too_long", 5}};
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].name, expected[i].first);
    EXPECT_EQ(samples[i].value, expected[i].second);
    EXPECT_EQ(samples[i].kind, samples[i].name == "stage_url_held"
                                   ? MetricKind::kGauge
                                   : MetricKind::kCounter);
  }
  EXPECT_EQ(samples[1].help, "Items that came into stage url.");
  EXPECT_EQ(samples[6].help, "Items dropped (too_long) by stage url.");
}

TEST(StageAccount, SaysHowManyVanishedOrCameFromNowhere) {
  StageAccount account("seen", kReasons);
  account.In(3);
  EXPECT_EQ(account.Imbalance(), 3);
  account.Out(5);
  EXPECT_EQ(account.Imbalance(), -2);
}

TEST(StageAccount, BalancesAfterManyThreads) {
  StageAccount account("stage", kReasons);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5000; ++k) {
        account.In(3);
        account.Hold(1);
        account.Drop(Reason::kTooLong);
        account.Out();
        account.Hold(-1);
        account.Out();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account.Totals().in, 60000u);
  EXPECT_EQ(account.Imbalance(), 0);
}

TEST(StageAccountDeathTest, AReasonThatIsNotListedIsABug) {
  StageAccount account("stage", kReasons);
  EXPECT_DEATH(account.Drop(2), "check failed");
}

}  // namespace
}  // namespace nephila
