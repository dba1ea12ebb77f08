// What the scope lets in, in whole crawls in one thread: black lists that
// change, caps that are exact over crashes, policies for links to other hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_testing.h"
#include "crawl/scenario_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::seconds;

class ScopeScenarioTest : public ScenarioTest {
 protected:
  ScopeScenarioTest() {
    plan_.settings.scope.bounds = config::ScopeBounds::kAll;
    plan_.settings.scope.block_interval = milliseconds(100);
  }

  // Found, and never to be asked for.
  void Hidden(const std::string& url) {
    plan_.answers[url] = {FakePage(TwinPage({}, url))};
  }
  size_t AskedOfHost(std::string_view host) {
    const std::vector<FakeContact> log = twin_->web().log();
    return static_cast<size_t>(std::count_if(
        log.begin(), log.end(),
        [&](const FakeContact& contact) { return contact.host == host; }));
  }
  uint64_t Dropped(std::string_view stage, size_t reason) {
    for (const auto& one : twin_->last_status().stages) {
      if (one.name == stage) return one.totals.dropped.at(reason);
    }
    return 0;
  }
  uint64_t Blocked(std::string_view stage) {
    return Dropped(stage, static_cast<size_t>(scope::ScopeDrop::kBlocked));
  }
};

TEST_F(ScopeScenarioTest, ABlockedHostIsNeverAskedForAnything) {
  plan_.settings.scope.block = {"host bad.com"};
  Page("http://a.com/",
       {"http://bad.com/1", "http://www.bad.com/", "http://a.com/1"});
  Page("http://a.com/1", {});
  Hidden("http://bad.com/1");
  Begin();
  FinishAndExpectAll();
  EXPECT_EQ(AskedOfHost("bad.com") + AskedOfHost("www.bad.com"), 0U);
  EXPECT_EQ(twin_->web().TimesResolved("bad.com"), 0U);
  EXPECT_EQ(Blocked("scope"), 2U);
}

TEST_F(ScopeScenarioTest, AListThatChangesHoldsForWhatIsKnownAlready) {
  plan_.settings.politeness.host_delay = milliseconds(500);
  plan_.settings.politeness.host_delay_floor = milliseconds(500);
  std::vector<std::string> links = Urls("bad.com", 40);
  Page("http://a.com/", links);
  for (const std::string& url : links) Hidden(url);
  Begin();
  Until([&] { return AskedOfHost("bad.com") >= 3; });
  // As `nephila block` does.
  Put(*fs_, "job/blocked", "host bad.com\n");
  For(milliseconds(200));
  const size_t asked = AskedOfHost("bad.com");
  twin_->Finish(*fs_);
  // What was in flight may end; nothing is begun.
  EXPECT_LE(AskedOfHost("bad.com"), asked);
  EXPECT_LT(asked, 8U);
  EXPECT_EQ(twin_->last_status().Imbalance(), "");
  EXPECT_EQ(twin_->last_status().waiting, 0U);
}

TEST_F(ScopeScenarioTest, AHostThatWaitsForItsRobotsTxtIsBlockedToo) {
  Page("http://a.com/", {"http://bad.com/1", "http://a.com/1"});
  Answers("http://a.com/1", {Slow(FakePage(TwinPage({}, "")), seconds(1))});
  Hidden("http://bad.com/1");
  // Its name is not found for a while: the robots.txt waits here.
  plan_.failures["bad.com"] = {dns::Outcome::kServerFailure};
  plan_.settings.politeness.back_off = seconds(2);
  plan_.settings.politeness.back_off_max = seconds(2);
  Begin(/*others=*/1);
  Until([&] { return HasEnded("http://a.com/1"); });
  EXPECT_EQ(AskedOfHost("bad.com"), 0U);
  Put(*fs_, "job/blocked", "domain bad.com\n");
  FinishAndExpectAll();
  EXPECT_EQ(AskedOfHost("bad.com"), 0U);
}

TEST_F(ScopeScenarioTest, ABlockedAddressIsNotContactedWhateverItsName) {
  plan_.settings.scope.block = {"address 192.0.2.0/24"};
  plan_.hosts["bad.com"] = {net::IpAddress::V4(192, 0, 2, 9)};
  // Of two addresses the other one is used.
  plan_.hosts["b.com"] = {net::IpAddress::V4(192, 0, 2, 10),
                          net::IpAddress::V4(198, 51, 100, 7)};
  Page("http://a.com/",
       {"http://bad.com/1", "http://b.com/", "http://192.0.2.5/"});
  Page("http://b.com/", {});
  Hidden("http://bad.com/1");
  Begin(/*others=*/1);
  FinishAndExpectAll();
  EXPECT_EQ(AskedOfHost("bad.com"), 0U);
  EXPECT_EQ(twin_->web().TimesResolved("bad.com"), 1U);
  for (const FakeContact& contact : twin_->web().log()) {
    EXPECT_FALSE(net::Network::Parse("192.0.2.0/24")->Contains(contact.address))
        << contact.url;
  }
  EXPECT_EQ(Blocked("scope"), 1U);
}

