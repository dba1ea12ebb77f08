#include "sim/politeness_check.h"

#include <gtest/gtest.h>

#include <string>

#include "base/memory_file_system.h"
#include "sim/request_log.h"

namespace nephila::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PolitenessRules Rules() {
  PolitenessRules rules;
  rules.host_delay = seconds(1);
  rules.server_delay = milliseconds(100);
  return rules;
}

PolitenessReport Check(std::string_view log, PolitenessRules rules = Rules()) {
  PolitenessCheck check(std::move(rules));
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const Status status = check.Line(log.substr(0, end));
    EXPECT_TRUE(status) << status.error().message;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return check.Report();
}

std::string ErrorOf(std::string_view line) {
  PolitenessCheck check(Rules());
  EXPECT_TRUE(check.Line("A 50 1 127.0.0.9"));
  const Status status = check.Line(line);
  return status ? "none" : status.error().message;
}

TEST(PolitenessCheckTest, AddressesOfOneSlash64ShareAServersDelay) {
  const std::string_view log =
      "A 0 1 2600:1:2:3::1\n"
      "A 50000 2 2600:1:2:3::2\n"
      "A 60000 3 2600:1:2:4::1\n"
      "A 70000 4 192.0.2.1\n"
      "A 70000 5 192.0.2.2\n";
  const PolitenessReport report = Check(log);
  EXPECT_EQ(report.violations, 1U);
  ASSERT_EQ(report.first.size(), 1U);
  EXPECT_EQ(report.first[0].line, 2U);
  EXPECT_NE(report.first[0].what.find("server 2600:1:2:3::/64"),
            std::string::npos)
      << report.first[0].what;
  EXPECT_EQ(report.addresses, 4U);
}

TEST(PolitenessCheckTest, IsContentWithAPoliteCrawl) {
  const PolitenessReport report = Check(
      "# nephila sim log 1\n"
      "A 0 1 127.1.0.1\n"
      "R 100 1 0 127.1.0.1 a.com GET /robots.txt\n"
      "E 1000 1 200 10 keep\n"
      "D 1500 A b.com answered\n"
      "R 1001000 1 0 127.1.0.1 a.com GET /\n"
      "E 1500000 1 200 10 close\n"
      "A 1500100 2 127.1.0.2\n"
      "R 1500200 2 1500100 127.1.0.2 b.com GET /\n"
      "E 1500300 2 200 10 close\n"
      "A 2500000 3 127.1.0.1\n"
      "R 2500010 3 2500000 127.1.0.1 a.com GET /x\n");
  EXPECT_EQ(report.violations, 0U)
      << (report.first.empty() ? "" : report.first[0].what);
  EXPECT_EQ(report.requests, 4U);
  EXPECT_EQ(report.connections, 3U);
  EXPECT_EQ(report.hosts, 2U);
  EXPECT_EQ(report.addresses, 2U);
}

// From the end of the transfer, not from its beginning.
TEST(PolitenessCheckTest, FindsAHostThatIsContactedEarly) {
  const PolitenessReport report = Check(
      "A 0 1 127.1.0.1\n"
      "R 0 1 0 127.1.0.1 a.com GET /\n"
      "E 500000 1 200 10 keep\n"
      "R 1400000 1 0 127.1.0.1 a.com GET /x\n");
  ASSERT_EQ(report.violations, 1U);
  EXPECT_EQ(report.first[0].line, 4U);
  EXPECT_EQ(report.first[0].earlier, 3U);
  EXPECT_EQ(report.first[0].what,
            "host a.com: contacted 900ms after the end of the transfer "
            "before, not 1s");
}

TEST(PolitenessCheckTest, AllowsTenMilliseconds) {
  auto violations = [](const std::string& time) {
    return Check(
               "A 0 1 127.1.0.1\nR 0 1 0 127.1.0.1 a.com GET /\n"
               "E 0 1 200 10 keep\nR " +
               time + " 1 0 127.1.0.1 a.com GET /x\n")
        .violations;
  };
  EXPECT_EQ(violations("990000"), 0U);
  EXPECT_EQ(violations("989999"), 1U);
}

TEST(PolitenessCheckTest, CountsAFreshConnectionFromItsAccept) {
  const PolitenessReport report = Check(
      "A 0 1 127.1.0.1\n"
      "R 0 1 0 127.1.0.1 a.com GET /\n"
      "E 0 1 200 10 close\n"
      "A 500000 2 127.1.0.2\n"
      "R 1500000 2 500000 127.1.0.2 a.com GET /x\n");
  EXPECT_EQ(report.violations, 1U);
}

