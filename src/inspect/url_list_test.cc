// The lists of URLs of a job: by crawls of a web in memory, and by opening the
// stages that the lists are read beside.
#include "inspect/url_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/frozen_file_system.h"
#include "crawl/frontier.h"
#include "crawl/recovery_testing.h"
#include "inspect/job_view.h"

namespace nephila::inspect {
namespace {

using crawl::CrawlEnd;
using crawl::FakeError;
using crawl::FakeFailure;
using crawl::FakePage;
using crawl::FakeRedirect;
using crawl::FakeText;
using crawl::Links;
using crawl::Urls;
using std::chrono::milliseconds;
using std::chrono::seconds;

class UrlListTest : public crawl::RecoveryTest {
 protected:
  UrlListTest() {
    MustDo(fs_.MakeDir("scratch"));
    web_.Put("http://a.com/robots.txt",
             FakeText("User-agent: *\nDisallow: /no\n"));
    web_.Put(
        "http://a.com/",
        FakePage(Links({"/1", "/busy", "/gone", "/no", "/dead", "//b.com/"})));
    web_.Put("http://a.com/1", FakeRedirect("http://a.com/2"));
    web_.Put("http://a.com/2", FakePage(""));
    web_.Put("http://a.com/busy",
             {FakeError(500), FakeError(500), FakePage("")});
    web_.Put("http://a.com/dead",
             FakeFailure(item::FetchOutcome::kConnectionLost));
    web_.Put("http://b.com/", FakePage(Links({"/1", "/2"})));
    settings_.politeness.back_off = milliseconds(100);
    settings_.politeness.back_off_max = milliseconds(200);
    settings_.fetch.retry_growth = 1;
  }

  struct Ended {
    bool operator==(const Ended&) const = default;
    std::string outcome;
    int status = 0;
    uint32_t attempt = 0;
  };
  using EndedUrls = std::map<std::string, Ended>;

  EndedUrls List(bool failed, const ListFilter& filter = {},
                 uint64_t memory_bytes = uint64_t{1} << 20) {
    EndedUrls urls;
    std::string last;
    MustDo(LookAt(fs_, {"job", settings_}, [&](JobView& job) {
      ListOptions options;
      options.filter = filter;
      options.scratch = "scratch";
      options.memory_bytes = memory_bytes;
      const auto take = [&](const EndedUrl& url) -> Result<bool> {
        const bool is_new =
            urls.emplace(std::string(url.url),
                         Ended{std::string(FetchOutcomeName(url.outcome)),
                               url.status, url.attempt})
                .second;
        EXPECT_TRUE(is_new) << url.url;
        EXPECT_GE(std::string(url.when), last);
        last = url.when;
        return true;
      };
      return failed ? ListFailed(job, options, take)
                    : ListSeen(job, options, take);
    }));
    EXPECT_EQ(Must(fs_.List("scratch")).size(), 0U);
    return urls;
  }
  std::map<std::string, std::string> Waiting(const ListFilter& filter = {}) {
    std::map<std::string, std::string> urls;
    MustDo(LookAt(fs_, {"job", settings_}, [&](JobView& job) {
      return ListWaiting(job, filter, [&](const HeldUrl& url) -> Result<bool> {
        urls[std::string(url.record.url)] = HeldInName(url.where);
        return true;
      });
    }));
    return urls;
  }