TEST_F(ScopeScenarioTest, ARobotsTxtThatIsRedirectedToABlockedHostIsRefused) {
  plan_.settings.scope.block = {"host bad.com"};
  plan_.settings.robots.unreachable_attempts = 1;
  Page("http://a.com/", {"http://b.com/1"});
  plan_.answers["http://b.com/robots.txt"] = {
      FakeRedirect("http://bad.com/rules")};
  Hidden("http://b.com/1");
  Begin(/*others=*/1);
  twin_->Finish(*fs_);
  EXPECT_EQ(AskedOfHost("bad.com"), 0U);
  EXPECT_GE(Asked("http://b.com/robots.txt"), 1U);
  EXPECT_EQ(Asked("http://b.com/1"), 0U);
}

TEST_F(ScopeScenarioTest, AListIsReadAtOnceWhenItIsAskedFor) {
  plan_.settings.scope.block_interval = std::chrono::hours(1);
  Page("http://a.com/", {"http://a.com/1"});
  Answers("http://a.com/1", {Slow(FakePage(TwinPage({"http://bad.com/"}, "")),
                                  milliseconds(500))});
  Hidden("http://bad.com/");
  Begin();
  Until([&] { return Asked("http://a.com/1") == 1; });
  Put(*fs_, "job/blocked", "host bad.com\n");
  twin_->crawl().ReadBlockLists();
  FinishAndExpectAll();
  EXPECT_EQ(AskedOfHost("bad.com"), 0U);
  EXPECT_EQ(Blocked("scope"), 1U);
}

TEST_F(ScopeScenarioTest, CapsAreExactWhereverTheProcessIsKilled) {
  plan_.settings.scope.max_pages_per_host = 5;
  plan_.settings.scope.max_pages_per_domain = 9;
  plan_.settings.scope.max_hosts_per_domain = 3;
  std::vector<std::string> links;
  for (const char* host : {"a.com", "b.a.com", "c.a.com", "d.a.com"}) {
    for (const std::string& url : Urls(host, 8)) {
      links.push_back(url);
      Hidden(url);
    }
  }
  Page("http://a.com/", links);
  // The seed and four of its host, four of the second, which fills the domain.
  for (const std::string& url : Urls("a.com", 4)) plan_.finals.insert(url);
  for (const std::string& url : Urls("b.a.com", 4)) plan_.finals.insert(url);
  for (const uint64_t turns : {0, 20, 60, 100, 150, 200, 300, 500}) {
    SCOPED_TRACE(turns);
    NewDisk();
    Begin(/*others=*/links.size() - 8);
    const auto end = twin_->Turns(turns);
    ASSERT_TRUE(end.has_value()) << end.error().message;
    Kill();
    twin_->AllowRequests(5);
    FinishAndExpectAll();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(ScopeScenarioTest, ACrawlWithCapsKeepsItsLimitsOverRestarts) {
  plan_.settings.scope.max_pages_per_host = 3;
  Page("http://a.com/", {"http://a.com/1", "http://b.com/"});
  Page("http://a.com/1", {"http://a.com/2"});
  Page("http://a.com/2", {"http://a.com/3", "http://a.com/4"});
  Hidden("http://a.com/3");
  Hidden("http://a.com/4");
  Page("http://b.com/", {});
  Begin(/*others=*/2);
  Until([&] { return HasEnded("http://a.com/1"); });
  Until([&, number = ManifestNumber()] { return ManifestNumber() > number; });
  Kill();
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://a.com/3") + Asked("http://a.com/4"), 0U);
}

TEST_F(ScopeScenarioTest, LinksToOtherHostsGoToTheirHomePages) {
  plan_.settings.scope.external_links = config::ExternalLinks::kHomePage;
  Page("http://a.com/", {"http://b.com/deep/1", "http://b.com/deep/2?x",
                         "http://a.com/1", "http://c.com/"});
  Page("http://a.com/1", {});
  Page("http://b.com/", {"http://b.com/own"});
  Page("http://b.com/own", {});
  Answers("http://c.com/", {FakeRedirect("http://d.com/deep")});
  // A redirect is followed as it is.
  Page("http://d.com/deep", {});
  Hidden("http://b.com/deep/1");
  Begin();
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://b.com/deep/1"), 0U);
  EXPECT_EQ(Asked("http://d.com/"), 0U);
}

TEST_F(ScopeScenarioTest, OrToBothAlsoIfTheProcessIsKilled) {
  plan_.settings.scope.external_links = config::ExternalLinks::kCombined;
  Page("http://a.com/", {"http://b.com/deep/1", "http://b.com/deep/2",
                         "http://a.com/1", "http://c.com/"});
  Page("http://a.com/1", {});
  Page("http://b.com/deep/1", {});
  Page("http://b.com/deep/2", {});
  Page("http://b.com/", {});
  Page("http://c.com/", {});
  for (const uint64_t turns : {0, 20, 40, 60, 80, 120, 200}) {
    SCOPED_TRACE(turns);
    NewDisk();
    Begin();
    const auto end = twin_->Turns(turns);
    ASSERT_TRUE(end.has_value()) << end.error().message;
    Kill();
    twin_->AllowRequests(3);
    FinishAndExpectAll();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(ScopeScenarioTest, BoundsOfAJobDoNotBecomeFiner) {
  plan_.settings.scope.bounds = config::ScopeBounds::kSite;
  Page("http://a.com/", {});
  Begin();
  FinishAndExpectAll();
  twin_->plan().settings.scope.bounds = config::ScopeBounds::kHost;
  const Status opened = twin_->Open(*fs_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(opened.error().message.starts_with("scope.bounds: "));
}

}  // namespace
}  // namespace nephila::crawl