TEST(PolitenessCheckTest, LetsOnlyTheFirstRobotsSkipTheHostsWait) {
  const std::string begin =
      "A 0 1 127.1.0.1\n"
      "R 0 1 0 127.1.0.1 a.com GET /\n"
      "E 0 1 200 10 keep\n"
      "R 200000 1 0 127.1.0.1 a.com GET /robots.txt\n"
      "E 200000 1 200 10 keep\n";
  EXPECT_EQ(Check(begin).violations, 0U);
  EXPECT_EQ(Check(begin + "R 400000 1 0 127.1.0.1 a.com GET /robots.txt\n")
                .violations,
            1U);
  EXPECT_EQ(Check(begin + "R 1100000 1 0 127.1.0.1 a.com GET /\n").violations,
            1U);
}

TEST(PolitenessCheckTest, FindsTwoRequestsInFlight) {
  const PolitenessReport report = Check(
      "A 0 1 127.1.0.1\n"
      "R 0 1 0 127.1.0.1 a.com GET /\n"
      "A 5000000 2 127.1.0.2\n"
      "R 5000000 2 5000000 127.1.0.2 a.com GET /robots.txt\n");
  ASSERT_EQ(report.violations, 1U);
  EXPECT_EQ(report.first[0].what, "host a.com: a second request in flight");
  EXPECT_EQ(report.first[0].earlier, 2U);
}

TEST(PolitenessCheckTest, FindsAServerThatIsContactedEarly) {
  // Different hosts, by fresh and by kept connections, and one without any
  // request.
  const PolitenessReport report = Check(
      "A 0 1 127.1.0.1\n"
      "R 0 1 0 127.1.0.1 a.com GET /\n"
      "E 0 1 200 10 keep\n"
      "A 50000 2 127.1.0.1\n"
      "R 100000 1 0 127.1.0.1 b.com GET /\n");
  EXPECT_EQ(report.violations, 2U);
  EXPECT_EQ(report.first[0].what,
            "server 127.1.0.1: contacted 50ms after the contact before, not "
            "100ms");
}

TEST(PolitenessCheckTest, DoesNotCountAFreshConnectionTwice) {
  EXPECT_EQ(
      Check("A 0 1 127.1.0.1\nR 50000 1 0 127.1.0.1 a.com GET /\n").violations,
      0U);
}

TEST(PolitenessCheckTest, KnowsLongerDelaysOfSomeHosts) {
  PolitenessRules rules = Rules();
  rules.host_delays["a.com"] = seconds(10);
  const std::string log =
      "A 0 1 127.1.0.1\nR 0 1 0 127.1.0.1 a.com GET /\nE 0 1 200 1 keep\n"
      "R 5000000 1 0 127.1.0.1 a.com GET /x\n";
  EXPECT_EQ(Check(log, rules).violations, 1U);
  EXPECT_EQ(Check(log).violations, 0U);
}

TEST(PolitenessCheckTest, BoundsRequestsInFlightAtAServer) {
  PolitenessRules rules = Rules();
  rules.server_in_flight = 1;
  const std::string log =
      "A 0 1 127.1.0.1\nR 0 1 0 127.1.0.1 a.com GET /\n"
      "A 500000 2 127.1.0.1\nR 500000 2 500000 127.1.0.1 b.com GET /\n";
  EXPECT_EQ(Check(log, rules).violations, 1U);
  EXPECT_EQ(Check(log).violations, 0U);
}

TEST(PolitenessCheckTest, DescribesTheFirstAndCountsAll) {
  PolitenessRules rules = Rules();
  rules.reported = 2;
  std::string log = "A 0 1 127.1.0.1\n";
  for (int i = 0; i < 10; ++i) {
    log += "R " + std::to_string(i) + " 1 0 127.1.0.1 h" + std::to_string(i) +
           ".com GET /\nE " + std::to_string(i) + " 1 200 1 keep\n";
  }
  const PolitenessReport report = Check(log, rules);
  EXPECT_EQ(report.violations, 9U);
  EXPECT_EQ(report.first.size(), 2U);
}

