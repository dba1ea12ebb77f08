#include "crawl/downloader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "crawl/accounts.h"
#include "crawl/dispatch_testing.h"
#include "robots/matcher.h"
#include "robots/rules.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;
using item::RobotsFetchEnd;
using store::RecordType;
using testing::Test;
using Texts = std::vector<std::string>;

class DownloaderTest : public DispatchTest {
 protected:
  uint64_t HostKeyOf(std::string_view url) {
    return canonicalizer_.Canonicalize(url, nullptr)->keys.host.value;
  }
  // What comes of a redirect to its own key.
  static VisitPtr Followed(const FinishedVisit& finished) {
    std::string parent;
    item::UrlRecord record = *item::ReadUrlRecord(finished.record, parent);
    record.target = finished.next;
    ++record.followed;
    auto visit = std::make_unique<Visit>();
    AppendUrlRecord(record, visit->record);
    return visit;
  }
  url::PldKey DomainOf(std::string_view url) {
    return canonicalizer_.Canonicalize(url, nullptr)->keys.pld;
  }
};

TEST_F(DownloaderTest, APageIsArchivedJournaledAndReadForItsLinks) {
  web_.Put("http://a.test/",
           FakePage("<a href=/one>1</a><img src=/two.png>"
                    "<a href=http://b.test/>b</a><a href=/one>1</a>"
                    "<a href=mailto:x@a.test>mail</a>"
                    "<a href=http://b.test/2>b</a>"));
  Start();
  VisitPtr page = Page("http://a.test/", item::kFromSeed);
  page->budget = 25;
  const std::string record = page->record;
  Give(std::move(page));
  ASSERT_TRUE(RunUntilFinished(1));
  const FinishedVisit& visit = finished_[0];
  EXPECT_EQ(visit.entry, 1U);
  EXPECT_EQ(visit.kind, item::FetchKind::kPage);
  EXPECT_EQ(visit.record, record);
  EXPECT_EQ(visit.place, 1U);
  EXPECT_EQ(visit.budget, 25U);
  EXPECT_EQ(visit.outcome, FetchOutcome::kResponse);
  EXPECT_EQ(visit.status, 200);
  EXPECT_TRUE(visit.archived);
  EXPECT_FALSE(visit.retry);
  EXPECT_FALSE(visit.goes_on);
  EXPECT_GT(visit.body_bytes, 100U);

  std::deque<std::string> parents;
  const auto links = LinksOf(visit, &parents);
  ASSERT_EQ(links.size(), 4U);
  EXPECT_EQ(links[0].url, "http://a.test/one");
  EXPECT_EQ(links[0].hop_path, "LLL");
  EXPECT_EQ(links[0].flags, 0U);
  EXPECT_EQ(links[1].url, "http://a.test/two.png");
  EXPECT_EQ(links[1].hop_path, "LLE");
  EXPECT_EQ(links[1].flags, item::kEmbedded);
  EXPECT_EQ(links[2].url, "http://b.test/");
  EXPECT_EQ(links[2].ordinal, 4U);
  EXPECT_EQ(links[3].url, "http://b.test/2");
  EXPECT_EQ(links[3].ordinal, 10U);
  for (const item::UrlRecord& link : links) {
    EXPECT_EQ(link.parent, "http://a.test/");
    EXPECT_EQ(link.depth, 3U);
    EXPECT_EQ(link.entry, 1U);
    EXPECT_EQ(link.discovered, visit.when);
  }
  EXPECT_EQ(visit.edges,
            (std::vector<reputation::DomainPair>{
                {DomainOf("http://a.test/"), DomainOf("http://b.test/")}}));
  EXPECT_EQ(visit.found.links, 6U);
  EXPECT_EQ(visit.found.out, 4U);
  EXPECT_EQ(visit.found.repeated, 1U);
  EXPECT_EQ(visit.found.not_crawled,
            (std::array<uint64_t, 5>{0, 1, 0, 0, 0}));  // its scheme

  const job::Entry entry = EntryOf(1);
  EXPECT_EQ(entry.kind, job::EntryKind::kPage);
  EXPECT_EQ(entry.record, record);
  EXPECT_EQ(entry.budget, 25U);
  EXPECT_EQ(entry.body_bytes, visit.body_bytes);
  EXPECT_EQ(entry.place, 1U);
  EXPECT_EQ(entry.status, 200);
  EXPECT_EQ(entry.attempt, 1U);
  EXPECT_EQ(entry.when, visit.when);
  EXPECT_FALSE(entry.retry);
  EXPECT_GT(entry.host_wait, milliseconds(900));
  EXPECT_LE(entry.host_wait, milliseconds(1001));
  EXPECT_LE(entry.address_wait, milliseconds(100));
  EXPECT_EQ(entry.address[10], 0xFF);
  EXPECT_EQ(entry.address[12], 198);
  ASSERT_TRUE(entry.archive.has_value());
  EXPECT_EQ(entry.archive->serial, 1U);
  EXPECT_GT(entry.archive->offset, 0U);
  EXPECT_GT(entry.archive->size, 0U);
  EXPECT_EQ(Archived(RecordType::kResponse), Texts{"http://a.test/"});
  EXPECT_NE(CrawlLog().find("LL http://parent.test/"), std::string::npos);
}

