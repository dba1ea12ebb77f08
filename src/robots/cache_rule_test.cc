#include "robots/cache_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
    const std::string value = UrlValue(file_, path, distrusted);
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
    const std::string value = EndValue(file_, end);
    Meet(value, drum::Operation::kUpdate);
  }
  UrlAnswer WalkHere() {
    const std::string answer =
        Meet(WalkValue(file_, 0), drum::Operation::kCheckUpdate);
    const auto read = ReadAnswer(answer);
    EXPECT_TRUE(read.has_value());
    return read.value_or(UrlAnswer());
  }
  void Redirect(std::string_view next) {
    Meet(RedirectValue(file_, {++fetches_, now_, kDay, next}),
         drum::Operation::kUpdate);
  }
  void Delay(uint64_t until) {
    Meet(DelayValue(file_, until), drum::Operation::kUpdate);
  }
  std::string Meet(std::string_view value, drum::Operation operation) {
    const std::string parameters = PassTime(TimeOf(now_), limits_);
    drum::Meeting meeting{operation, 1, value, parameters, found_};
    std::string answer;
    if (rule_->Merge(meeting, record_, answer) == drum::Verdict::kWrite) {
      found_ = true;
    }
    return answer;
  }
  RobotsRecord Record() {
    auto host = ReadHostRecord(record_);
    EXPECT_TRUE(host.has_value());
    const RobotsRecord* const file = host ? host->Find(file_) : nullptr;
    return file == nullptr ? RobotsRecord() : *file;
  }

  const std::shared_ptr<const drum::MergeRule> rule_ = MakeCacheRule();
  const std::string rules_ = PrivateRules();
  PassLimits limits_{31 * kDay, 2, 3};
  FileId file_ = AuthorityFile(80, false);
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
  Meet(HostValue(file_, {kNow + 9, 2, 1}), drum::Operation::kUpdate);
  EXPECT_EQ(Ask("/").state, UrlState::kUnknown);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 9, 2, 1}));
  End(200, kNow + 20);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 20, 2, 1}));
  Meet(HostValue(file_, {kNow + 3, 0, 0}), drum::Operation::kUpdate);
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
  HostRecord host;
  *host.Add(file_) = record;
  AppendHostRecord(host, record_);
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
  answer.host = {4, 5, 6, 7};
  answer.host_crawl_delay = 11;
  answer.is_host_known = true;
  answer.place = {7, 8, 9};
  std::string bytes;
  AppendAnswer(answer, bytes);
  EXPECT_EQ(ReadAnswer(bytes), answer);
  EXPECT_FALSE(ReadAnswer(bytes + "x").has_value());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadAnswer(bytes.substr(0, size)).has_value());
  }
  answer.state = UrlState::kRedirected;
  answer.place = {};
  answer.text = "http://b.test/x";
  bytes.clear();
  AppendAnswer(answer, bytes);
  EXPECT_EQ(ReadAnswer(bytes), answer);
}

// As a commit of an older job has it.
TEST_F(CacheRuleTest, AnswersOfOlderJobsAreRead) {
  UrlAnswer answer;
  answer.state = UrlState::kDelayed;
  answer.ask = true;
  answer.fetch = 1;
  answer.asked = 2;
  answer.until = 3;
  answer.tries = 4;
  answer.crawl_delay = 5;
  answer.host = {6, 7, 8};
  EXPECT_EQ(ReadAnswer("\x0e\x01\x02\x03\x04\x05\x06\x07\x08"), answer);
}

// Of a batch and a record that an older job has on disk.
TEST_F(CacheRuleTest, TuplesAndRecordsOfOlderJobsAreRead) {
  const std::string old_end("\x01\x00\x94\x03\x01\x02\x03\x04\x05\x00\x00\x00",
                            12);
  Meet(old_end, drum::Operation::kUpdate);
  EXPECT_EQ(Record().fetch, 1U);
  EXPECT_EQ(Record().asked, 2U);
  // Version, flags, fetch 7, times, tries, since, not before 9, failures 3,
  // overloads 2, Crawl-delay 4.
  record_ = std::string("\x01\x00\x07\x01\x01\x01\x00\x00\x09\x03\x02\x04", 12);
  EXPECT_EQ(Record().fetch, 7U);
  EXPECT_EQ(Record().host, (HostNote{9, 3, 2}));
  EXPECT_EQ(Record().crawl_delay, 4U);
  const std::string old_url("\x00\x00/", 3);
  const auto answer = ReadAnswer(Meet(old_url, drum::Operation::kCheckUpdate));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->state, UrlState::kExpired);
  EXPECT_TRUE(answer->ask);
  EXPECT_TRUE(Ask("/").is_host_known);
  EXPECT_FALSE(Ask("/").ask) << "it is the same file";
}

