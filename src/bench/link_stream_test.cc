#include "bench/link_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "bench/link_text.h"

namespace nephila::bench {
namespace {

const LinkPages& Pages() {
  static const LinkPages pages = GenerateLinkPages(size_t{4} << 20, 1);
  return pages;
}

std::unique_ptr<LinkStream> Stream(const LinkStreamOptions& options) {
  auto stream = LinkStream::Create(Pages(), options);
  EXPECT_TRUE(stream) << stream.error().message;
  return *std::move(stream);
}

std::vector<std::string> Take(LinkSource* source, size_t count) {
  std::vector<std::string> links;
  std::string_view link;
  while (links.size() < count && source->Next(&link)) links.emplace_back(link);
  return links;
}

struct Measured {
  double unique_share;
  double mean_bytes;
};

Measured Measure(LinkSource* source, uint64_t count) {
  std::unordered_set<uint64_t> seen;
  uint64_t bytes = 0;
  std::string_view link;
  for (uint64_t i = 0; i < count; ++i) {
    EXPECT_TRUE(source->Next(&link));
    seen.insert(KeyedHash(link, 0));
    bytes += link.size();
  }
  auto links = static_cast<double>(count);
  return {static_cast<double>(seen.size()) / links,
          static_cast<double>(bytes) / links};
}

class LinkStreamShare : public testing::TestWithParam<double> {};

TEST_P(LinkStreamShare, OfNewLinksIsAsAskedFor) {
  constexpr uint64_t kLinks = 5'000'000;
  auto stream = Stream({.links = kLinks, .unique_share = GetParam()});
  Measured measured = Measure(stream.get(), kLinks);
  EXPECT_NEAR(measured.unique_share / GetParam(), 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Shares, LinkStreamShare,
                         testing::Values(1.0 / 9, 0.5, 0.9, 1.0));

TEST(LinkStream, ReachesItsShareInAShortStreamToo) {
  auto stream = Stream({.links = 300'000});
  EXPECT_NEAR(Measure(stream.get(), 300'000).unique_share, 1.0 / 9, 0.01);
}

TEST(LinkStream, LinksAreAsLongAndPagesAsFullAsRealOnes) {
  auto stream = Stream({.links = 5'000'000});
  // The corpus: 61.7 bytes and 164 links a page; the tags add some.
  EXPECT_NEAR(Measure(stream.get(), 500'000).mean_bytes, 63, 8);
  EXPECT_NEAR(stream->links_per_page(), 164, 20);
}

TEST(LinkStream, TheSameSeedGivesTheSameLinks) {
  auto take = [](uint64_t seed) {
    auto stream = Stream({.links = 1'000'000, .seed = seed});
    return Take(stream.get(), 20'000);
  };
  EXPECT_EQ(take(1), take(1));
  EXPECT_NE(take(1), take(2));
}

TEST(LinkStream, ConsecutivePagesAreOfDifferentSites) {
  auto stream = Stream({.links = 10'000'000});
  EXPECT_GT(stream->active_sites(), 250u);
  // All hosts of a site copy end in its tag: runs of a tag are pages.
  std::string last_tag;
  std::unordered_set<std::string> tags;
  size_t runs = 0;
  for (const std::string& link : Take(stream.get(), 20'000)) {
    std::string_view host = HostOf(link);
    size_t dash = host.rfind('-', FindTagPlaces(link).host_end);
    std::string tag(host.substr(dash, host.find('.', dash) - dash));
    if (tag != last_tag) ++runs;
    tags.insert(tag);
    last_tag = tag;
  }
  EXPECT_EQ(runs, tags.size());
  EXPECT_NEAR(static_cast<double>(runs), 20'000 / stream->links_per_page(), 40);
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(LinkStream, MemoryDoesNotGrowWithTheStream) {
  auto stream = Stream({.links = 100'000'000});
  std::string_view link;
  for (int i = 0; i < 1'000'000; ++i) stream->Next(&link);
  uint64_t before = ResidentBytes();
  for (int i = 0; i < 5'000'000; ++i) stream->Next(&link);
  EXPECT_LT(ResidentBytes(), before + (uint64_t{2} << 20));
}

TEST(LinkStream, ShuffledLinksAreAllNewAndInNoOrder) {
  constexpr uint64_t kLinks = 2'000'000;
  auto stream = Stream({.links = kLinks, .shuffled = true});
  EXPECT_EQ(Measure(stream.get(), kLinks).unique_share, 1.0);
  auto again = Stream({.links = kLinks, .shuffled = true});
  size_t same_host = 0;
  std::string last;
  for (const std::string& link : Take(again.get(), 10'000)) {
    same_host += HostOf(link) == last ? 1U : 0U;
    last = HostOf(link);
  }
  EXPECT_LT(same_host, 100u);
}

TEST(LinkStream, RefusesWhatCannotBe) {
  EXPECT_FALSE(LinkStream::Create(Pages(), {.links = 0}));
  EXPECT_FALSE(LinkStream::Create(Pages(), {.links = 1, .unique_share = 0}));
  EXPECT_FALSE(LinkStream::Create(Pages(), {.links = 1, .unique_share = 1.1}));
  EXPECT_FALSE(LinkStream::Create(LinkPages{}, {.links = 1}));
}

TEST(LinkText, TagsGoBeforeTheSuffixAndTheExtension) {
  auto tagged = [](std::string url) {
    TagPlaces places = FindTagPlaces(url);
    url.insert(places.version_at, "<v>");
    return url.insert(places.host_end, "<h>");
  };
  EXPECT_EQ(tagged("http://www.a.com/b/c.html?d=/e.f"),
            "http://www.a<h>.com/b/c<v>.html?d=/e.f");
  EXPECT_EQ(tagged("https://u@a.co.uk:80/b.c/d"),
            "https://u@a<h>.co.uk:80/b.c/d<v>");
  EXPECT_EQ(tagged("http://a.com/"), "http://a<h>.com/<v>");
  EXPECT_EQ(tagged("http://a.com?x"), "http://a<h>.com<v>?x");
  EXPECT_EQ(tagged("http://localhost/.x"), "http://localhost<h>/.x<v>");
  EXPECT_EQ(tagged("text"), "text<h><v>");
}

TEST(LinkText, Base36IsShortAndWhole) {
  EXPECT_EQ(Base36(0), "0");
  EXPECT_EQ(Base36(36 * 36 + 35), "10z");
  EXPECT_EQ(Base36(~uint64_t{0}), "3w5e11264sgsf");
}

TEST(LinkPages, ReadsThePagesOfTheCorpus) {
  auto page = ParseLinkPage(
      R"({"path":"x","doc":"http://a.com/b","links":[)"
      R"(["a.href","/c#d","http://a.com/c#d"],["img.src","x","http://a.com/x"],)"
      R"(["area.href","http://b.com/",0],["a.href","z",null],)"
      R"(["a.href","mailto:x",0],["a.href","\u00e9",1],["meta.refresh","5"]]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->site, "a.com");
  EXPECT_EQ(page->links,
            (std::vector<std::string>{"http://a.com/c", "http://b.com/"}));
  for (const char* wrong : {"", "[]", "{", "{\"doc\":1,\"links\":[]}"}) {
    EXPECT_FALSE(ParseLinkPage(wrong)) << wrong;
  }
}

TEST(TextSource, RepeatsTheLinesOfAFileWithATag) {
  std::string path =
      testing::TempDir() + "text_source" + std::to_string(getpid()) + ".txt";
  for (const char* text : {"http://a.com/x\n\nb\n", "http://a.com/x\nb"}) {
    std::ofstream(path) << text;
    auto source = MakeTextSource(path);
    ASSERT_TRUE(source);
    EXPECT_EQ(
        Take(source->get(), 6),
        (std::vector<std::string>{"http://a.com/x", "b", "http://a-1.com/x",
                                  "b-1", "http://a-2.com/x", "b-2"}));
  }
  std::ofstream(path) << "\n\n";
  auto empty = MakeTextSource(path);
  std::string_view link;
  EXPECT_FALSE((*empty)->Next(&link));
  EXPECT_FALSE((*empty)->status());
  std::remove(path.c_str());
  EXPECT_FALSE(MakeTextSource(path));
}

}  // namespace
}  // namespace nephila::bench