TEST(PolitenessCheckTest, RefusesWhatIsNoLog) {
  EXPECT_EQ(ErrorOf("x"), "line 2 of the log: no time and connection");
  EXPECT_EQ(ErrorOf("A 60 1 127.0.0.9"),
            "line 2 of the log: the connection was accepted before");
  EXPECT_EQ(ErrorOf("R 60 7 0 127.0.0.9 a GET /"),
            "line 2 of the log: a request without a connection");
  EXPECT_EQ(ErrorOf("E 60 1 200 0 keep"),
            "line 2 of the log: an end without a request");
  EXPECT_EQ(ErrorOf("R 40 1 0 127.0.0.9 a GET /"),
            "line 2 of the log: time steps back");
  EXPECT_EQ(ErrorOf("R 60 1 0 127.0.0.9"),
            "line 2 of the log: not a line of a log");
}

TEST(RequestLogTest, WritesWhatTheCheckReads) {
  MemoryFileSystem fs;
  ManualClock clock;
  auto log = RequestLog::Create(fs, "log", clock);
  ASSERT_TRUE(log);
  const int64_t accepted = (*log)->Accepted(1, "127.1.0.1");
  (*log)->Requested(1, accepted, "127.1.0.1", "a.com", "GET", "/a%20b");
  clock.Advance(milliseconds(5));
  (*log)->Ended(1, 200, 123, "keep");
  (*log)->Asked("A", "a b\n", "nxdomain");
  clock.Advance(seconds(1));
  (*log)->Requested(1, accepted, "127.1.0.1", "", "", "");
  ASSERT_TRUE((*log)->Flush());
  EXPECT_EQ(*ReadWholeFile(fs, "log", 10'000),
            "# nephila sim log 1\n"
            "A 0 1 127.1.0.1\n"
            "R 0 1 0 127.1.0.1 a.com GET /a%20b\n"
            "E 5000 1 200 123 keep\n"
            "D 5000 A a%20b%0A nxdomain\n"
            "R 1005000 1 0 127.1.0.1 - - -\n");
  const auto report = CheckPoliteness(fs, "log", Rules());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->requests, 2U);
  EXPECT_EQ(report->violations, 0U);
}

// The client may know the last bytes before the server is on its processor
// again to say so.
TEST(RequestLogTest, AnAnswerEndsWhenItIsGivenAwayAndNoTimeStepsBack) {
  MemoryFileSystem fs;
  ManualClock clock;
  auto log = RequestLog::Create(fs, "log", clock);
  ASSERT_TRUE(log);
  (*log)->Accepted(1, "127.1.0.1");
  (*log)->Requested(1, 0, "127.1.0.1", "a.com", "GET", "/");
  clock.Advance(milliseconds(5));
  const MonoTime given = clock.Now();
  clock.Advance(milliseconds(20));
  (*log)->Asked("A", "b.com", "found");
  (*log)->Ended(1, 200, 1, "keep", given);
  clock.Advance(milliseconds(5));
  (*log)->Accepted(2, "127.1.0.2");
  (*log)->Requested(2, 30'000, "127.1.0.2", "b.com", "GET", "/");
  (*log)->Ended(2, 200, 1, "keep", given);
  ASSERT_TRUE((*log)->Flush());
  EXPECT_EQ(*ReadWholeFile(fs, "log", 10'000),
            "# nephila sim log 1\n"
            "A 0 1 127.1.0.1\n"
            "R 0 1 0 127.1.0.1 a.com GET /\n"
            "D 25000 A b.com found\n"
            "E 5000 1 200 1 keep\n"
            "A 30000 2 127.1.0.2\n"
            "R 30000 2 30000 127.1.0.2 b.com GET /\n"
            "E 30000 2 200 1 keep\n");
  EXPECT_TRUE(CheckPoliteness(fs, "log", Rules()));
}

TEST(RequestLogTest, IsReadInPartsOfAnySize) {
  MemoryFileSystem fs;
  ManualClock clock;
  auto log = RequestLog::Create(fs, "log", clock);
  ASSERT_TRUE(log);
  const int64_t accepted = (*log)->Accepted(1, "127.1.0.1");
  for (int i = 0; i < 20'000; ++i) {
    clock.Advance(seconds(2));
    (*log)->Requested(1, accepted, "127.1.0.1", "a.com", "GET", "/");
    (*log)->Ended(1, 200, 1, "keep");
  }
  ASSERT_TRUE((*log)->Flush());
  const auto report = CheckPoliteness(fs, "log", Rules());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->requests, 20'000U);
  EXPECT_EQ(report->violations, 0U);
}

}  // namespace
}  // namespace nephila::sim