TEST_F(DownloaderTest, ThePlaceOfTheEntryIsThatOfTheRecords) {
  Start();
  GivePages({"http://a.test/1", "http://b.test/2"});
  ASSERT_TRUE(RunUntilFinished(2));
  MustDo(stores_[0]->Sync());
  const auto records = store::ReadArchive(
      fs_, store::ArchivePaths(fs_, job_ + "/archive0").front());
  for (uint64_t number = 1; number <= 2; ++number) {
    const job::ArchivePlace place = *EntryOf(number).archive;
    std::vector<RecordType> types;
    for (const store::ReadRecord& record : records) {
      if (record.offset >= place.offset &&
          record.offset < place.offset + place.size) {
        types.push_back(record.header.type());
      }
    }
    EXPECT_EQ(types, (std::vector<RecordType>{RecordType::kRequest,
                                              RecordType::kResponse,
                                              RecordType::kMetadata}));
  }
}

TEST_F(DownloaderTest, TheNameIsArchivedTheFirstTime) {
  Start();
  Give(Page("http://a.test/1"));
  ASSERT_TRUE(RunUntilFinished(1));
  Give(Page("http://a.test/2"));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(Archived(RecordType::kResource), Texts{"dns:a.test"});
}

TEST_F(DownloaderTest, ARedirectIsALinkLikeAnyOther) {
  web_.Put("http://a.test/", FakeRedirect("http://www.a.test/new", 301));
  Start();
  Give(Page("http://a.test/", item::kFromSeed));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_EQ(finished_[0].status, 301);
  EXPECT_FALSE(finished_[0].goes_on);
  std::deque<std::string> parents;
  const auto links = LinksOf(finished_[0], &parents);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].url, "http://www.a.test/new");
  EXPECT_EQ(links[0].hop_path, "LLR");
  // The site of a seed is the one that it leads to.
  EXPECT_EQ(links[0].flags, item::kFromRedirect | item::kFromSeed);
  EXPECT_EQ(web_.log().size(), 1U);
}

TEST_F(DownloaderTest, ARedirectToAPortThatBrowsersRefuseIsDropped) {
  web_.Put("http://a.test/", FakeRedirect("http://a.test:25/", 301));
  Start();
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_FALSE(finished_[0].goes_on);
  EXPECT_TRUE(LinkUrlsOf(finished_[0]).empty());
  EXPECT_EQ(finished_[0].found.not_crawled,
            (std::array<uint64_t, 5>{0, 0, 0, 0, 1}));
  EXPECT_EQ(web_.log().size(), 1U);
}

TEST_F(DownloaderTest, LinksOfASeedAreNoSeeds) {
  web_.Put("http://a.test/", FakePage("<a href=/1>1</a>"));
  Start();
  Give(Page("http://a.test/", item::kFromSeed));
  ASSERT_TRUE(RunUntilFinished(1));
  std::deque<std::string> parents;
  EXPECT_EQ(LinksOf(finished_[0], &parents)[0].flags, 0U);
}

