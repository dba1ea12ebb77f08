#include "crawl/fresh_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

constexpr uint64_t kSeed = 3;

// The three stages, with batches that are never full.
class FreshLinksTest : public ::testing::Test {
 protected:
  FreshLinksTest() {
    for (const char* dir : {"seen", "reputation", "budget"}) {
      EXPECT_TRUE(EnsureDir(fs_, dir).has_value());
    }
    const drum::DrumContext context{fs_, clock_, workers_};
    seen::SeenOptions seen;
    seen.seed = kSeed;
    seen_ = *seen::Seen::Create(context, "seen", seen);
    reputation::ReputationOptions reputation;
    reputation.seed = kSeed;
    reputation_ =
        *reputation::Reputation::Create(context, "reputation", reputation);
    budget::BudgetOptions budget;
    budget.seed = kSeed;
    budget.settings.first_queues = 8;
    budget.function = [this] { return reputation_->MakeFunction(); };
    budget.may_leave = [this] { return fresh_->AreIn(); };
    budget_ = *budget::Budget::Create(context, "budget", budget);
    fresh_ = std::make_unique<FreshLinks>(*seen_, /*caps=*/nullptr,
                                          *reputation_, *budget_);
  }

  void Add(const std::string& url) {
    item::UrlRecord record;
    record.url = url;
    record.host_start = 7;
    record.host_size =
        static_cast<uint32_t>(url.find('/', 7)) - record.host_start;
    record.pld_size = record.host_size;
    const auto added = seen_->Add(record, url::KeysOf(record, kSeed).url);
    ASSERT_TRUE(added.has_value());
    ASSERT_EQ(*added, item::Admission::kTaken);
  }
  size_t Step() {
    const auto new_urls = seen_->Step(
        [this](std::string_view record) { return budget_->Add(record); }, 1000);
    const auto edges = reputation_->Step(
        [this](const reputation::InDegree& in_degree) {
          return budget_->AddInDegree(in_degree.to, in_degree.count);
        },
        1000);
    const auto placed = budget_->Step(1000);
    EXPECT_TRUE(new_urls.has_value() && edges.has_value() &&
                placed.has_value());
    return *new_urls + *edges + *placed;
  }
  // All that gathers gets its queue.
  void Settle() {
    ASSERT_TRUE(seen_->Flush().has_value());
    while (Step() > 0) {
    }
    ASSERT_TRUE(budget_->Flush().has_value());
    while (Step() > 0) {
    }
  }
  std::vector<std::string> Take(size_t max_urls) {
    std::vector<std::string> urls;
    EXPECT_TRUE(budget_
                    ->Take(max_urls,
                           [&](const budget::BudgetedUrl& url) {
                             urls.emplace_back(item::ReadUrl(url.record)->url);
                           })
                    .has_value());
    return urls;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::unique_ptr<seen::Seen> seen_;
  std::unique_ptr<reputation::Reputation> reputation_;
  std::unique_ptr<budget::Budget> budget_;
  std::unique_ptr<FreshLinks> fresh_;
};

TEST_F(FreshLinksTest, WhatGathersInSeenIsInTheNextQueue) {
  // A farm with more than the budget of one queue, ten.
  for (int i = 0; i < 40; ++i) {
    Add("http://farm.test/" + std::to_string(i));
  }
  Settle();
  EXPECT_EQ(Take(10).size(), 10U);
  // Found on those pages, while the batch is far from full.
  Add("http://good.test/");
  std::vector<std::string> next;
  while (next.empty()) {
    Step();
    next = Take(11);
  }
  ASSERT_EQ(next.size(), 11U);
  EXPECT_EQ(std::count(next.begin(), next.end(), "http://good.test/"), 1);
}

TEST_F(FreshLinksTest, WithNothingThatGathersAQueueIsLeftAtOnce) {
  for (int i = 0; i < 20; ++i) {
    Add("http://farm.test/" + std::to_string(i));
  }
  Settle();
  EXPECT_EQ(Take(100).size(), 20U);
}

}  // namespace
}  // namespace nephila::crawl
