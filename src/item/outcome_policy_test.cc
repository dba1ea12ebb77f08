#include "item/outcome_policy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/source_path_testing.h"

namespace nephila::item {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

config::FetchSettings Settings() {
  config::FetchSettings settings;
  settings.retry_attempts = 4;
  settings.retry_wait = minutes(1);
  settings.retry_growth = 3;
  settings.retry_wait_max = minutes(5);
  return settings;
}

Next After(FetchOutcome outcome, uint32_t attempt = 1) {
  Attempt made;
  made.outcome = outcome;
  made.attempt = attempt;
  return WhatNext(made, Settings());
}

Next AfterStatus(int status, uint32_t attempt = 1) {
  Attempt made;
  made.outcome = FetchOutcome::kResponse;
  made.status = status;
  made.attempt = attempt;
  return WhatNext(made, Settings());
}

TEST(OutcomePolicyTest, RowsStandInTheOrderOfTheirEnums) {
  ASSERT_EQ(OutcomeRows().size(), kFetchOutcomes);
  for (uint8_t i = 0; i < kFetchOutcomes; ++i) {
    EXPECT_EQ(OutcomeRows()[i].name,
              FetchOutcomeName(static_cast<FetchOutcome>(i)));
    EXPECT_FALSE(OutcomeRows()[i].why.empty());
  }
  ASSERT_EQ(StatusRows().size(), kStatusClasses);
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 204).name, "2xx");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 304).name, "304");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 302).name, "other 3xx");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 404).name, "404");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 410).name, "410");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 425).name, "408, 425");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 429).name, "429");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 403).name, "other 4xx");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 505).name, "501, 505");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 503).name, "503");
  EXPECT_EQ(RowFor(FetchOutcome::kResponse, 502).name, "other 5xx");
  for (int status : {0, 101, 600, 999, -5}) {
    EXPECT_EQ(RowFor(FetchOutcome::kResponse, status).name, "any other");
  }
  EXPECT_EQ(RowFor(FetchOutcome::kTimeout, 200).name, "timeout");
}

TEST(OutcomePolicyTest, AnAnswerIsDoneAndItsHostWell) {
  for (int status : {200, 206, 301, 304}) {
    const Next next = AfterStatus(status, 2);
    EXPECT_EQ(next.url, UrlStep::kDone) << status;
    EXPECT_EQ(next.host, HostStep::kWell) << status;
  }
  for (int status : {400, 401, 403, 404, 410, 451, 501}) {
    EXPECT_EQ(AfterStatus(status).url, UrlStep::kGiveUp) << status;
    EXPECT_EQ(AfterStatus(status).host, HostStep::kWell) << status;
    EXPECT_FALSE(AfterStatus(status).attempts_used_up) << status;
  }
}

TEST(OutcomePolicyTest, WaitsGrowUpToABound) {
  EXPECT_EQ(After(FetchOutcome::kTlsFailed, 1).url_wait, minutes(1));
  EXPECT_EQ(After(FetchOutcome::kTlsFailed, 2).url_wait, minutes(3));
  EXPECT_EQ(After(FetchOutcome::kTlsFailed, 3).url_wait, minutes(5));
  config::FetchSettings settings = Settings();
  settings.retry_attempts = 1'000'000;
  settings.retry_wait_max = hours(24 * 365);
  Attempt made;
  made.outcome = FetchOutcome::kTlsFailed;
  made.attempt = 999'999;
  EXPECT_EQ(WhatNext(made, settings).url_wait, hours(24 * 365));
  settings.retry_growth = 1;
  EXPECT_EQ(WhatNext(made, settings).url_wait, minutes(1));
}

TEST(OutcomePolicyTest, AttemptsEnd) {
  EXPECT_EQ(After(FetchOutcome::kTlsFailed, 3).url, UrlStep::kRetry);
  const Next last = After(FetchOutcome::kTlsFailed, 4);
  EXPECT_EQ(last.url, UrlStep::kGiveUp);
  EXPECT_TRUE(last.attempts_used_up);
  EXPECT_EQ(After(FetchOutcome::kTlsFailed, 400).url, UrlStep::kGiveUp);
}