TEST_F(DownloaderTest, LinksOfASitemapSaySo) {
  FakeAnswer sitemap = FakeText(
      "<?xml version='1.0'?>"
      "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
      "<url><loc>http://a.test/x</loc></url></urlset>");
  sitemap.fields = {{"Content-Type", "application/xml"}};
  web_.Put("http://a.test/sitemap.xml", sitemap);
  Start();
  Give(Page("http://a.test/sitemap.xml"));
  ASSERT_TRUE(RunUntilFinished(1));
  std::deque<std::string> parents;
  const auto links = LinksOf(finished_[0], &parents);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].flags, item::kFromSitemap);
  EXPECT_EQ(links[0].hop_path, "LLM");
}

TEST_F(DownloaderTest, WhatIsNamedAsASitemapIsReadAsOne) {
  web_.Put("http://a.test/index.xml",
           FakePage("<sitemapindex><sitemap><loc>http://a.test/urls.txt</loc>"
                    "</sitemap></sitemapindex>"));
  web_.Put("http://a.test/urls.txt",
           FakeText("http://a.test/1\nhttp://a.test/2\n"));
  Start();
  Give(Page("http://a.test/index.xml", item::kIsSitemap));
  ASSERT_TRUE(RunUntilFinished(1));
  std::deque<std::string> parents;
  const auto index = LinksOf(finished_[0], &parents);
  ASSERT_EQ(index.size(), 1U);
  EXPECT_EQ(index[0].flags, item::kFromSitemap | item::kIsSitemap);
  Give(Page("http://a.test/urls.txt", index[0].flags));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(LinkUrlsOf(finished_[1]),
            (Texts{"http://a.test/1", "http://a.test/2"}));
  const auto pages = LinksOf(finished_[1], &parents);
  EXPECT_EQ(pages[0].flags, item::kFromSitemap);
}

// As the frontier does, once robots.txt allows it.
TEST_F(DownloaderTest, ARedirectToItsOwnKeyIsFollowedWithALease) {
  web_.Put("http://a.test/x", FakeRedirect("/x?PHPSESSID=5"));
  web_.Put("http://a.test/x?PHPSESSID=5", FakePage("<a href=y>y</a>"));
  Start();
  Give(Page("http://a.test/x"));
  ASSERT_TRUE(RunUntilFinished(1));
  RunFor(seconds(3));
  EXPECT_EQ(web_.log().size(), 1U);
  Give(Followed(finished_[0]));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(web_.Asked(),
            (Texts{"http://a.test/x", "http://a.test/x?PHPSESSID=5"}));
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
  EXPECT_EQ(dispatcher_->stats().leased, 2U);
  EXPECT_TRUE(finished_[0].goes_on);
  EXPECT_TRUE(finished_[0].links.empty());
  EXPECT_EQ(finished_[0].next, "http://a.test/x?PHPSESSID=5");
  EXPECT_TRUE(EntryOf(1).retry);
  EXPECT_TRUE(EntryOf(1).goes_on);
  EXPECT_EQ(EntryOf(1).next, "http://a.test/x?PHPSESSID=5");
  EXPECT_EQ(EntryOf(1).status, 302);
  EXPECT_FALSE(finished_[1].goes_on);
  EXPECT_FALSE(EntryOf(2).retry);
  EXPECT_EQ(LinkUrlsOf(finished_[1]), Texts{"http://a.test/y"});
  EXPECT_EQ(Archived(RecordType::kResponse).size(), 2U);
  EXPECT_NE(CrawlLog().find("LLR http://a.test/x"), std::string::npos);
}

TEST_F(DownloaderTest, ACircleOfOneKeyEndsAfterThreeHops) {
  web_.Put("http://a.test/x", FakeRedirect("http://a.test/x#again"));
  Start();
  Give(Page("http://a.test/x"));
  for (uint32_t hops = 1; hops <= kMostOwnRedirects; ++hops) {
    ASSERT_TRUE(RunUntilFinished(hops));
    Give(Followed(finished_.back()));
  }
  ASSERT_TRUE(RunUntilFinished(4));
  EXPECT_EQ(web_.log().size(), 1U + kMostOwnRedirects);
  ASSERT_EQ(finished_.size(), 4U);
  EXPECT_FALSE(finished_[3].goes_on);
  EXPECT_FALSE(finished_[3].retry);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
}

