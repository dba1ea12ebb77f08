#include "sim/web.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "url/count_allocations.h"
#include "url/public_suffix.h"

namespace nephila::sim {
namespace {

Web MakeWeb(int64_t hosts = 100'000, int64_t seed = 1) {
  Shape shape;
  shape.hosts = hosts;
  shape.seed = seed;
  return *Web::Make(shape);
}

std::string UrlOf(const Web& web, PageId page) {
  std::string url;
  web.AppendUrl(page, &url);
  return url;
}

std::string PageOf(const Web& web, PageId page) {
  std::string text;
  web.AppendPage(page, "", &text);
  return text;
}

PageId AnyPage(const Web& web, Draw* draw) {
  const uint64_t pld = draw->Below(web.pld_count());
  const HostId host{pld, draw->Below(web.HostsOf(pld))};
  return {host, draw->Below(web.PagesOf(host))};
}

TEST(WebTest, FindsEveryHostAndPageByItsName) {
  const Web web = MakeWeb();
  Draw draw(1);
  for (int i = 0; i < 20'000; ++i) {
    const PageId page = AnyPage(web, &draw);
    std::string host;
    web.AppendHostName(page.host, &host);
    std::string path;
    web.AppendPath(page, &path);
    ASSERT_EQ(web.FindHost(host), page.host) << host;
    ASSERT_EQ(web.FindPage(page.host, path), page) << path;
  }
}

TEST(WebTest, KnowsNoOtherNames) {
  const Web web = MakeWeb();
  std::string name;
  web.AppendHostName({7, 0}, &name);
  for (const std::string& other :
       {"x" + name, name + "x", name.substr(1), std::string(""),
        std::string("com"), std::string("www.example.com"),
        std::string("www.a99999999999999999999999.com"),
        std::string(300, 'a') + ".com"}) {
    EXPECT_FALSE(web.FindHost(other)) << other;
  }
  const HostId host{7, 0};
  std::string path;
  web.AppendPath({host, 1}, &path);
  for (const std::string& other :
       {path + "x", "/x" + path, std::string(""), std::string("/0"),
        std::string("/a/b-99999999999999999999.html"), path + "/"}) {
    EXPECT_FALSE(web.FindPage(host, other)) << other;
  }
  EXPECT_FALSE(web.FindHost("www." + name));
}

// A host or a page beyond the number that there are has a name, but is not.
TEST(WebTest, HasAsManyHostsAndPagesAsItSays) {
  const Web web = MakeWeb();
  for (uint64_t pld = 0; pld < 1000; ++pld) {
    std::string name;
    web.AppendHostName({pld, web.HostsOf(pld)}, &name);
    EXPECT_FALSE(web.FindHost(name)) << name;
    const HostId host{pld, 0};
    std::string path;
    web.AppendPath({host, web.PagesOf(host)}, &path);
    EXPECT_FALSE(web.FindPage(host, path)) << path;
  }
}

TEST(WebTest, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const PageId page{{12, 0}, 0};
  EXPECT_EQ(PageOf(MakeWeb(), page), PageOf(MakeWeb(), page));
  EXPECT_NE(PageOf(MakeWeb(), page), PageOf(MakeWeb(100'000, 2), page));
}

// Another value is another web for every scenario that was ever written.
TEST(WebTest, KeepsItsNames) {
  const Web web = MakeWeb();
  EXPECT_EQ(UrlOf(web, {{12, 0}, 0}), "http://www.mouthestbiceack12.com/");
  EXPECT_EQ(UrlOf(web, {{3, 1}, 5}), "http://brodundvuck3.app/label.php?id=5");
}

TEST(WebTest, WritesTheLinksThatItLists) {
  const Web web = MakeWeb();
  Draw draw(2);
  for (int i = 0; i < 200; ++i) {
    const PageId page = AnyPage(web, &draw);
    std::vector<WebLink> links;
    web.AppendLinks(page, &links);
    const std::string text = PageOf(web, page);
    size_t at = 0;
    for (const WebLink& link : links) {
      std::string href;
      if (link.to.host == page.host) {
        web.AppendPath(link.to, &href);
      } else {
        web.AppendUrl(link.to, &href);
      }
      at = text.find("href=\"" + href + "\"", at);
      ASSERT_NE(at, std::string::npos) << href;
      ++at;
    }
    EXPECT_EQ(text.find("href=", at), std::string::npos);
    EXPECT_EQ(web.FactsOf(page).links, links.size());
  }
}

TEST(WebTest, LinksOnlyToPagesThatAre) {
  const Web web = MakeWeb();
  Draw draw(3);
  for (int i = 0; i < 500; ++i) {
    std::vector<WebLink> links;
    web.AppendLinks(AnyPage(web, &draw), &links);
    for (const WebLink& link : links) {
      ASSERT_LT(link.to.host.pld, web.pld_count());
      ASSERT_LT(link.to.host.host, web.HostsOf(link.to.host.pld));
      ASSERT_LT(link.to.page, web.PagesOf(link.to.host));
    }
  }
}

TEST(WebTest, ReachesEveryPageOfASiteFromItsHome) {
  const Web web = MakeWeb();
  for (uint64_t pld = 0; pld < 40; ++pld) {
    const HostId host{pld, 0};
    const uint64_t pages = std::min<uint64_t>(web.PagesOf(host), 3000);
    std::set<uint64_t> seen = {0};
    for (uint64_t page = 0; page < pages; ++page) {
      ASSERT_TRUE(seen.contains(page)) << page << " of " << pages;
      std::vector<WebLink> links;
      web.AppendLinks({host, page}, &links);
      for (const WebLink& link : links) {
        if (link.to.host == host) seen.insert(link.to.page);
      }
    }
  }
}

TEST(WebTest, NamesItsDomainsByThePublicSuffixList) {
  const Web web = MakeWeb(1'000'000);
  const auto list = url::PublicSuffixList::BuiltIn();
  std::set<std::string> suffixes;
  size_t labels[4] = {};
  for (uint64_t pld = 0; pld < 20'000; ++pld) {
    std::string domain;
    web.AppendPldName(pld, &domain);
    std::string host;
    web.AppendHostName({pld, 0}, &host);
    ASSERT_EQ(
        list.RegistrableDomain(host, url::PublicSuffixList::Rules::kIcann),
        domain);
    const std::string suffix = domain.substr(domain.find('.') + 1);
    if (suffixes.insert(suffix).second) {
      ++labels[std::min<size_t>(
          3, 1 + static_cast<size_t>(
                     std::count(suffix.begin(), suffix.end(), '.')))];
    }
  }
  EXPECT_GT(suffixes.size(), 60U);
  EXPECT_GT(labels[1], 20U);
  EXPECT_GT(labels[2], 20U);
  EXPECT_GE(labels[3], 2U);
}

TEST(WebTest, HasHundredsOfMillionsOfPagesAtNoCost) {
  const Web web = MakeWeb(1'000'000'000);
  Draw draw(4);
  for (int i = 0; i < 100; ++i) {
    const PageId page = AnyPage(web, &draw);
    std::string host;
    web.AppendHostName(page.host, &host);
    EXPECT_EQ(web.FindHost(host), page.host);
  }
}

TEST(WebTest, MakesAPageWithoutAllocating) {
  const Web web = MakeWeb();
  Draw draw(5);
  std::string buffer;
  buffer.reserve(size_t{1} << 20);
  std::vector<PageId> pages;
  for (int i = 0; i < 100; ++i) pages.push_back(AnyPage(web, &draw));
  const size_t before = url::AllocationCount();
  for (const PageId& page : pages) {
    buffer.clear();
    web.AppendPage(page, "", &buffer);
  }
  EXPECT_EQ(url::AllocationCount(), before);
}

TEST(WebTest, WritesThePortUnlessItIsTheDefault) {
  Shape shape;
  shape.port = 8080;
  const Web web = *Web::Make(shape);
  EXPECT_NE(UrlOf(web, {{1, 0}, 0}).find(":8080/"), std::string::npos);
  shape.port = 80;
  EXPECT_EQ(UrlOf(*Web::Make(shape), {{1, 0}, 0}).find(":80"),
            std::string::npos);
}

TEST(WebTest, RefusesShapesThatCannotBe) {
  auto error = [](auto change) {
    Shape shape;
    change(shape);
    const auto web = Web::Make(shape);
    return web ? std::string("none") : web.error().message;
  };
  EXPECT_EQ(error([](Shape& s) { s.plds = s.hosts + 1; }),
            "web.plds: more domains than hosts");
  EXPECT_EQ(error([](Shape& s) { s.largest_page = 2000; }),
            "web.largest_page: below web.page_bytes");
  EXPECT_EQ(error([](Shape& s) { s.largest_site = 1; }),
            "web.largest_site: below web.pages_per_host");
  EXPECT_EQ(error([](Shape& s) { s.first_address = "10.0.0.1"; }),
            "web.first_address: the addresses are not all within 127.0.0.0/8");
  EXPECT_EQ(error([](Shape& s) { s.first_address = "x"; }),
            "web.first_address: 'x' is no IPv4 address such as 127.1.0.1");
}

}  // namespace
}  // namespace nephila::sim
