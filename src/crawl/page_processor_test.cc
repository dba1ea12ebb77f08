#include "crawl/page_processor.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coding/coding_testing.h"

namespace nephila::crawl {
namespace {

// "L http://a.test/x", in order.
class Listed final : public FoundLinkSink {
 public:
  void OnLink(const FoundLink& link) override {
    lines.push_back(
        fmt::format("{} {}", static_cast<char>(link.hop), link.url.href));
    ordinals.push_back(link.ordinal);
  }
  std::vector<std::string> lines;
  std::vector<uint32_t> ordinals;
};

using Lines = std::vector<std::string>;

class PageProcessorTest : public testing::Test {
 protected:
  PageFacts Process(std::string_view head, std::string_view body,
                    bool chunked = false) {
    listed_ = std::make_unique<Listed>();
    std::string_view pieces[] = {body.substr(0, body.size() / 2),
                                 body.substr(body.size() / 2)};
    head_ = fmt::format("HTTP/1.1 {}\r\n\r\n", head);
    item::FetchedPage page;
    page.outcome = item::FetchOutcome::kResponse;
    page.url = "http://a.test/dir/page";
    page.response_head = head_;
    page.body = pieces;
    if (chunked) page.transfer_coding = item::TransferCoding::kChunked;
    return processor_.Process(page, listed_.get());
  }
  const Lines& lines() const { return listed_->lines; }

