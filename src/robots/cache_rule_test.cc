#include "robots/cache_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000;
constexpr uint64_t kMinute = 60'000;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

class CacheRuleTest : public ::testing::Test {
 protected:
  UrlAnswer Ask(std::string_view path, uint64_t distrusted = 0) {
    const std::string value = UrlValue(path, distrusted);
    const std::string answer = Meet(value, drum::Operation::kCheckUpdate);
    const auto read = ReadAnswer(answer);
    EXPECT_TRUE(read.has_value());
    return read.value_or(UrlAnswer());
  }
  void End(int status, uint64_t not_before = 0) {
    EndChange end;
    end.end = status == 0 ? item::RobotsFetchEnd::kNetwork
                          : item::RobotsFetchEnd::kAnswer;
    end.status = static_cast<uint32_t>(status);
    end.fetch = ++fetches_;
    end.when = now_;
    end.max_age = kDay;
    end.retry_wait = 10 * kMinute;
    end.retry_wait_max = kDay;
    end.not_before = not_before;
    if (status == 200) {
      end.kind = RulesKind::kInline;
      end.rules = rules_;
      end.crawl_delay = 5000;
    }
    const std::string value = EndValue(end);
    Meet(value, drum::Operation::kUpdate);
  }
  void Delay(uint64_t until) {
    Meet(DelayValue(until), drum::Operation::kUpdate);
  }
  std::string Meet(std::string_view value, drum::Operation operation) {
    const std::string parameters = PassTime(TimeOf(now_), 31 * kDay);
    drum::Meeting meeting{operation, 1, value, parameters, found_};
    std::string answer;
    if (rule_->Merge(meeting, record_, answer) == drum::Verdict::kWrite) {
      found_ = true;
    }
    return answer;
  }
  RobotsRecord Record() { return *ReadRobotsRecord(record_); }

  const std::shared_ptr<const drum::MergeRule> rule_ = MakeCacheRule();
  const std::string rules_ = PrivateRules();
  uint64_t now_ = kNow;
  uint64_t fetches_ = 0;
  bool found_ = false;
  std::string record_;
};

TEST_F(CacheRuleTest, OnlyTheFirstUrlAsks) {
  UrlAnswer answer = Ask("/");
  EXPECT_EQ(answer.state, UrlState::kUnknown);
  EXPECT_TRUE(answer.ask);
  EXPECT_EQ(answer.fetch, 0U);
  answer = Ask("/x");
  EXPECT_EQ(answer.state, UrlState::kUnknown);
  EXPECT_FALSE(answer.ask);
  End(200);
  EXPECT_EQ(Ask("/x").state, UrlState::kAllowed);
  EXPECT_EQ(Ask("/private/x").state, UrlState::kDenied);
  EXPECT_EQ(Ask("/x").crawl_delay, 5000U);
  EXPECT_FALSE(Ask("/x").ask);
  EXPECT_EQ(Ask("/x").fetch, 1U);
}

TEST_F(CacheRuleTest, ARecordIsRefreshedOnceAndExpires) {
  End(200);
  now_ += kDay / 8 * 7 - 1;
  EXPECT_FALSE(Ask("/").ask);
  now_ += 1;
  EXPECT_TRUE(Ask("/").ask);
  EXPECT_FALSE(Ask("/").ask);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
  now_ = kNow + kDay;
  EXPECT_EQ(Ask("/").state, UrlState::kExpired);
  EXPECT_FALSE(Ask("/").ask);
  End(404);
  EXPECT_EQ(Ask("/private/").state, UrlState::kAllowed);
  EXPECT_EQ(Ask("/").crawl_delay, 0U);
}

TEST_F(CacheRuleTest, AFetchThatIsDelayedIsAskedForAgainAtItsTime) {
  EXPECT_TRUE(Ask("/").ask);
  Delay(now_ + kHour);
  for (const uint64_t length : {uint64_t{0}, kHour - 1}) {
    now_ = kNow + length;
    const UrlAnswer answer = Ask("/");
    EXPECT_EQ(answer.state, UrlState::kDelayed);
    EXPECT_EQ(answer.until, kNow + kHour);
    EXPECT_FALSE(answer.ask);
  }
  now_ = kNow + kHour;
  const UrlAnswer answer = Ask("/");
  EXPECT_EQ(answer.state, UrlState::kUnknown);
  EXPECT_TRUE(answer.ask);
  EXPECT_EQ(answer.fetch, 0U) << "it is the first still";
  End(200);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
}

TEST_F(CacheRuleTest, RulesThatHoldDoSoWhileTheirRefreshIsDelayed) {
  End(200);
  now_ += kDay - kHour;
  EXPECT_TRUE(Ask("/").ask);
  Delay(now_ + 2 * kHour);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
  EXPECT_FALSE(Ask("/").ask);
  // But not for longer than they did.
  now_ = kNow + kDay;
  const UrlAnswer answer = Ask("/");
  EXPECT_EQ(answer.state, UrlState::kExpired);
  EXPECT_TRUE(answer.ask);
  Delay(now_ + kHour);
  EXPECT_EQ(Ask("/").state, UrlState::kDelayed) << "old rules do not hold";
  EXPECT_FALSE(Ask("/").ask);
  // What was delayed before, and what nobody asked for.
  Delay(now_ + kDay);
  EXPECT_EQ(Ask("/").until, now_ + kHour);
  // A server that fails then leaves the copy that there was.
  now_ += kHour;
  EXPECT_TRUE(Ask("/").ask);
  End(503);
  EXPECT_EQ(Ask("/private/").state, UrlState::kDenied);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
  EXPECT_FALSE(Record().delayed);
}