TEST(OutcomePolicyTest, AnInterruptedAttemptDoesNotCount) {
  const Next next = After(FetchOutcome::kInterrupted, 400);
  EXPECT_EQ(next.url, UrlStep::kRetry);
  EXPECT_EQ(next.url_wait, seconds(0));
  EXPECT_EQ(next.host, HostStep::kNone);
  EXPECT_FALSE(next.attempt_counts);
  EXPECT_TRUE(After(FetchOutcome::kTimeout).attempt_counts);
}

TEST(OutcomePolicyTest, WithoutRobotsTxtItIsParkedUntilThatIsAskedFor) {
  Attempt made;
  made.outcome = FetchOutcome::kRobotsUnreachable;
  made.attempt = 400;
  made.robots_wait = hours(12);
  Next next = WhatNext(made, Settings());
  EXPECT_EQ(next.url, UrlStep::kRetry);
  EXPECT_EQ(next.url_wait, hours(12));
  EXPECT_FALSE(next.attempts_used_up);
  EXPECT_FALSE(next.attempt_counts);
  EXPECT_EQ(next.host, HostStep::kNone);
  made.robots_wait.reset();
  next = WhatNext(made, Settings());
  EXPECT_EQ(next.url, UrlStep::kRetry);
  EXPECT_EQ(next.url_wait, minutes(1));
}

TEST(OutcomePolicyTest, WithoutTlsTheHostBacksOff) {
  const Next next = After(FetchOutcome::kTlsFailed);
  EXPECT_EQ(next.url, UrlStep::kRetry);
  EXPECT_EQ(next.host, HostStep::kBackOff)
      << "over plain HTTP it may be well: it is not dead";
  Attempt made;
  made.outcome = FetchOutcome::kTlsFailed;
  made.certificate_refused = true;
  const Next refused = WhatNext(made, Settings());
  EXPECT_EQ(refused.url, UrlStep::kGiveUp);
  EXPECT_FALSE(refused.attempts_used_up);
  EXPECT_EQ(refused.host, HostStep::kBackOff);
}

TEST(OutcomePolicyTest, OnlySilenceIsTrouble) {
  for (const FetchOutcome outcome :
       {FetchOutcome::kDnsFailed, FetchOutcome::kConnectFailed,
        FetchOutcome::kConnectionLost, FetchOutcome::kTimeout}) {
    EXPECT_EQ(After(outcome).host, HostStep::kTrouble);
    EXPECT_EQ(After(outcome).url, UrlStep::kRetry);
  }
  EXPECT_EQ(After(FetchOutcome::kNoSuchHost).host, HostStep::kDead);
  for (int status : {429, 500, 502, 503}) {
    EXPECT_EQ(AfterStatus(status).host, HostStep::kBackOff) << status;
    EXPECT_EQ(AfterStatus(status).url, UrlStep::kRetry) << status;
  }
}

TEST(OutcomePolicyTest, TheSettingsHoldTogether) {
  const config::FetchSettings settings;
  EXPECT_LE(settings.retry_wait, settings.retry_wait_max);
  EXPECT_GE(settings.retry_attempts, 2);
}

std::string TableText(std::span<const OutcomeRow> rows, bool numbers) {
  std::ostringstream text;
  int number = 0;
  for (const OutcomeRow& row : rows) {
    text << "| ";
    if (numbers) text << number++ << " | ";
    text << '`' << row.name << "` | " << UrlStepName(row.url) << " | "
         << HostStepName(row.host) << " | " << row.why << " |\n";
  }
  return text.str();
}

TEST(OutcomePolicyTest, TheDocumentHasTheTable) {
  std::ifstream file(SourcePath("docs/outcomes.md"));
  std::stringstream document;
  document << file.rdbuf();
  for (const std::string& table :
       {TableText(OutcomeRows(), true), TableText(StatusRows(), false)}) {
    const size_t at = document.str().find(table);
    ASSERT_NE(at, std::string::npos) << "docs/outcomes.md should hold\n"
                                     << table;
    // And no row behind it that the code does not have.
    EXPECT_NE(document.str().substr(at + table.size(), 1), "|");
  }
}

}  // namespace
}  // namespace nephila::item