TEST_F(CacheRuleTest, PortsOfAHostShareItsStateAndNothingElse) {
  Meet(HostValue(file_, {kNow + 9, 2, 1, kNow + 5}), drum::Operation::kUpdate);
  End(200);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 9, 2, 1, kNow + 5}));
  file_ = AuthorityFile(8080, false);
  const UrlAnswer other = Ask("/");
  EXPECT_EQ(other.state, UrlState::kUnknown);
  EXPECT_TRUE(other.ask);
  EXPECT_TRUE(other.is_host_known);
  EXPECT_EQ(other.host, (HostNote{kNow + 9, 0, 1, 0}));
  EXPECT_EQ(other.host_crawl_delay, 5000U);
  Meet(HostValue(file_, {kNow + 90, 7, 0, 0}), drum::Operation::kUpdate);
  file_ = AuthorityFile(80, false);
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 90, 2, 0, kNow + 5}));
}

TEST_F(CacheRuleTest, AHostHasSoManyPortsUnlessSomeAreOutOfReach) {
  for (const uint16_t port : std::to_array<uint16_t>({80, 8001, 8002})) {
    file_ = AuthorityFile(port, false);
    EXPECT_EQ(Ask("/").state, UrlState::kUnknown) << port;
  }
  file_ = AuthorityFile(8003, false);
  EXPECT_EQ(Ask("/").state, UrlState::kTooManyPorts);
  // A note does not make it one either, and holds for the host.
  Meet(HostValue(file_, {kNow + 9, 2, 1}), drum::Operation::kUpdate);
  EXPECT_EQ(Ask("/").state, UrlState::kTooManyPorts);
  file_ = AuthorityFile(443, true);
  EXPECT_EQ(Ask("/").state, UrlState::kUnknown) << "ports of their own";
  EXPECT_EQ(Ask("/").host, (HostNote{kNow + 9, 0, 1}));
  file_ = AuthorityFile(8001, false);
  End(0);
  file_ = AuthorityFile(8003, false);
  EXPECT_EQ(Ask("/").state, UrlState::kTooManyPorts);
  now_ += kHour;
  EXPECT_EQ(Ask("/").state, UrlState::kUnknown);
  file_ = AuthorityFile(8001, false);
  EXPECT_EQ(Ask("/").state, UrlState::kTooManyPorts);
}

TEST_F(CacheRuleTest, WalksGetTheRulesOfAFileThatIsRequestedOnce) {
  file_ = kTargetFile | 77;
  EXPECT_TRUE(WalkHere().ask);
  EXPECT_FALSE(WalkHere().ask);
  EXPECT_EQ(WalkHere().state, UrlState::kUnknown);
  // The limit of sites that wait.
  EXPECT_EQ(WalkHere().state, UrlState::kTooManyPorts);
  End(200);
  const UrlAnswer answer = WalkHere();
  EXPECT_EQ(answer.state, UrlState::kAllowed);
  EXPECT_EQ(answer.text, rules_);
  EXPECT_EQ(answer.crawl_delay, 5000U);
  EXPECT_FALSE(answer.ask);
  now_ += kDay;
  EXPECT_TRUE(WalkHere().ask) << "once more when it has expired";
  End(0);
  EXPECT_EQ(WalkHere().state, UrlState::kAllowed) << "by its copy";
}

TEST_F(CacheRuleTest, WalksFollowTheRedirectOfATargetWhileItHolds) {
  file_ = kTargetFile | 77;
  WalkHere();
  Redirect("http://c.test/x");
  UrlAnswer answer = WalkHere();
  EXPECT_EQ(answer.state, UrlState::kRedirected);
  EXPECT_EQ(answer.text, "http://c.test/x");
  EXPECT_FALSE(answer.ask);
  now_ += kDay;
  answer = WalkHere();
  EXPECT_EQ(answer.state, UrlState::kExpired);
  EXPECT_TRUE(answer.ask);
}

// Its own URLs wait for the walk, those of others follow it.
TEST_F(CacheRuleTest, ARedirectedSiteStaysRequestedUntilItsWalkEnds) {
  EXPECT_TRUE(Ask("/").ask);
  Redirect("http://c.test/x");
  EXPECT_EQ(Ask("/").state, UrlState::kExpired);
  EXPECT_FALSE(Ask("/").ask);
  EXPECT_EQ(WalkHere().state, UrlState::kRedirected);
  End(200);
  EXPECT_EQ(Ask("/").state, UrlState::kAllowed);
  EXPECT_EQ(WalkHere().state, UrlState::kAllowed);
  // Rules that hold do so while the file is looked for anew.
  now_ += kDay / 8 * 7;
  EXPECT_TRUE(Ask("/").ask);
  Redirect("http://d.test/x");
  EXPECT_EQ(Ask("/private/").state, UrlState::kDenied);
  EXPECT_FALSE(Ask("/").ask);
  now_ = kNow + kDay;
  EXPECT_EQ(Ask("/").state, UrlState::kExpired);
  EXPECT_FALSE(Ask("/").ask);
}

TEST_F(CacheRuleTest, ATargetThatHasExpiredMakesRoomForAnother) {
  for (size_t i = 0; i < kMostTargets; ++i) {
    file_ = kTargetFile | i;
    EXPECT_EQ(WalkHere().state, UrlState::kUnknown);
    End(404);
  }
  file_ = kTargetFile | kMostTargets;
  EXPECT_EQ(WalkHere().state, UrlState::kTooManyPorts);
  now_ += kDay;
  EXPECT_EQ(WalkHere().state, UrlState::kUnknown);
}

}  // namespace
}  // namespace nephila::robots
