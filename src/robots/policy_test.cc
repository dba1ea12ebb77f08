#include "robots/policy.h"

#include <gtest/gtest.h>

#include "robots/matcher.h"
#include "robots/rules.h"

namespace nephila::robots {
namespace {

Policy Ends(FetchEnd end, bool have_copy = false) {
  Fetch fetch;
  fetch.end = end;
  fetch.have_copy = have_copy;
  return PolicyFor(fetch);
}

Policy Status(int status, bool have_copy = false) {
  Fetch fetch;
  fetch.status = status;
  fetch.have_copy = have_copy;
  return PolicyFor(fetch);
}

TEST(RobotsPolicy, SuccessIsParsed) {
  for (int status : {200, 203, 204, 206, 299}) {
    EXPECT_EQ(Status(status).verdict, Verdict::kParse) << status;
    EXPECT_FALSE(Status(status).unreachable);
  }
}

TEST(RobotsPolicy, UnavailableAllowsAllWhateverWeHad) {
  for (int status : {300, 302, 400, 401, 403, 404, 410, 451, 499}) {
    EXPECT_EQ(Status(status).verdict, Verdict::kAllowAll) << status;
    EXPECT_EQ(Status(status, true).verdict, Verdict::kAllowAll) << status;
    EXPECT_FALSE(Status(status).unreachable) << status;
  }
  EXPECT_EQ(Ends(FetchEnd::kTooManyRedirects).verdict, Verdict::kAllowAll);
  EXPECT_EQ(Ends(FetchEnd::kBadRedirect).verdict, Verdict::kAllowAll);
}

TEST(RobotsPolicy, UnreachableForbidsAllOrKeepsTheCopy) {
  for (int status : {0, 100, 429, 500, 502, 503, 504, 599, 600, 999, -1}) {
    EXPECT_EQ(Status(status).verdict, Verdict::kDisallowAll) << status;
    EXPECT_EQ(Status(status, true).verdict, Verdict::kKeepCopy) << status;
    EXPECT_TRUE(Status(status).unreachable) << status;
    EXPECT_TRUE(Status(status, true).unreachable) << status;
  }
  EXPECT_EQ(Ends(FetchEnd::kNetwork).verdict, Verdict::kDisallowAll);
  EXPECT_EQ(Ends(FetchEnd::kNetwork, true).verdict, Verdict::kKeepCopy);
}

TEST(RobotsPolicy, ARedirectThatWeRefuseIsNoPermission) {
  EXPECT_EQ(Ends(FetchEnd::kRefusedRedirect).verdict, Verdict::kDisallowAll);
  EXPECT_EQ(Ends(FetchEnd::kRefusedRedirect, true).verdict, Verdict::kKeepCopy);
}

TEST(RobotsPolicy, NotModifiedRenewsTheCopyAndNothingElse) {
  EXPECT_EQ(Status(304, true).verdict, Verdict::kKeepCopy);
  EXPECT_FALSE(Status(304, true).unreachable);
  EXPECT_EQ(Status(304).verdict, Verdict::kDisallowAll);
}

TEST(RobotsPolicy, AfterThirtyDaysWithoutReachTheCopyHoldsElseAllIsAllowed) {
  Fetch fetch;
  fetch.status = 503;
  fetch.unreachable_for = std::chrono::hours(24 * 30);
  EXPECT_EQ(PolicyFor(fetch).verdict, Verdict::kDisallowAll);
  fetch.unreachable_for = std::chrono::hours(24 * 30 + 1);
  EXPECT_EQ(PolicyFor(fetch).verdict, Verdict::kAllowAll);
  EXPECT_TRUE(PolicyFor(fetch).unreachable);
  fetch.have_copy = true;
  EXPECT_EQ(PolicyFor(fetch).verdict, Verdict::kKeepCopy);
}

TEST(RobotsPolicy, TheTwoVerdictsWithoutAFileAreRulesToo) {
  std::string bytes = CompileAllowAll();
  auto rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_TRUE(Matcher(*rules).Match("/x").allowed);
  bytes = CompileDisallowAll();
  rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_FALSE(Matcher(*rules).Match("/x").allowed);
  EXPECT_FALSE(Matcher(*rules).Match("").allowed);
  EXPECT_TRUE(Matcher(*rules).Match("/robots.txt").allowed);
  EXPECT_LE(bytes.size(), 32u);
}

}  // namespace
}  // namespace nephila::robots