// An invalid byte becomes nine, and the target of 64 KiB more than a record or
// an entry of the journal can have.
TEST_F(DownloaderTest, ARedirectThatGrowsBeyondAUrlIsNotFollowed) {
  settings_.url.max_length_bytes = 8 << 10;
  const std::string junk(8000, '\xff');
  web_.Put("http://a.test/x", FakeRedirect("/x?PHPSESSID=" + junk));
  Start();
  Give(Page("http://a.test/x"));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_EQ(finished_[0].outcome, FetchOutcome::kResponse);
  EXPECT_EQ(finished_[0].status, 302);
  EXPECT_FALSE(finished_[0].goes_on);
  EXPECT_FALSE(finished_[0].retry);
}

TEST_F(DownloaderTest, APageIsLeftUnreadWhileItsMemoryIsUsedUp) {
  web_.Put("http://a.test/", FakePage("<a href=/1><a href=/2>"));
  Start();
  in_transit_->Take(in_transit_->limit());
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  const FinishedVisit& visit = finished_[0];
  EXPECT_TRUE(visit.unread);
  EXPECT_TRUE(visit.archived);
  ASSERT_TRUE(visit.archive.has_value());
  EXPECT_EQ(*visit.archive, *EntryOf(1).archive);
  EXPECT_TRUE(visit.links.empty());
  EXPECT_EQ(visit.found.links, 0U);
  EXPECT_EQ(in_transit_->used(), in_transit_->limit() + visit.charge.bytes());
}