  void Begin() {
    MustDo(Open(fs_));
    MustDo(crawl_->AddSeed("http://a.com/"));
  }
  void Finish() {
    for (int i = 0; i < 100'000; ++i) {
      if (Must(crawl_->Turn(clock_.Now()))) return Close();
      clock_.Advance(milliseconds(20));
    }
    ADD_FAILURE() << "it does not end";
  }
};

TEST_F(UrlListTest, OfEachUrlTheLastAttemptIsListed) {
  Begin();
  Finish();
  const EndedUrls seen = List(/*failed=*/false);
  EXPECT_EQ(seen.at("http://a.com/"), (Ended{"response", 200, 1}));
  EXPECT_EQ(seen.at("http://a.com/1"), (Ended{"response", 302, 1}));
  EXPECT_EQ(seen.at("http://a.com/busy"), (Ended{"response", 200, 3}));
  EXPECT_EQ(seen.at("http://a.com/gone"), (Ended{"response", 404, 1}));
  EXPECT_EQ(seen.at("http://a.com/dead").outcome, "connection-lost");
  EXPECT_FALSE(seen.contains("http://a.com/no"));
  EXPECT_FALSE(seen.contains("http://a.com/robots.txt"));
  EXPECT_EQ(seen.size(), 9U);
  EXPECT_EQ(Waiting().size(), 0U);
}

TEST_F(UrlListTest, ThoseThatWereGivenUpHaveFailed) {
  Begin();
  Finish();
  EndedUrls failed = List(/*failed=*/true);
  const std::set<std::string> names = {"http://a.com/gone", "http://a.com/dead",
                                       "http://b.com/1", "http://b.com/2"};
  for (const std::string& name : names) EXPECT_TRUE(failed.contains(name));
  EXPECT_EQ(failed.size(), names.size());
  EXPECT_EQ(failed["http://a.com/dead"].attempt,
            static_cast<uint32_t>(settings_.fetch.retry_attempts));
}

TEST_F(UrlListTest, WhatIsTriedAgainHasNotFailed) {
  settings_.fetch.retry_wait = seconds(100);
  settings_.politeness.park_after = seconds(1);
  Begin();
  ASSERT_TRUE(TurnsUntilEntry([](const job::Entry& entry) {
    return entry.kind == job::EntryKind::kPage && entry.retry;
  }));
  for (int i = 0; i < 3000; ++i) {
    Must(crawl_->Turn(clock_.Now()));
    clock_.Advance(milliseconds(1));
  }
  Close();
  fs_.KillProcess();
  const EndedUrls seen = List(/*failed=*/false);
  const EndedUrls failed = List(/*failed=*/true);
  ASSERT_EQ(seen.at("http://a.com/busy"), (Ended{"response", 500, 1}));
  EXPECT_FALSE(failed.contains("http://a.com/busy"));
  EXPECT_TRUE(failed.contains("http://a.com/gone"));
  EXPECT_EQ(Waiting().at("http://a.com/busy"), "parked");
}

TEST_F(UrlListTest, FiltersTakeAHostOrADomain) {
  Begin();
  Finish();
  // However little memory there is for sorting.
  EXPECT_EQ(List(false, {}, 64).size(), List(false).size());
  EXPECT_EQ(List(false, {"b.com", ""}).size(), 3U);
  EXPECT_EQ(List(false, {"", "b.com"}).size(), 3U);
  EXPECT_EQ(List(false, {"www.b.com", ""}).size(), 0U);
  EXPECT_EQ(List(true, {"", "a.com"}).size(), 2U);
}

TEST_F(UrlListTest, ASinkEndsTheList) {
  Begin();
  Finish();
  int count = 0;
  MustDo(LookAt(fs_, {"job", settings_}, [&](JobView& job) {
    ListOptions options;
    options.scratch = "scratch";
    return ListSeen(job, options, [&](const EndedUrl&) -> Result<bool> {
      return ++count < 2;
    });
  }));
  EXPECT_EQ(count, 2);
}

// At every checkpoint the places of all URLs are counted and compared with
// what the stages say that hold them, opened from the same manifest.
class HeldUrlsTest : public UrlListTest,
                     public testing::WithParamInterface<bool> {
 protected:
  void Compare(uint64_t* compared) {
    MustDo(LookAt(fs_, {"job", settings_}, [&](JobView& job) -> Status {
      if (job.manifest() <= last_ || !job.stages()) return {};
      last_ = job.manifest();
      std::map<HeldIn, uint64_t> counts;
      // Without what the journal knows better.
      HeldUrls held(job, UINT64_MAX);
      uint64_t behind = 0;
      MustDo(job.ForEachEntry(
          [&](const JobView::JournalEntry& entry) -> Result<bool> {
            if (!entry.is_covered) ++behind;
            return true;
          }));
      if (behind > 0) return {};
      MustDo(held.ForEach([&](const HeldUrl& url) -> Result<bool> {
        ++counts[url.where];
        return true;
      }));
      CompareWithStages(job, counts);
      ++*compared;
      return {};
    }));
  }

  void CompareWithStages(const JobView& job,
                         std::map<HeldIn, uint64_t> counts) {
    FrozenFileSystem frozen(fs_);
    Workers workers(0);
    const crawl::Frontier::Parts parts{frozen,    clock_, workers, settings_,
                                       suffixes_, "job",  7};
    const auto stored = Must(job::ReadManifests(fs_, "job/manifests", 7));
    ASSERT_EQ(stored.newest->number, job.manifest());
    const auto frontier =
        Must(crawl::Frontier::Open(parts, stored.newest->parts));
    EXPECT_EQ(
        static_cast<int64_t>(counts[HeldIn::kReady] + counts[HeldIn::kParked]),
        frontier->CountHeld());
    const robots::RobotsStats robots = frontier->robots().stats();
    EXPECT_EQ(counts[HeldIn::kRobotsWaiting], robots.waiting);
    EXPECT_EQ(counts[HeldIn::kRobotsParked], robots.parked);
    EXPECT_EQ(counts[HeldIn::kRobotsDecided] + counts[HeldIn::kRobotsChecking],
              robots.checking);
    EXPECT_EQ(static_cast<int64_t>(counts[HeldIn::kSeenLink] +
                                   counts[HeldIn::kSeenNew]),
              frontier->seen().account().Totals().held);
    if (frontier->budget() == nullptr) return;
    const budget::BudgetStats budget = frontier->budget()->stats();
    EXPECT_EQ(counts[HeldIn::kBudgetPass], budget.in_drum);
    EXPECT_EQ(counts[HeldIn::kBudgetQueue], budget.in_queues);
    EXPECT_EQ(counts[HeldIn::kBudgetFailed], budget.in_failed);
  }

 private:
  uint64_t last_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Budgets, HeldUrlsTest, testing::Bool(),
                         [](const auto& param) {
                           return param.param ? "With" : "Without";
                         });

TEST_P(HeldUrlsTest, AreAsManyAsTheStagesHoldAtEveryCheckpoint) {
  settings_.crawl.budgets = GetParam();
  settings_.crawl.checkpoint_interval = milliseconds(1);
  settings_.reputation.base = 1;
  settings_.robots.retry_wait = seconds(2);
  Urls links;
  for (int i = 0; i < 60; ++i) {
    links.push_back("http://a.com/many/" + std::to_string(i));
    links.push_back("http://c" + std::to_string(i % 7) + ".com/" +
                    std::to_string(i));
  }
  web_.Put("http://a.com/2", FakePage(Links(links)));
  web_.Put("http://c3.com/robots.txt", {FakeError(503), FakeText("")});
  Begin();
  uint64_t compared = 0;
  bool is_over = false;
  for (int i = 0; i < 100'000 && !is_over; ++i) {
    is_over = Must(crawl_->Turn(clock_.Now())).has_value();
    clock_.Advance(milliseconds(i % 10 == 0 ? 20 : 1));
    // Opening the stages takes its time: more often where much moves.
    if (i % (i < 300 ? 13 : 211) == 0) Compare(&compared);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(is_over);
  EXPECT_GT(compared, 10U);
}

}  // namespace
}  // namespace nephila::inspect
