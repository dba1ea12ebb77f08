// What is found where: traps, farms, mirrors, soft 404s.

#include "sim/site.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>

#include "sim/spaces.h"

namespace nephila::sim {
namespace {

Site MakeSite(const std::string& rules) {
  auto scenario = ParseScenario("[web]\nhosts = 1000\n" + rules, "s");
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return *Site::Make(*std::move(scenario));
}

Request Get(std::string_view target, std::string host) {
  Request request;
  request.method = "GET";
  request.target = target;
  request.host = std::move(host);
  return request;
}

std::string HostOf(const Site& site, uint64_t pld) {
  std::string host;
  site.web().AppendHostName({pld, 0}, &host);
  return host;
}

std::string BodyOf(const Site& site, const Request& request, int status = 200) {
  std::string body;
  EXPECT_EQ(site.Find(request, &body).status, status) << request.target;
  return body;
}

std::set<std::string> LinksOf(const std::string& body) {
  std::set<std::string> links;
  size_t at = 0;
  while ((at = body.find("href=\"", at)) != std::string::npos) {
    at += 6;
    links.insert(body.substr(at, body.find('"', at) - at));
  }
  return links;
}

TEST(SiteTest, ServesTheWebAndNothingElse) {
  const Site site = MakeSite("");
  const std::string host = HostOf(site, 3);
  EXPECT_EQ(site.FindHost(host).kind, HostKind::kWeb);
  BodyOf(site, Get("/", host));
  BodyOf(site, Get("/nothing", host), 404);
  BodyOf(site, Get("/", "www.example.com"), 404);
  EXPECT_EQ(site.FindHost("www.example.com").kind, HostKind::kNone);
}

TEST(SiteTest, HasRobotsOnMostHosts) {
  const Site site = MakeSite("");
  int with = 0;
  for (uint64_t pld = 0; pld < 200; ++pld) {
    std::string body;
    if (site.Find(Get("/robots.txt", HostOf(site, pld)), &body).status == 200) {
      ++with;
      EXPECT_NE(body.find("User-agent: *\nDisallow: /private/\n"),
                std::string::npos);
    }
  }
  EXPECT_NEAR(with, 140, 30);
}

TEST(SiteTest, LeadsIntoACalendarWithoutEnd) {
  const Site site = MakeSite("[[rule]]\nbehaviour = \"calendar\"\n");
  const std::string host = HostOf(site, 1);
  EXPECT_TRUE(
      LinksOf(BodyOf(site, Get("/", host))).contains("/calendar/2026/1"));
  std::string next = "/calendar/2026/1";
  for (int month = 0; month < 50; ++month) {
    const auto links = LinksOf(BodyOf(site, Get(next, host)));
    EXPECT_EQ(links.size(), 30U);
    const int number = 2026 * 12 + month + 1;
    next = "/calendar/" + std::to_string(number / 12) + "/" +
           std::to_string(number % 12 + 1);
    ASSERT_TRUE(links.contains(next)) << next;
  }
  BodyOf(site, Get("/calendar/2026/13", host), 404);
  BodyOf(site, Get("/calendar/x", host), 404);
  EXPECT_TRUE(LinksOf(BodyOf(site, Get("/calendar/2026/1", host)))
                  .contains("/calendar/2025/12"));
}

TEST(SiteTest, GrowsPathsWithoutEnd) {
  const Site site = MakeSite("[[rule]]\nbehaviour = \"growing-path\"\n");
  const std::string host = HostOf(site, 1);
  EXPECT_TRUE(LinksOf(BodyOf(site, Get("/", host))).contains("/grow/"));
  std::string path = "/grow/";
  std::set<std::string> bodies;
  for (int i = 0; i < 20; ++i) {
    const std::string body = BodyOf(site, Get(path, host));
    EXPECT_TRUE(LinksOf(body).contains("more/"));
    EXPECT_TRUE(bodies.insert(body).second);  // each looks new
    path += "more/";
  }
}

TEST(SiteTest, ShowsOnePageForEveryOrderOfFolders) {
  const Site site = MakeSite("[[rule]]\nbehaviour = \"reorder\"\ncount = 4\n");
  const std::string host = HostOf(site, 1);
  EXPECT_TRUE(LinksOf(BodyOf(site, Get("/", host))).contains("/reorder/"));
  std::set<std::string> seen;
  std::deque<std::string> queue = {"/reorder/a/b/c/d/"};
  std::string text;
  while (!queue.empty()) {
    const std::string path = queue.front();
    queue.pop_front();
    if (!seen.insert(path).second) continue;
    std::string body;
    const Found found = site.Find(Get(path, host), &body);
    ASSERT_EQ(found.status, 200) << path;
    const std::string rest = body.substr(body.find("<div"));
    if (text.empty()) text = rest;
    for (const std::string& link : LinksOf(body)) queue.push_back(link);
  }
  EXPECT_EQ(seen.size(), 24U);
  BodyOf(site, Get("/reorder/a/a/b/c/", host), 404);
  BodyOf(site, Get("/reorder/a/b/c/", host), 404);
}

TEST(SiteTest, PutsSessionsIntoLinksOfThoseWithoutCookies) {
  const Site site = MakeSite("[[rule]]\nbehaviour = \"session-ids\"\n");
  const std::string host = HostOf(site, 1);
  Request request = Get("/", host);
  std::string body;
  const Found first = site.Find(request, &body);
  EXPECT_TRUE(first.session);
  size_t with_session = 0;
  std::string inside;
  for (const std::string& link : LinksOf(body)) {
    if (link.find("sid=") == std::string::npos) continue;
    ++with_session;
    inside = link;
  }
  ASSERT_GT(with_session, 0U);
  // The same page at another address, whose links keep the session.
  for (size_t at; (at = inside.find("&amp;")) != std::string::npos;) {
    inside.replace(at, 5, "&");
  }
  std::string_view id;
  EXPECT_NE(WithoutSession(inside, &id), inside);
  EXPECT_EQ(id.size(), 16U);
  EXPECT_NE(BodyOf(site, Get(inside, host)).find(id), std::string::npos);
  request.has_cookie = true;
  EXPECT_EQ(BodyOf(site, request).find("sid="), std::string::npos);
}

TEST(SiteTest, MirrorsAHost) {
  const Site plain = MakeSite("");
  const std::string host = HostOf(plain, 5);
  const Site site = MakeSite(
      "[[rule]]\nhost = \"*.mirror.example\"\nbehaviour = \"mirror\"\nof = \"" +
      host + "\"\n");
  EXPECT_EQ(site.FindHost("a.mirror.example").kind, HostKind::kNamed);
  EXPECT_EQ(BodyOf(site, Get("/", "a.mirror.example")),
            BodyOf(site, Get("/", host)));
  BodyOf(site, Get("/nothing", "a.mirror.example"), 404);
}

TEST(SiteTest, FindsEverythingWhereNothingIs) {
  const Site site = MakeSite("[[rule]]\nbehaviour = \"soft-404\"\n");
  const std::string host = HostOf(site, 1);
  EXPECT_NE(BodyOf(site, Get("/nothing", host)),
            BodyOf(site, Get("/nowhere", host)));
}

constexpr const char* kFarm = R"(
[[rule]]
behaviour = "link-farm"
name = "spam"
plds = 100000
hosts = 1000
count = 40
entry = 100
)";

TEST(SiteTest, HasFarmsThatLinkOnlyToThemselves) {
  const Site site = MakeSite(kFarm);
  std::deque<std::string> queue;
  int entries = 0;
  for (uint64_t pld = 0; pld < 287; ++pld) {
    for (const std::string& link :
         LinksOf(BodyOf(site, Get("/", HostOf(site, pld))))) {
      if (link.find(".spam") == std::string::npos) continue;
      ++entries;
      queue.push_back(link);
    }
  }
  EXPECT_NEAR(entries, 29, 20);
  std::set<std::string> hosts;
  for (int i = 0; i < 300; ++i) {
    const std::string url = queue.front().substr(7);
    queue.pop_front();
    const std::string host = url.substr(0, url.find('/'));
    hosts.insert(host);
    ASSERT_EQ(site.FindHost(host).kind, HostKind::kFarm) << host;
    const auto links =
        LinksOf(BodyOf(site, Get(url.substr(url.find('/')), host)));
    EXPECT_EQ(links.size(), 40U);
    queue.insert(queue.end(), links.begin(), links.end());
  }
  EXPECT_GT(hosts.size(), 290U);
}

TEST(SiteTest, BoundsAFarm) {
  const Site site = MakeSite(kFarm);
  std::string host;
  for (uint64_t pld = 0; host.empty(); ++pld) {
    for (const std::string& link :
         LinksOf(BodyOf(site, Get("/", HostOf(site, pld))))) {
      if (link.find(".spam") == std::string::npos) continue;
      host = link.substr(7, link.find('/', 7) - 7);
    }
  }
  EXPECT_EQ(site.FindHost(host).kind, HostKind::kFarm) << host;
  BodyOf(site, Get("/p999", host));
  BodyOf(site, Get("/p1000", host), 404);
  BodyOf(site, Get("/p01", host), 404);
  EXPECT_EQ(site.FindHost("h1000" + host.substr(host.find('.'))).kind,
            HostKind::kNone);
  EXPECT_EQ(site.FindHost("h0.spam100000.com").kind, HostKind::kNone);
  EXPECT_EQ(site.FindHost("h1.spam5").kind, HostKind::kNone);
  EXPECT_EQ(site.FindHost("h1.spam5.").kind, HostKind::kNone);
}

TEST(SiteTest, ASmallSiteHasAsManyPagesAsItsRuleSays) {
  const Site site = MakeSite(
      "[[rule]]\nhost = \"good*.example\"\nbehaviour = \"small-site\"\n"
      "count = 4\n");
  const auto links = LinksOf(BodyOf(site, Get("/", "good3.example")));
  EXPECT_EQ(links, (std::set<std::string>{"/", "/1", "/2", "/3"}));
  EXPECT_EQ(LinksOf(BodyOf(site, Get("/3", "good3.example"))),
            std::set<std::string>{"/"});
  BodyOf(site, Get("/4", "good3.example"), 404);
  BodyOf(site, Get("/0", "good3.example"), 404);
}

TEST(SiteTest, GivesEveryHostAnAddress) {
  const Site site =
      MakeSite("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"\n");
  for (const std::string& name : {std::string("t.example"), HostOf(site, 9)}) {
    const AddressList list = site.AddressesOf(site.FindHost(name), name);
    ASSERT_GE(list.size, 1U);
    EXPECT_EQ(list.items[0] >> 24, 127U);
  }
}

}  // namespace
}  // namespace nephila::sim
