#include "crawl/accounts.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "item/saved_totals.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;

FinishedVisit Response(int status, bool retry = false) {
  FinishedVisit visit;
  visit.outcome = FetchOutcome::kResponse;
  visit.status = status;
  visit.archived = true;
  visit.body_bytes = 100;
  visit.retry = retry;
  return visit;
}

void ExpectLaw(const Accounts& accounts) {
  for (const StageAccount* account :
       {&accounts.seeds, &accounts.parse, &accounts.url, &accounts.scope,
        &accounts.politeness, &accounts.fetch, &accounts.store}) {
    EXPECT_EQ(account->Imbalance(), 0) << account->name();
  }
}

TEST(AccountsTest, EveryLinkOfAPageIsAccountedFor) {
  Accounts accounts;
  FoundCounts found;
  found.links = 26;
  found.unwanted = 2;
  found.nofollow = 3;
  found.not_crawled = {1, 2, 3, 0, 6};
  found.repeated = 4;
  found.out = 5;
  accounts.CountFound(found);
  ExpectLaw(accounts);
  EXPECT_EQ(accounts.parse.Totals().out, 21U);
  EXPECT_EQ(accounts.url.Totals().out, 5U);
  EXPECT_EQ(accounts.url.Totals().dropped,
            (std::vector<uint64_t>{1, 2, 3, 0, 4, 6, 0}));
  EXPECT_EQ(accounts.url.drop_reasons()[kUrlDropPort], "bad-port");
  EXPECT_EQ(accounts.url.drop_reasons()[kUrlDropRepeated], "repeated");
}

// A manifest of an earlier version has one reason less.
TEST(AccountsTest, ReadsCountsWithoutTheReasonBadPort) {
  StageAccount old("url", std::span(kUrlDropNames).first(kUrlDropPort));
  old.In(9);
  old.Drop(kUrlDropRepeated, 4);
  std::string bytes;
  ByteWriter writer(bytes);
  item::WriteTotals(old.Totals(), writer);
  StageAccount account("url", kUrlDropNames);
  ByteReader reader(bytes);
  ASSERT_TRUE(item::RestoreTotals(reader, account));
  EXPECT_EQ(account.Totals().dropped,
            (std::vector<uint64_t>{0, 0, 0, 0, 4, 0, 0}));
}

// An archived answer is a page, whatever its status; the URL is through with
// `fetch` when no other attempt follows.
TEST(AccountsTest, AttemptsAreCountedAndUrlsOnce) {
  Accounts accounts;
  accounts.CountAttempt(Response(503, /*retry=*/true));
  EXPECT_EQ(accounts.fetch.Totals().in, 0U);
  accounts.CountAttempt(Response(200));
  accounts.CountAttempt(Response(404));
  FinishedVisit hop = Response(302, /*retry=*/true);
  hop.goes_on = true;
  accounts.CountAttempt(hop);
  FinishedVisit lost;
  lost.outcome = FetchOutcome::kTimeout;
  accounts.CountAttempt(lost);
  ExpectLaw(accounts);
  EXPECT_EQ(accounts.pages.value(), 4U);
  EXPECT_EQ(accounts.bytes.value(), 400U);
  EXPECT_EQ(accounts.fetch.Totals().in, 3U);
  EXPECT_EQ(accounts.fetch.Totals().out, 2U);
  EXPECT_EQ(accounts.fetch.Totals().DroppedSum(), 1U);
  EXPECT_EQ(accounts.store.Totals().out, 2U);
  EXPECT_EQ(
      accounts.outcomes[static_cast<size_t>(FetchOutcome::kTimeout)].value(),
      1U);
  EXPECT_EQ(accounts.statuses[2].value(), 1U);
  EXPECT_EQ(accounts.statuses[5].value(), 1U);
}

TEST(AccountsTest, ARobotsFileIsNoPage) {
  Accounts accounts;
  FinishedVisit robots = Response(200);
  robots.kind = item::FetchKind::kRobots;
  accounts.CountAttempt(robots);
  EXPECT_EQ(accounts.robots.value(), 1U);
  EXPECT_EQ(accounts.pages.value(), 0U);
  EXPECT_EQ(accounts.fetch.Totals().in, 0U);
}

TEST(AccountsTest, TheyAreKept) {
  Accounts accounts;
  accounts.seeds.Made(3);
  accounts.seeds.Out(3);
  accounts.politeness.In(5);
  accounts.politeness.Hold(5);
  accounts.scope.In(2);
  accounts.scope.Drop(scope::ScopeDrop::kTooDeep, 2);
  accounts.CountAttempt(Response(200));
  std::string bytes;
  ByteWriter writer(bytes);
  accounts.Write(writer);
  Accounts again;
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  ExpectLaw(again);
  std::string second;
  ByteWriter second_writer(second);
  again.Write(second_writer);
  EXPECT_EQ(second, bytes);
  EXPECT_EQ(again.politeness.Totals().held, 5);
  EXPECT_EQ(again.pages.value(), 1U);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader part(std::string_view(bytes).substr(0, size));
    Accounts none;
    EXPECT_FALSE(none.Read(part)) << size;
  }
}

}  // namespace
}  // namespace nephila::crawl
