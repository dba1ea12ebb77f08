#include "sim/nginx_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/politeness_check.h"

namespace nephila::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PolitenessReport Check(std::string_view log) {
  PolitenessRules rules;
  rules.host_delay = seconds(1);
  rules.server_delay = milliseconds(100);
  PolitenessCheck check(std::move(rules));
  while (!log.empty()) {
    const size_t end = log.find('\n');
    const Status status = check.Line(log.substr(0, end));
    EXPECT_TRUE(status) << status.error().message;
    log.remove_prefix(end + 1);
  }
  const Status status = check.Finish();
  EXPECT_TRUE(status) << status.error().message;
  return check.Report();
}

TEST(NginxLog, APoliteCrawlIsPolite) {
  const PolitenessReport report = Check(
      // msec, connection, connection_time, request_time, address, host...
      "N 1000.100 7 0.010 0.005 10.0.0.1 a.com 200 GET /robots.txt\n"
      "N 1001.200 7 1.110 0.010 10.0.0.1 a.com 200 GET /\n"
      "N 1001.500 9 0.010 0.010 10.0.0.2 b.com 200 GET /x?y=1\n"
      "N 1002.600 8 0.100 0.100 10.0.0.1 a.com 404 GET /z\n");
  EXPECT_EQ(report.violations, 0U)
      << (report.first.empty() ? "" : report.first[0].what);
  EXPECT_EQ(report.requests, 4U);
  EXPECT_EQ(report.connections, 3U);
  EXPECT_EQ(report.hosts, 2U);
}

// Lines stand in the order of their ends; the second began within the first.
TEST(NginxLog, ARequestWithinAnotherIsFoundThoughItsLineComesFirst) {
  const PolitenessReport report = Check(
      "N 1003.000 2 0.500 0.500 10.0.0.2 a.com 200 GET /short\n"
      "N 1004.000 1 3.000 3.000 10.0.0.1 a.com 200 GET /long\n");
  ASSERT_EQ(report.violations, 1U);
  EXPECT_EQ(report.first[0].what, "host a.com: a second request in flight");
  EXPECT_EQ(report.first[0].line, 1U);
  EXPECT_EQ(report.first[0].earlier, 2U);
}

TEST(NginxLog, TwentyMillisecondsTooEarlyAreFound) {
  const auto log = [](const char* end) {
    return std::string("N 1000.000 1 0.000 0.000 10.0.0.1 a.com 200 GET /\n") +
           "N " + end + " 1 1.000 0.000 10.0.0.1 a.com 200 GET /2\n";
  };
  // Its connection is the same, give or take what milliseconds round off.
  EXPECT_EQ(Check(log("1000.999")).violations, 0U);
  const PolitenessReport report = Check(
      "N 1000.000 1 0.000 0.000 10.0.0.1 a.com 200 GET /\n"
      "N 1000.980 1 0.980 0.000 10.0.0.1 a.com 200 GET /2\n");
  ASSERT_EQ(report.violations, 1U);
  EXPECT_EQ(report.first[0].line, 2U);
  EXPECT_EQ(report.first[0].earlier, 1U);
}

TEST(NginxLog, SerialsOfAnNginxThatWasStartedAnewAreOtherConnections) {
  const PolitenessReport report = Check(
      "N 1000.000 1 0.000 0.000 10.0.0.1 a.com 200 GET /\n"
      "N 2000.000 1 0.500 0.000 10.0.0.1 a.com 200 GET /2\n");
  EXPECT_EQ(report.connections, 2U);
}

TEST(NginxLog, WhatIsNoLineIsRefused) {
  for (const char* line :
       {"N", "N 1 2 3", "N x 1 0.0 0.0 a b 200 GET /",
        "N 1.0 1 0.0 0.0 a b 200 GET / more", "N 1.0 1 0.0 0.0 a b x GET /",
        "N 1.0000000 1 0.0 0.0 a b 200 GET /",
        "N 99999999999999999999.0 1 0.0 0.0 a b 200 GET /",
        "N 9000.0 1 700.0 700.0 a b 200 GET /"}) {
    NginxLog log;
    EXPECT_TRUE(log.Line(line, 1).has_value()) << line;
  }
}

TEST(NginxLog, ALineAboutATimeThatIsLongOverIsRefused) {
  NginxLog log;
  EXPECT_FALSE(log.Line("N 1000.0 1 0.0 0.0 a b 200 GET /", 1));
  EXPECT_FALSE(log.Line("N 3000.0 2 0.0 0.0 a b 200 GET /", 2));
  size_t events = 0;
  const auto count = [&](const LogEvent&) -> Status {
    ++events;
    return {};
  };
  EXPECT_TRUE(log.TakeReady(count));
  EXPECT_EQ(events, 3U);
  EXPECT_TRUE(log.Line("N 900.0 3 0.0 0.0 a b 200 GET /", 3).has_value());
}

}  // namespace
}  // namespace nephila::sim
