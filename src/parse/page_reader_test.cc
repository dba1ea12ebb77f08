#include "parse/page_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "url/parser.h"

namespace nephila::parse {
namespace {

using Lines = std::vector<std::string>;

class PageReaderTest : public testing::Test {
 protected:
  // element.attribute rel value, a line a link.
  Lines Read(const ResponseHeaders& headers, std::string_view body,
             ReadAs read_as = ReadAs::kWhatItIs, size_t piece = 0) {
    std::vector<std::string_view> pieces;
    if (piece == 0) piece = body.size() + 1;
    for (size_t at = 0; at < body.size(); at += piece) {
      pieces.push_back(body.substr(at, piece));
    }
    reader_.Read(headers, pieces, read_as);
    Lines lines;
    for (const PageLink& link : reader_.links()) {
      lines.push_back(std::string(link.element) + "." +
                      std::string(link.attribute) + " " +
                      std::string(link.rel) + " " + std::string(link.value));
    }
    return lines;
  }

  config::ParseSettings settings_;
  PageReader reader_{settings_, true};
};

constexpr std::string_view kPage =
    "<!DOCTYPE html><title>T</title><base href=/b/><a rel=next href=x>word</a>";
constexpr std::string_view kSitemap =
    "<?xml version='1.0'?><urlset><url><loc>http://a/1</loc></url></urlset>";

TEST_F(PageReaderTest, ReadsHtmlBehindTheLinksOfHeaders) {
  ResponseHeaders headers;
  headers.content_type = {"text/html; charset=utf-8"};
  headers.link = {"</c>; rel=canonical, <o>; anchor=\"/other\"",
                  "<p>; rel=preload"};
  EXPECT_EQ(Read(headers, kPage),
            (Lines{"link.href canonical /c", "link.href preload p",
                   "a.href next x"}));
  EXPECT_EQ(reader_.sniffed().kind, ContentKind::kHtml);
  EXPECT_EQ(reader_.charset().encoding, Encoding::kUtf8);
  EXPECT_EQ(reader_.title(), "T");
  EXPECT_EQ(reader_.html().base(), "/b/");
  ASSERT_TRUE(reader_.html_counts().has_value());
}

TEST_F(PageReaderTest, ResolvesHeadersOnThePageAndTheRestOnItsBase) {
  ResponseHeaders headers;
  headers.link = {"<p>; rel=next"};
  Read(headers, kPage);
  url::Url page;
  url::Url base;
  url::Url scratch;
  ASSERT_TRUE(url::Parse("http://h/d/", nullptr, &page));
  reader_.html().BaseUrl(page, &base);
  auto base_of = [&](size_t i) {
    return std::string(
        PageReader::BaseOf(reader_.links()[i], page, base, &scratch).href());
  };
  EXPECT_EQ(base_of(0), "http://h/d/");
  EXPECT_EQ(base_of(1), "http://h/b/");
  Read({},
       "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/f/'>"
       "<entry><link href='e'/></entry></feed>");
  ASSERT_EQ(reader_.links().size(), 1U);
  EXPECT_EQ(base_of(0), "http://h/f/");
}

TEST_F(PageReaderTest, ReadsSitemapsAndFeedsWhateverTheyAreCalled) {
  ResponseHeaders headers;
  headers.content_type = {"text/xml"};
  EXPECT_EQ(Read(headers, kSitemap), (Lines{"loc.  http://a/1"}));
  EXPECT_EQ(reader_.sniffed().kind, ContentKind::kSitemap);
  EXPECT_EQ(reader_.sitemap()->outcome, SitemapOutcome::kWhole);
  EXPECT_FALSE(reader_.html_counts().has_value());
  EXPECT_EQ(Read({},
                 "<sitemapindex><sitemap><loc>http://a/2</loc></sitemap>"
                 "</sitemapindex>"),
            (Lines{"loc. sitemap http://a/2"}));
  EXPECT_EQ(Read({},
                 "<rss version='2.0'><channel><item><link>http://a/3"
                 "</link></item></channel></rss>"),
            (Lines{"link.href  http://a/3"}));
}

TEST_F(PageReaderTest, ReadsTextAsASitemapOrAsHtmlOnlyIfTold) {
  constexpr std::string_view kLines = "http://a/1\nhttp://a/2\n";
  EXPECT_TRUE(Read({}, kLines).empty());
  EXPECT_EQ(reader_.sniffed().kind, ContentKind::kText);
  EXPECT_EQ(Read({}, kLines, ReadAs::kSitemap),
            (Lines{".  http://a/1", ".  http://a/2"}));
  EXPECT_TRUE(Read({}, "words <a href=x>").empty());
  EXPECT_EQ(Read({}, "words <a href=x>", ReadAs::kHtmlIfText),
            (Lines{"a.href  x"}));
}

TEST_F(PageReaderTest, DoesNotParseWhatIsNoText) {
  ResponseHeaders headers;
  headers.content_type = {"text/html"};
  headers.link = {"<next>"};
  std::string png = "\x89PNG\r\n\x1a\n <a href=x>";
  EXPECT_EQ(Read(headers, png, ReadAs::kHtmlIfText),
            (Lines{"link.href  next"}));
  EXPECT_EQ(reader_.sniffed().essence, "image/png");
  EXPECT_TRUE(Read({}, "").empty());
  EXPECT_TRUE(Read({}, "", ReadAs::kSitemap).empty());
}

TEST_F(PageReaderTest, DoesNotMindPieces) {
  std::string page(kPage);
  while (page.size() < 200'000) page += "<a href='y'>some words</a> ";
  Lines whole = Read({}, page);
  EXPECT_GT(whole.size(), 1000U);
  EXPECT_EQ(Read({}, page, ReadAs::kWhatItIs, 1), whole);
  EXPECT_EQ(Read({}, page, ReadAs::kWhatItIs, 1000), whole);
  EXPECT_EQ(Read({}, page, ReadAs::kWhatItIs, 100'000), whole);
}

TEST_F(PageReaderTest, DecidesTheEncodingByTheSameBytesWhateverThePieces) {
  std::string page(kPage);
  while (page.size() < 70'000) page += "<p>plain words</p>";
  page += "<a href='/\xc3\xa9'>";
  Lines whole = Read({}, page);
  EXPECT_EQ(Read({}, page, ReadAs::kWhatItIs, 1000), whole);
  EXPECT_EQ(Read({}, page, ReadAs::kWhatItIs, 16'384), whole);
}

TEST_F(PageReaderTest, ForgetsThePageBefore) {
  Read({}, kPage);
  EXPECT_EQ(reader_.title(), "T");
  Read({}, kSitemap);
  EXPECT_EQ(reader_.title(), "");
  EXPECT_EQ(reader_.text(), "");
  EXPECT_EQ(reader_.html().metas(), 0U);
}

TEST_F(PageReaderTest, SharesTheBaseOfAFeed) {
  std::string feed = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/" +
                     std::string(10'000, 'b') + "/'>";
  for (int i = 0; i < 3; ++i) feed += "<entry><link href='e'/></entry>";
  Read({}, feed + "</feed>");
  ASSERT_EQ(reader_.links().size(), 3U);
  EXPECT_EQ(reader_.links()[0].base.size(), 10'002U);
  EXPECT_EQ(reader_.links()[0].base.data(), reader_.links()[2].base.data());
}

TEST_F(PageReaderTest, ResolvesTheBasesOfAFeedOnEachOther) {
  Read({},
       "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/blog/'>"
       "<link href='about'/>"
       "<entry xml:base='2026/'><link href='e' xml:base='x/'/></entry>"
       "<entry><link href='f'/></entry></feed>");
  url::Url page;
  ASSERT_TRUE(url::Parse("http://example.com/feed/atom", nullptr, &page));
  std::string found;
  for (const PageLink& link : reader_.links()) {
    url::Url scratch;
    url::Url whole;
    const url::Url& base = PageReader::BaseOf(link, page, page, &scratch);
    ASSERT_TRUE(url::Parse(link.value, &base, &whole));
    found.append(whole.href()).append(" ");
  }
  EXPECT_EQ(found,
            "http://example.com/blog/about "
            "http://example.com/blog/2026/x/e "
            "http://example.com/blog/f ");
}

TEST_F(PageReaderTest, ReadsXhtmlByItsRules) {
  ResponseHeaders headers;
  headers.content_type = {"application/xhtml+xml"};
  EXPECT_EQ(Read(headers, "<html><title/><a href='x'/></html>"),
            (Lines{"a.href  x"}));
  headers.content_type = {"text/html"};
  EXPECT_EQ(Read(headers, "<html><title/><a href='x'/></html>"), Lines{});
}

TEST_F(PageReaderTest, CountsTheLinksOfHeadersThatItDrops) {
  ResponseHeaders headers;
  std::string value = "<" + std::string(10'000, 'x') + ">, <y>";
  headers.link = {value};
  EXPECT_EQ(Read(headers, ""), (Lines{"link.href  y"}));
  EXPECT_EQ(reader_.dropped_header_links(), 1U);
  Read({}, "");
  EXPECT_EQ(reader_.dropped_header_links(), 0U);
}

// A reader that is made with settings of its own.
class PageReaderSettingsTest : public testing::Test {
 protected:
  Lines Read(std::string_view body) {
    reader_.emplace(settings_, /*text=*/true);
    const std::string_view pieces[] = {body};
    reader_->Read({}, pieces, ReadAs::kWhatItIs);
    Lines values;
    for (const PageLink& link : reader_->links()) {
      values.emplace_back(link.value);
    }
    return values;
  }

  config::ParseSettings settings_;
  std::optional<PageReader> reader_;
};

TEST_F(PageReaderSettingsTest, FormsThatArePostedAreLinksWhereWanted) {
  constexpr std::string_view kForms =
      "<!DOCTYPE html><form action=get></form>"
      "<form method=post action=post></form>";
  EXPECT_EQ(Read(kForms), Lines{"get"});
  settings_.post_forms = true;
  EXPECT_EQ(Read(kForms), (Lines{"get", "post"}));
}

TEST_F(PageReaderSettingsTest, LinksOfTemplatesAreTakenWhereWanted) {
  constexpr std::string_view kTemplate =
      "<!DOCTYPE html><template><a href=in></a></template><a href=out></a>";
  EXPECT_EQ(Read(kTemplate), Lines{"out"});
  settings_.template_links = true;
  EXPECT_EQ(Read(kTemplate), (Lines{"in", "out"}));
}

TEST_F(PageReaderSettingsTest, ALinkThatIsLongerThanAllowedIsDropped) {
  settings_.max_link_size = 64;
  const std::string fits(64, 'x');
  EXPECT_EQ(Read("<!DOCTYPE html><a href=" + fits + "></a><a href=" + fits +
                 "y></a>"),
            Lines{fits});
}

TEST_F(PageReaderSettingsTest, OfALongTagWhatStandsBehindTheBoundIsNotRead) {
  settings_.max_tag_size = 4096;
  const std::string page = "<!DOCTYPE html><a title=" + std::string(5000, 'x') +
                           " href=behind></a><a href=next></a>";
  EXPECT_EQ(Read(page), Lines{"next"});
  settings_.max_tag_size = 8192;
  EXPECT_EQ(Read(page), (Lines{"behind", "next"}));
}

TEST_F(PageReaderSettingsTest, TitleAndTextAreCut) {
  std::string page =
      "<!DOCTYPE html><title>" + std::string(100, 't') + "</title><p>";
  for (int i = 0; i < 100; ++i) page += "word ";
  settings_.max_title_size = 16;
  settings_.max_text_size = 20;
  Read(page);
  EXPECT_EQ(reader_->title(), std::string(16, 't'));
  EXPECT_TRUE(reader_->text().starts_with("word word"));
  EXPECT_LE(reader_->text().size(), 20U);
  settings_.max_title_size = 50;
  settings_.max_text_size = 60;
  Read(page);
  EXPECT_EQ(reader_->title().size(), 50U);
  EXPECT_GT(reader_->text().size(), 20U);
  EXPECT_LE(reader_->text().size(), 60U);
}

TEST_F(PageReaderSettingsTest, ASitemapThatNestsTooDeepIsGivenUpThere) {
  constexpr std::string_view kDeep =
      "<?xml version='1.0'?><urlset><url><loc>http://a/1</loc></url>"
      "<url><a><b><c><d/></c></b></a></url>"
      "<url><loc>http://a/2</loc></url></urlset>";
  EXPECT_EQ(Read(kDeep), (Lines{"http://a/1", "http://a/2"}));
  settings_.xml_max_depth = 4;
  EXPECT_EQ(Read(kDeep), Lines{"http://a/1"});
  EXPECT_EQ(reader_->sitemap()->outcome, SitemapOutcome::kTooDeep);
}

}  // namespace
}  // namespace nephila::parse