  config::Settings settings_;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  PageProcessor processor_{settings_, suffixes_, 7,
                           /*text=*/true};
  std::string head_;
  std::unique_ptr<Listed> listed_;
};

constexpr std::string_view kPage =
    "<title>T</title><base href='/base/'><a href=one>1</a><img src=i.png>"
    "<a href='mailto:x@y'>m</a><a href='one#f'>1 again</a>"
    "<link rel=stylesheet href=s.css><a href='http://b.test/' rel=nofollow>b";

const Lines& PageLinks() {
  static const Lines kLinks = {
      "L http://a.test/base/one", "E http://a.test/base/i.png",
      "E http://a.test/base/s.css", "L http://b.test/"};
  return kLinks;
}

TEST_F(PageProcessorTest, GivesTheLinksOfAPageOnceAndInOrder) {
  PageFacts facts = Process("200 OK\r\nContent-Type: text/html", kPage);
  EXPECT_EQ(lines(), PageLinks());
  EXPECT_EQ(listed_->ordinals, (std::vector<uint32_t>{0, 2, 8, 10}));
  EXPECT_TRUE(facts.parsed);
  EXPECT_EQ(facts.media_type, "text/html");
  EXPECT_EQ(facts.title, "T");
  EXPECT_EQ(facts.content_bytes, kPage.size());
  EXPECT_EQ(facts.links, 6U);
  EXPECT_EQ(facts.out, 4U);
  EXPECT_EQ(facts.repeated, 1U);
  EXPECT_EQ(facts.not_crawled, 1U);
}

TEST_F(PageProcessorTest, LinksToOtherHostsMayBecomeTheRootsOfThose) {
  constexpr std::string_view kBody =
      "<a href=one><a href='https://b.test:81/x/y?z'><a href='//b.test:81/q'>"
      "<a href='https://b.test:81/other'><a href='http://c.test/'>"
      "<img src='http://d.test/i.png'><a href='http://A.test/two'>";
  settings_.scope.external_links = config::ExternalLinks::kHomePage;
  PageFacts facts = Process("200 OK\r\nContent-Type: text/html", kBody);
  EXPECT_EQ(lines(), (Lines{"L http://a.test/dir/one", "L https://b.test:81/",
                            "L http://b.test:81/", "L http://c.test/",
                            "L http://d.test/", "L http://a.test/two"}));
  EXPECT_EQ(listed_->ordinals, (std::vector<uint32_t>{0, 3, 5, 9, 11, 12}));
  EXPECT_EQ(facts.repeated, 1U);
  EXPECT_EQ(facts.roots, 0U);
  EXPECT_EQ(facts.links + facts.roots, facts.out + facts.repeated);

  settings_.scope.external_links = config::ExternalLinks::kCombined;
  facts = Process("200 OK\r\nContent-Type: text/html", kBody);
  EXPECT_EQ(lines(),
            (Lines{"L http://a.test/dir/one", "L https://b.test:81/x/y?z",
                   "L https://b.test:81/", "L http://b.test:81/q",
                   "L http://b.test:81/", "L https://b.test:81/other",
                   "L http://c.test/", "E http://d.test/i.png",
                   "L http://d.test/", "L http://a.test/two"}));
  EXPECT_EQ(listed_->ordinals,
            (std::vector<uint32_t>{0, 2, 3, 4, 5, 6, 8, 10, 11, 12}));
  EXPECT_EQ(facts.roots, 4U);
  EXPECT_EQ(facts.links + facts.roots, facts.out + facts.repeated);
  // Redirects are followed as they are.
  Process("302 Found\r\nLocation: http://b.test/deep", "");
  EXPECT_EQ(lines(), Lines{"R http://b.test/deep"});
}

TEST_F(PageProcessorTest, UndoesEveryCodingAndChunks) {
  struct Case {
    std::string_view name;
    std::string body;
  };
  const Case cases[] = {{"gzip", coding::Gzip(kPage)},
                        {"deflate", coding::Zlib(kPage)},
                        {"br", coding::Brotli(kPage)},
                        {"zstd", coding::Zstd(kPage)}};
  for (const Case& test : cases) {
    std::string head = fmt::format(
        "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {}", test.name);
    PageFacts facts = Process(head, test.body);
    EXPECT_EQ(lines(), PageLinks()) << test.name;
    EXPECT_EQ(facts.decoding, coding::DecodeState::kWhole) << test.name;
    std::string chunks =
        fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", test.body.size(), test.body);
    facts = Process(head, chunks, /*chunked=*/true);
    EXPECT_EQ(lines(), PageLinks()) << test.name;
    EXPECT_FALSE(facts.chunks_broken) << test.name;
    EXPECT_EQ(facts.content_bytes, kPage.size());
  }
}

TEST_F(PageProcessorTest, ReadsWhatItCanOfABrokenBody) {
  std::string packed =
      coding::Gzip(std::string(kPage) + std::string(9999, 'x'));
  PageFacts facts =
      Process("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip",
              std::string_view(packed).substr(0, packed.size() - 8));
  EXPECT_EQ(lines(), PageLinks());
  EXPECT_EQ(facts.decoding, coding::DecodeState::kCut);
  facts = Process("200 OK\r\nContent-Type: text/html",
                  "zz\r\n" + std::string(kPage),
                  /*chunked=*/true);
  EXPECT_TRUE(facts.chunks_broken);
}

TEST_F(PageProcessorTest, BoundsWhatABodyGrowsTo) {
  settings_.fetch.max_content_bytes = 1000;
  PageProcessor bounded(settings_, suffixes_, 7, false);
  std::string bomb =
      coding::Gzip("<a href=x>" + std::string(5'000'000, ' ') + "<a href=y>");
  std::string_view pieces[] = {bomb};
  item::FetchedPage page;
  page.outcome = item::FetchOutcome::kResponse;
  page.url = "http://a.test/";
  page.response_head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip"
      "\r\n\r\n";
  page.body = pieces;
  Listed listed;
  PageFacts facts = bounded.Process(page, &listed);
  EXPECT_EQ(listed.lines, (Lines{"L http://a.test/x"}));
  EXPECT_EQ(facts.decoding, coding::DecodeState::kTooLarge);
  EXPECT_EQ(facts.content_bytes, 1000U);
}

TEST_F(PageProcessorTest, ARedirectIsOneLink) {
  for (int status : {301, 302, 303, 307, 308}) {
    PageFacts facts =
        Process(fmt::format("{} Moved\r\nLocation: ../other?x=1#f", status),
                "<a href=/body>");
    EXPECT_EQ(lines(), (Lines{"R http://a.test/other?x=1"})) << status;
    EXPECT_FALSE(facts.parsed);
    EXPECT_EQ(facts.links, 1U);
  }
  PageFacts facts = Process("302 Found\r\nLocation: mailto:x", "");
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(facts.not_crawled, 1U);
  facts = Process("302 Found", "");
  EXPECT_EQ(facts.links, 0U);
}

TEST_F(PageProcessorTest, ErrorsGiveNoLinks) {
  for (std::string_view status : {"404 Not Found", "500 Oops", "304 Same"}) {
    PageFacts facts = Process(status, kPage);
    EXPECT_EQ(lines(), Lines{}) << status;
    EXPECT_FALSE(facts.parsed);
  }
}

TEST_F(PageProcessorTest, ObeysWhatAPageSaysOfItself) {
  PageFacts facts = Process(
      "200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: nofollow", kPage);
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(facts.nofollow, 6U);
  EXPECT_TRUE(facts.use.index);
  facts = Process("200 OK\r\nContent-Type: text/html",
                  "<meta name=robots content='noindex, nofollow'><a href=x>");
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(facts.nofollow, 1U);
  EXPECT_FALSE(facts.use.index);
  // For others.
  Process("200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: other: none",
          kPage);
  EXPECT_EQ(lines(), PageLinks());
  settings_.robots.obey_rel_nofollow = true;
  facts = Process("200 OK\r\nContent-Type: text/html", kPage);
  EXPECT_EQ(lines().size(), 3U);
  EXPECT_EQ(facts.nofollow, 1U);
}

TEST_F(PageProcessorTest, KnowsLinksOfHeadersAndSitemaps) {
  Process(
      "200 OK\r\nContent-Type: application/pdf\r\n"
      "Link: </canonical>; rel=canonical",
      "%PDF-1.4");
  EXPECT_EQ(lines(), (Lines{"F http://a.test/canonical"}));
  Process("200 OK\r\nContent-Type: text/xml",
          "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
          "<url><loc>http://a.test/s</loc></url></urlset>");
  EXPECT_EQ(lines(), (Lines{"M http://a.test/s"}));
}

}  // namespace
}  // namespace nephila::crawl
