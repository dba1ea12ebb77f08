#include "check/politeness_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file_testing.h"
#include "check/job_testing.h"

namespace nephila::check {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class JobAnswersTest : public testing::Test {
 protected:
  // /4 of a.com is busy once, and says for how long.
  void Crawl() {
    crawl::FakeAnswer busy = crawl::FakeError(503);
    busy.fields.emplace_back("Retry-After", "3");
    job_.web.Put("http://a.com/4", {busy, crawl::FakePage("now")});
    job_.Open();
    ASSERT_TRUE(job_.Run());
    job_.Close();
  }
  void CrawlAs(std::vector<std::string> site_delays) {
    job_.settings.politeness.site_delays = std::move(site_delays);
    Crawl();
  }

  TestJob job_{config::Profile::kSite};
};

TEST_F(JobAnswersTest, AnswersOfTheArchiveAreFoundOnceEach) {
  Crawl();
  const auto answers = Must(JobAnswers::Read(job_.fs, "job", job_.settings));
  EXPECT_EQ(answers->answers(), 4U);
  const sim::PolitenessRules rules = answers->Rules();
  EXPECT_EQ(rules.host_delay, milliseconds(100));
  EXPECT_EQ(rules.server_delay, milliseconds(10));
  EXPECT_EQ(rules.server_in_flight, 8U);

  EXPECT_FALSE(rules.asked_for("a.com", "/1", 200).crawl_delay.has_value());
  const sim::AskedFor robots = rules.asked_for("a.com", "/robots.txt", 200);
  ASSERT_TRUE(robots.crawl_delay.has_value());
  EXPECT_EQ(*robots.crawl_delay, milliseconds(200));
  EXPECT_FALSE(
      rules.asked_for("a.com", "/robots.txt", 200).crawl_delay.has_value());
  // One that asks for none says so.
  const sim::AskedFor other = rules.asked_for("b.com", "/robots.txt", 200);
  ASSERT_TRUE(other.crawl_delay.has_value());
  EXPECT_EQ(other.crawl_delay->count(), 0);

  // The answer of another status is another.
  EXPECT_EQ(rules.asked_for("a.com", "/4", 200).retry_after.count(), 0);
  EXPECT_EQ(rules.asked_for("a.com", "/4", 503).retry_after, seconds(3));
  EXPECT_EQ(rules.asked_for("a.com", "/4", 503).retry_after.count(), 0);
}

TEST_F(JobAnswersTest, SitesHaveTheirOwnDelays) {
  CrawlAs({"a.com=1s", "slow.example=1m"});
  const auto answers = Must(JobAnswers::Read(job_.fs, "job", job_.settings));
  const sim::PolitenessRules rules = answers->Rules();
  EXPECT_EQ(rules.site_delay("a.com"), seconds(1));
  EXPECT_EQ(rules.site_delay("www.slow.example"), seconds(60));
  EXPECT_EQ(rules.site_delay("b.com"), milliseconds(100));
}

TEST_F(JobAnswersTest, WithBudgetsTheFloorsCount) {
  Crawl();
  job_.settings.crawl.budgets = true;
  job_.settings.politeness.host_delay_floor = milliseconds(40);
  job_.settings.politeness.server_delay_floor = milliseconds(4);
  const auto answers = Must(JobAnswers::Read(job_.fs, "job", job_.settings));
  EXPECT_EQ(answers->Rules().host_delay, milliseconds(40));
  EXPECT_EQ(answers->Rules().server_delay, milliseconds(4));
}

}  // namespace
}  // namespace nephila::check