TEST_F(CacheRuleTest, WaitsWithoutReachDoubleUpToABound) {
  uint64_t expected = 10 * kMinute;
  for (int i = 1; i <= 12; ++i) {
    End(0);
    const UrlAnswer answer = Ask("/");
    EXPECT_EQ(answer.state, UrlState::kUnreachable);
    EXPECT_EQ(answer.until, now_ + expected);
    EXPECT_EQ(answer.tries, static_cast<uint32_t>(i));
    EXPECT_FALSE(answer.ask);
    now_ += expected;
    EXPECT_EQ(Ask("/").state, UrlState::kExpired);
    expected = std::min(expected * 2, kDay);
  }
  End(200);
  EXPECT_EQ(Record().tries, 0U);
  EXPECT_EQ(Record().unreachable_since, 0U);
}

// RFC 9309 s2.3.1.4: after 30 days the choice is ours.
TEST_F(CacheRuleTest, AfterThirtyDaysWithoutReachAllIsAllowed) {
  End(500);
  EXPECT_EQ(Ask("/").state, UrlState::kUnreachable);
  now_ += 31 * kDay;
  End(500);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
}

TEST_F(CacheRuleTest, ACopyIsKeptWithoutReach) {
  End(200);
  now_ += kDay;
  End(503);
  UrlAnswer answer = Ask("/private/");
  EXPECT_EQ(answer.state, UrlState::kDenied);
  EXPECT_EQ(answer.asked, now_);
  EXPECT_EQ(answer.crawl_delay, 5000U);
  EXPECT_FALSE(answer.ask);
  now_ += 10 * kMinute;
  answer = Ask("/");
  EXPECT_EQ(answer.state, UrlState::kAllowed);
  EXPECT_TRUE(answer.ask);
}

TEST_F(CacheRuleTest, NotesAreKeptThroughFetchesAndFetchesThroughNotes) {
  Meet(HostValue({kNow + 9, 2, 1}), drum::Operation::kUpdate);
  EXPECT_EQ(Ask("/").state, UrlState::kUnknown);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 9, 2, 1}));
  End(200, kNow + 20);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 20, 2, 1}));
  Meet(HostValue({kNow + 3, 0, 0}), drum::Operation::kUpdate);
  const UrlAnswer answer = Ask("/private/");
  EXPECT_EQ(answer.state, UrlState::kDenied);
  EXPECT_EQ(answer.host, (HostNote{kNow + 3, 0, 0}));
}

TEST_F(CacheRuleTest, DamagedRulesAreForgotten) {
  End(200);
  record_.back() ^= 1;
  const UrlAnswer answer = Ask("/");
  EXPECT_EQ(answer.state, UrlState::kExpired);
  EXPECT_TRUE(answer.ask);
  EXPECT_EQ(Record().kind, RulesKind::kNone);
  // So is a record that is none.
  record_ = "junk";
  EXPECT_EQ(Ask("/").state, UrlState::kUnknown);
}

TEST_F(CacheRuleTest, DistrustReachesOnlyTheFetchThatWasDamaged) {
  RobotsRecord record;
  record.fetch = 5;
  record.refresh = record.expires = kNow + kDay;
  record.kind = RulesKind::kLog;
  record.place = {1, 2, 3};
  AppendRobotsRecord(record, record_);
  found_ = true;
  EXPECT_EQ(Ask("/", 4).state, UrlState::kInLog);
  EXPECT_EQ(Ask("/", 4).place, record.place);
  const UrlAnswer answer = Ask("/", 5);
  EXPECT_EQ(answer.state, UrlState::kExpired);
  EXPECT_TRUE(answer.ask);
}

TEST_F(CacheRuleTest, TimesFarAheadAreNotBelieved) {
  now_ += 100 * kDay;
  End(200);
  now_ = kNow;
  EXPECT_EQ(Ask("/").state, UrlState::kExpired);
}

TEST_F(CacheRuleTest, AnswersAreReadAsWritten) {
  UrlAnswer answer;
  answer.state = UrlState::kInLog;
  answer.ask = true;
  answer.fetch = 9;
  answer.asked = kNow;
  answer.until = kNow + 1;
  answer.tries = 3;
  answer.crawl_delay = 7;
  answer.host = {4, 5, 6};
  answer.place = {7, 8, 9};
  std::string bytes;
  AppendAnswer(answer, bytes);
  EXPECT_EQ(ReadAnswer(bytes), answer);
  EXPECT_FALSE(ReadAnswer(bytes + "x").has_value());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadAnswer(bytes.substr(0, size)).has_value());
  }
}

}  // namespace
}  // namespace nephila::robots