TEST_F(DownloaderTest, APageWhoseLinksDoNotFitIsLeftUnread) {
  std::string body;
  for (int i = 0; i < 2000; ++i) {
    body.append("<a href=/" + std::string(500, 'x') + std::to_string(i) + ">");
  }
  web_.Put("http://a.test/", FakePage(body));
  Start();
  in_transit_->Take(in_transit_->limit() - 200'000);
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_TRUE(finished_[0].unread);
  EXPECT_TRUE(finished_[0].links.empty());
  EXPECT_TRUE(finished_[0].edges.empty());
  finished_.clear();
  EXPECT_EQ(in_transit_->used(), in_transit_->limit() - 200'000);
}

TEST_F(DownloaderTest, LinksBehindTheLimitOfOnePageAreDroppedAndCounted) {
  max_links_bytes_ = 4096;
  std::string body;
  for (int i = 0; i < 100; ++i) {
    body.append("<a href=/" + std::string(400, 'x') + std::to_string(i) + ">");
  }
  web_.Put("http://a.test/", FakePage(body));
  Start();
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  // Each counts as its URL of 416 or 417 bytes and 64.
  EXPECT_EQ(LinkUrlsOf(finished_[0]).size(), 8U);
  EXPECT_EQ(finished_[0].found.out, 8U);
  EXPECT_EQ(finished_[0].found.over_limit, 92U);
  Accounts accounts;
  accounts.CountFound(finished_[0].found);
  EXPECT_EQ(accounts.url.Totals().dropped.back(), 92U);
  EXPECT_EQ(kUrlDropNames.back(), "page-limit");
}

TEST_F(DownloaderTest, RobotsTxtIsWalkedHopByHopWithLeases) {
  web_.PutHost("a.test", {net::IpAddress::V4(192, 0, 2, 1)});
  web_.PutHost("b.test", {net::IpAddress::V4(192, 0, 2, 1)});
  web_.Put("http://a.test/robots.txt",
           FakeRedirect("http://b.test/robots.txt", 301));
  web_.Put("http://b.test/robots.txt", FakeRedirect("https://b.test/r.txt"));
  web_.Put("https://b.test/r.txt",
           FakeText("User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"
                    "Sitemap: http://a.test/map.xml\n"
                    "Sitemap: mailto:x@a.test\n"
                    "Sitemap: /map.xml\nSitemap: http://b.test/map.gz\n"));
  Start();
  // As the frontier does, by way of the records of hosts.
  Give(Robots("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_EQ(finished_[0].next, "http://b.test/robots.txt");
  Give(Robots("http://b.test/"));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(finished_[1].next, "https://b.test/r.txt");
  Give(RobotsTarget("https://b.test/", "https://b.test/r.txt"));
  ASSERT_TRUE(RunUntilFinished(3));
  EXPECT_EQ(web_.Asked(),
            (Texts{"http://a.test/robots.txt", "http://b.test/robots.txt",
                   "https://b.test/r.txt"}));
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
  EXPECT_EQ(dispatcher_->stats().leased, 3U);
  for (uint64_t number = 1; number <= 3; ++number) {
    const FinishedVisit& visit = finished_[number - 1];
    EXPECT_EQ(visit.entry, number);
    EXPECT_EQ(visit.kind, item::FetchKind::kRobots);
    EXPECT_EQ(visit.goes_on, number < 3);
    const job::Entry entry = EntryOf(number);
    EXPECT_EQ(entry.kind, job::EntryKind::kRobots);
    EXPECT_EQ(entry.retry, number < 3);
    EXPECT_EQ(entry.goes_on, number < 3);
    EXPECT_TRUE(entry.archive.has_value());
    EXPECT_EQ(entry.body_bytes, visit.body_bytes);
  }
  const FinishedVisit& last = finished_[2];
  EXPECT_EQ(last.robots_end, RobotsFetchEnd::kAnswer);
  EXPECT_EQ(last.robots_status, 200);
  EXPECT_EQ(last.robots_delay, seconds(7));
  std::deque<std::string> parents;
  const auto sitemaps = LinksOf(last, &parents);
  ASSERT_EQ(sitemaps.size(), 3U);
  EXPECT_EQ(sitemaps[0].url, "http://a.test/map.xml");
  EXPECT_EQ(sitemaps[0].parent, "https://b.test/r.txt");
  EXPECT_EQ(sitemaps[0].flags, item::kFromSitemap | item::kIsSitemap);
  EXPECT_EQ(sitemaps[0].hop_path, "LLM");
  EXPECT_EQ(sitemaps[0].entry, 3U);
  EXPECT_EQ(sitemaps[1].url, "https://b.test/map.xml");
  EXPECT_EQ(sitemaps[2].url, "http://b.test/map.gz");
  EXPECT_EQ(sitemaps[2].ordinal, 3U);
  EXPECT_EQ(last.found.links, 4U);
  EXPECT_EQ(last.found.repeated, 0U);
  EXPECT_EQ(last.found.not_crawled, (std::array<uint64_t, 5>{0, 1, 0, 0, 0}));
  EXPECT_EQ(last.found.out, 3U);
  const auto rules = robots::Rules::Open(last.rules);
  ASSERT_TRUE(rules.has_value());
  EXPECT_FALSE(robots::Matcher(*rules).Match("/private/x").allowed);
  EXPECT_TRUE(robots::Matcher(*rules).Match("/x").allowed);
  const job::Entry entry = EntryOf(3);
  EXPECT_EQ(entry.rules, last.rules);
  EXPECT_EQ(entry.crawl_delay, seconds(7));
  EXPECT_EQ(entry.robots_status, 200);
}

TEST_F(DownloaderTest, HowRobotsTxtEndedIsSaidWhereThereIsNone) {
  web_.Put("http://b.test/robots.txt",
           FakeFailure(FetchOutcome::kConnectFailed));
  web_.FailName("c.test", {dns::Outcome::kNoSuchName});
  web_.Put("http://d.test/robots.txt", FakeError(503));
  Start();
  for (const char* host : {"a", "b", "c", "d"}) {
    Give(Robots("http://" + std::string(host) + ".test/"));
  }
  ASSERT_TRUE(RunUntilFinished(4));
  std::sort(finished_.begin(), finished_.end(),
            [](const FinishedVisit& a, const FinishedVisit& b) {
              return a.record < b.record;
            });
  EXPECT_EQ(finished_[0].robots_end, RobotsFetchEnd::kAnswer);
  EXPECT_EQ(finished_[0].robots_status, 404);
  EXPECT_EQ(finished_[1].robots_end, RobotsFetchEnd::kNetwork);
  EXPECT_EQ(finished_[2].robots_end, RobotsFetchEnd::kNetwork);
  EXPECT_EQ(finished_[2].outcome, FetchOutcome::kNoSuchHost);
  EXPECT_EQ(finished_[3].robots_status, 503);
  for (const FinishedVisit& visit : finished_) {
    EXPECT_TRUE(visit.rules.empty());
    EXPECT_FALSE(visit.retry);
    EXPECT_FALSE(EntryOf(visit.entry).retry);
    EXPECT_EQ(EntryOf(visit.entry).robots_end, visit.robots_end);
  }
}

TEST_F(DownloaderTest, AHopOfRobotsTxtToANameThatIsNotThereEndsTheWalk) {
  web_.Put("http://a.test/robots.txt",
           FakeRedirect("http://gone.test/robots.txt"));
  web_.FailName("gone.test", {dns::Outcome::kNoSuchName});
  Start();
  Give(Robots("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_TRUE(finished_[0].goes_on);
  Give(Robots("http://gone.test/"));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_FALSE(finished_[1].goes_on);
  EXPECT_EQ(finished_[1].robots_end, RobotsFetchEnd::kNetwork);
}

TEST_F(DownloaderTest, ALongRobotsTxtIsReadToItsBound) {
  FakeAnswer robots = FakeText("");
  robots.body = "User-agent: *\n";
  for (int i = 0; i < 40'000; ++i) {
    robots.body += "Disallow: /" + std::to_string(i) + "/\n";
  }
  web_.Put("http://a.test/robots.txt", robots);
  Start();
  Give(Robots("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  const auto rules = robots::Rules::Open(finished_[0].rules);
  ASSERT_TRUE(rules.has_value());
  EXPECT_FALSE(robots::Matcher(*rules).Match("/17/x").allowed);
}

TEST_F(DownloaderTest, AConnectionThatWasGoneIsNoAttempt) {
  Start();
  GivePages({"http://a.test/1", "http://a.test/2"});
  web_.CloseKept("a.test");
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(web_.Asked(),
            (Texts{"http://a.test/1", "http://a.test/2", "http://a.test/2"}));
  EXPECT_TRUE(web_.log()[1].reused);
  EXPECT_FALSE(web_.log()[2].reused);
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
  EXPECT_EQ(journal_->next(), 3U);
  EXPECT_EQ(finished_[1].outcome, FetchOutcome::kResponse);
  EXPECT_EQ(finished_[1].attempt, 1U);
  EXPECT_EQ(EntryOf(2).host_failures, 0U);
}

TEST_F(DownloaderTest, ARetryAfterHoldsForTheWholeHost) {
  FakeAnswer busy = FakeError(503);
  busy.fields.emplace_back("Retry-After", "120");
  web_.Put("http://a.test/1", busy);
  Start();
  GivePages({"http://a.test/1", "http://a.test/2"});
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_TRUE(finished_[0].retry);
  EXPECT_EQ(finished_[0].next_attempt, 2U);
  EXPECT_GE(finished_[0].url_wait, seconds(120));
  const job::Entry entry = EntryOf(1);
  EXPECT_TRUE(entry.retry);
  EXPECT_GE(entry.host_wait, seconds(119));
  EXPECT_EQ(entry.host_overloads, 1U);
  EXPECT_GE(entry.url_wait, seconds(120));
  ASSERT_TRUE(RunUntilFinished(2));
  const auto log = web_.log();
  EXPECT_GE(log[1].begin, log[0].end + seconds(120));
}

TEST_F(DownloaderTest, AttemptsAreUsedUp) {
  settings_.fetch.retry_attempts = 3;
  web_.Put("http://a.test/1", FakeFailure(FetchOutcome::kTimeout));
  web_.Put("http://b.test/1", FakeError(500));
  Start();
  for (const char* url : {"http://a.test/1", "http://b.test/1"}) {
    VisitPtr page = Page(url);
    page->attempt = 3;
    Give(std::move(page));
  }
  ASSERT_TRUE(RunUntilFinished(2));
  for (const FinishedVisit& visit : finished_) {
    EXPECT_FALSE(visit.retry);
    EXPECT_FALSE(EntryOf(visit.entry).retry);
    EXPECT_EQ(EntryOf(visit.entry).attempt, 3U);
  }
  const std::string log = CrawlLog();
  EXPECT_NE(log.find("3t,timeout,too-many-retries"), std::string::npos) << log;
  EXPECT_NE(log.find("3t,too-many-retries"), std::string::npos) << log;
  // The answer is archived all the same.
  EXPECT_EQ(Archived(RecordType::kResponse), Texts{"http://b.test/1"});
}

TEST_F(DownloaderTest, ACancelledTransferGoesBackAndNothingIsWritten) {
  FakeAnswer slow = FakePage("");
  slow.takes = seconds(30);
  web_.Put("http://a.test/", {slow, FakePage("")});
  Start();
  Give(Page("http://a.test/"));
  RunFor(seconds(1));
  EXPECT_EQ(downloaders_[0]->in_flight(), 1U);
  dispatcher_->Pause();
  downloaders_[0]->CancelAll();
  RunFor(seconds(1));
  EXPECT_EQ(downloaders_[0]->in_flight(), 0U);
  EXPECT_EQ(dispatcher_->in_flight(), 0U);
  EXPECT_EQ(dispatcher_->waiting(), 1U);
  EXPECT_EQ(journal_->next(), 1U);
  EXPECT_TRUE(finished_.empty());
  EXPECT_EQ(CrawlLog(), "");
  dispatcher_->Resume();
  ASSERT_TRUE(RunUntilFinished(1));
  EXPECT_EQ(finished_[0].attempt, 1U);
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
}

TEST_F(DownloaderTest, WhatIsHandedOverIsInArchiveAndJournal) {
  web_.Put("http://a.test/1", FakePage("<a href=/2>2</a>"));
  Start();
  size_t seen = 0;
  on_finished_ = [&](const FinishedVisit& visit) {
    ++seen;
    EXPECT_EQ(journal_->next(), visit.entry + 1);
    EXPECT_EQ(Archived(RecordType::kResponse).size(), seen);
  };
  GivePages({"http://a.test/1", "http://a.test/3"});
  ASSERT_TRUE(RunUntilFinished(2));
}

TEST_F(DownloaderTest, WithoutSpaceNothingHasHappenedAndItIsDoneLater) {
  web_.Put("http://a.test/1", FakePage("<a href=/2>2</a>"));
  web_.Put("http://a.test/robots.txt", FakeText("User-agent: *\nAllow: /\n"));
  Start();
  fs_.SetCapacity(0);
  Give(Page("http://a.test/1"));
  Give(Page("http://b.test/1"));
  Give(Robots("http://a.test/"));
  RunFor(seconds(10));
  EXPECT_TRUE(finished_.empty());
  ASSERT_EQ(errors_.size(), 1U);  // said once
  EXPECT_EQ(errors_[0].code, ErrorCode::kNoSpace);
  EXPECT_EQ(downloaders_[0]->in_flight(), 3U);
  EXPECT_EQ(dispatcher_->in_flight(), 0U);
  downloaders_[0]->TryAgain();
  EXPECT_EQ(errors_.size(), 2U);
  EXPECT_EQ(downloaders_[0]->in_flight(), 3U);
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
  downloaders_[0]->TryAgain();
  ASSERT_EQ(finished_.size(), 3U);
  EXPECT_EQ(errors_.size(), 2U);
  EXPECT_EQ(downloaders_[0]->in_flight(), 0U);
  EXPECT_EQ(web_.log().size(), 3U);
  EXPECT_EQ(Archived(RecordType::kResponse).size(), 3U);
  EXPECT_EQ(journal_->next(), 4U);
}

}  // namespace
}  // namespace nephila::crawl
