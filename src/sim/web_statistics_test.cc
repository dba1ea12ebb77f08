// The simulated web, measured: what the papers report of the real one.

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "sim/gzip.h"
#include "sim/web.h"

namespace nephila::sim {
namespace {

Web MakeWeb(int64_t hosts) {
  Shape shape;
  shape.hosts = hosts;
  return *Web::Make(shape);
}

PageId AnyPage(const Web& web, Draw* draw) {
  const uint64_t pld = draw->Below(web.pld_count());
  const HostId host{pld, draw->Below(web.HostsOf(pld))};
  return {host, draw->Below(web.PagesOf(host))};
}

double ZlibRatio(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 6);
  return static_cast<double>(size) / static_cast<double>(text.size());
}

TEST(WebStatisticsTest, HasPagesOf21KilobytesWith59Links) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(1);
  constexpr int kPages = 20'000;
  double bytes = 0;
  double links = 0;
  for (int i = 0; i < kPages; ++i) {
    const PageFacts facts = web.FactsOf(AnyPage(web, &draw));
    bytes += static_cast<double>(facts.bytes);
    links += static_cast<double>(facts.links);
  }
  EXPECT_NEAR(bytes / kPages, 21'500, 1000);
  EXPECT_NEAR(links / kPages, 59, 3);
}

TEST(WebStatisticsTest, WritesPagesOfTheSizeThatTheyHave) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(2);
  double stated = 0;
  double written = 0;
  std::string page;
  for (int i = 0; i < 500; ++i) {
    const PageId id = AnyPage(web, &draw);
    page.clear();
    web.AppendPage(id, "", &page);
    stated += static_cast<double>(web.FactsOf(id).bytes);
    written += static_cast<double>(page.size());
    ASSERT_NEAR(static_cast<double>(page.size()),
                static_cast<double>(web.FactsOf(id).bytes), 1500);
  }
  EXPECT_NEAR(written / stated, 1, 0.01);
}

TEST(WebStatisticsTest, LinksMostlyInsideAndToHomePagesOutside) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(3);
  std::map<LinkKind, double> kinds;
  double all = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<WebLink> links;
    web.AppendLinks(AnyPage(web, &draw), &links);
    for (const WebLink& link : links) ++kinds[link.kind];
    all += static_cast<double>(links.size());
  }
  const double away = kinds[LinkKind::kHome] + kinds[LinkKind::kDeep];
  EXPECT_NEAR(1 - away / all, 0.85, 0.02);
  EXPECT_NEAR(kinds[LinkKind::kDeep] / away, 0.295, 0.02);
}

// A broad crawl, breadth-first from one page, of a web that it cannot exhaust:
// how many URLs each page adds to those known.
TEST(WebStatisticsTest, BringsNewUrls) {
  const Web web = MakeWeb(5'000'000);
  std::unordered_set<std::string> known;
  std::deque<PageId> queue = {PageId{{0, 0}, 0}};
  std::vector<WebLink> links;
  std::string url;
  constexpr int kPages = 20'000;
  for (int i = 0; i < kPages; ++i) {
    ASSERT_FALSE(queue.empty());
    links.clear();
    web.AppendLinks(queue.front(), &links);
    queue.pop_front();
    for (const WebLink& link : links) {
      url.clear();
      web.AppendUrl(link.to, &url);
      if (known.insert(url).second) queue.push_back(link.to);
    }
  }
  EXPECT_NEAR(static_cast<double>(known.size()) / kPages, 6.5, 0.7);
}

TEST(WebStatisticsTest, PacksLikeRealPages) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(5);
  std::string page;
  double ratios = 0;
  int pages = 0;
  for (int i = 0; i < 300; ++i) {
    const PageId id = AnyPage(web, &draw);
    if (web.FactsOf(id).gzip) continue;
    page.clear();
    web.AppendPage(id, "", &page);
    ratios += ZlibRatio(page);
    ++pages;
  }
  EXPECT_GT(ratios / pages, 0.22);
  EXPECT_LT(ratios / pages, 0.28);
}

TEST(WebStatisticsTest, SendsASixthAsGzipOfAFifth) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(6);
  Gzip gzip;
  std::string page;
  std::string packed;
  double plain_bytes = 0;
  double packed_bytes = 0;
  int gzipped = 0;
  constexpr int kPages = 3000;
  for (int i = 0; i < kPages; ++i) {
    const PageId id = AnyPage(web, &draw);
    if (!web.FactsOf(id).gzip) continue;
    ++gzipped;
    page.clear();
    packed.clear();
    web.AppendPage(id, "", &page);
    gzip.Append(page, &packed);
    plain_bytes += static_cast<double>(page.size());
    packed_bytes += static_cast<double>(packed.size());
  }
  EXPECT_NEAR(static_cast<double>(gzipped) / kPages, 0.16, 0.02);
  EXPECT_NEAR(packed_bytes / plain_bytes, 0.2, 0.02);
}

TEST(WebStatisticsTest, HasHostsDomainsAndAddressesInProportion) {
  const Web web = MakeWeb(1'176'000);
  EXPECT_EQ(web.pld_count(), 338'000U);
  EXPECT_EQ(web.shape().addresses, 42'600);
  double hosts = 0;
  uint64_t largest = 0;
  for (uint64_t pld = 0; pld < web.pld_count(); ++pld) {
    hosts += static_cast<double>(web.HostsOf(pld));
    largest = std::max(largest, web.HostsOf(pld));
  }
  EXPECT_NEAR(hosts / 1'176'000, 1, 0.1);
  EXPECT_GT(largest, 2000U);  // a heavy tail
}

TEST(WebStatisticsTest, PutsManyHostsOnAnAddressAndSomeHostsOnSeveral) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(7);
  std::map<uint32_t, int> hosts;
  int several = 0;
  constexpr int kHosts = 100'000;
  for (int i = 0; i < kHosts; ++i) {
    const uint64_t pld = draw.Below(web.pld_count());
    const AddressList list =
        web.AddressesOf({pld, draw.Below(web.HostsOf(pld))});
    if (list.size > 1) ++several;
    for (uint32_t address : list.span()) {
      ++hosts[address];
      ASSERT_EQ(address >> 24, 127U);
    }
  }
  int most = 0;
  for (const auto& [address, count] : hosts) most = std::max(most, count);
  EXPECT_GT(most, 200);  // of a tenth of all hosts: thousands in the whole
  EXPECT_NEAR(several, 0.05 * kHosts, 0.01 * kHosts);
}

// A thousandth of the domains gets half of all links from outside, and most get
// few.
TEST(WebStatisticsTest, GivesInDegreesAHeavyTail) {
  const Web web = MakeWeb(1'000'000);
  Draw draw(8);
  std::map<uint64_t, int> degree;
  double all = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<WebLink> links;
    web.AppendLinks(AnyPage(web, &draw), &links);
    for (const WebLink& link : links) {
      if (link.kind < LinkKind::kHome) continue;
      ++degree[link.to.host.pld];
      ++all;
    }
  }
  double top = 0;
  for (const auto& [pld, count] : degree) {
    if (pld < web.pld_count() / 1000) top += count;
  }
  EXPECT_NEAR(top / all, std::pow(0.001, 0.1), 0.03);
  const auto once = static_cast<double>(std::count_if(
      degree.begin(), degree.end(), [](auto& d) { return d.second == 1; }));
  EXPECT_GT(once / static_cast<double>(degree.size()), 0.6);
}

TEST(WebStatisticsTest, GivesSiteSizesAHeavyTail) {
  const Web web = MakeWeb(1'000'000);
  std::vector<uint64_t> sizes;
  for (uint64_t pld = 0; pld < 100'000; ++pld) {
    sizes.push_back(web.PagesOf({pld, 0}));
  }
  std::sort(sizes.begin(), sizes.end());
  double sum = 0;
  for (uint64_t size : sizes) sum += static_cast<double>(size);
  EXPECT_NEAR(sum / static_cast<double>(sizes.size()), 54, 25);
  EXPECT_LT(sizes[sizes.size() / 2], 40U);
  EXPECT_GT(sizes.back(), 10'000U);
}

}  // namespace
}  // namespace nephila::sim
