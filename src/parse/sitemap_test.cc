#include "parse/sitemap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/conformance_testing.h"
#include "parse/gzip_testing.h"

namespace nephila::parse {
namespace {

using std::string_literals::operator""s;
using List = std::vector<std::string>;

class Links : public SitemapSink {
 public:
  void OnLink(const SitemapLink& link) override {
    std::string text(link.url);
    if (link.kind != SitemapLinkKind::kPage) {
      text += " " + std::string(SitemapLinkKindName(link.kind));
    }
    if (!link.lastmod.empty()) text += " @" + std::string(link.lastmod);
    if (!link.hreflang.empty()) text += " #" + std::string(link.hreflang);
    if (!link.base.empty()) text += " ^" + std::string(link.base);
    list.push_back(text);
  }
  List list;
};

struct Outcome {
  List links;
  SitemapReport report;
};

Outcome ReadIn(size_t chunk, std::string_view bytes,
               const config::ParseSettings& settings,
               std::string_view charset) {
  Links sink;
  SitemapReader reader(settings, charset, &sink);
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    if (!reader.Feed(bytes.substr(at, chunk))) break;
  }
  Outcome outcome;
  outcome.report = reader.Finish();
  outcome.links = sink.list;
  EXPECT_EQ(outcome.report.links, sink.list.size());
  return outcome;
}

Outcome Read(std::string_view bytes, const config::ParseSettings& settings = {},
             std::string_view charset = "") {
  Outcome whole = ReadIn(bytes.size() + 1, bytes, settings, charset);
  for (size_t chunk : {1, 3, 1000}) {
    Outcome pieces = ReadIn(chunk, bytes, settings, charset);
    EXPECT_EQ(pieces.links, whole.links) << chunk;
    EXPECT_EQ(pieces.report.outcome, whole.report.outcome) << chunk;
    EXPECT_EQ(pieces.report.dropped, whole.report.dropped) << chunk;
  }
  return whole;
}

Outcome ReadFile(const std::string& name,
                 const config::ParseSettings& settings = {}) {
  Outcome outcome = Read(ReadTestData("sitemaps/" + name), settings);
  EXPECT_EQ(outcome.report.outcome, SitemapOutcome::kWhole) << name;
  return outcome;
}

std::string Urlset(std::string_view inside) {
  return "<urlset>" + std::string(inside) + "</urlset>";
}

TEST(SitemapFiles, PlainSitemapsAreRead) {
  List two = {"http://www.example.com/1", "http://www.example.com/2"};
  EXPECT_EQ(ReadFile("sitemap.ns.xml").links, two);
  EXPECT_EQ(ReadFile("sitemap.badns.xml").links, two);
  List pages = {"http://www.domain.com/page1.html",
                "http://www.domain.com/page2.html"};
  EXPECT_EQ(ReadFile("sitemap.txt").links, pages);
  EXPECT_EQ(ReadFile("sitemap-with-bom.txt").links, pages);
  EXPECT_EQ(ReadFile("do-not-visit.txt").links,
            List{"http://www.example.com/do-not-visit-here"});
}

TEST(SitemapFiles, CompressedSitemapsAreRead) {
  List links = ReadFile("xmlSitemap.gz").links;
  ASSERT_EQ(links.size(), 5u);
  EXPECT_EQ(links[0], "http://www.example.com/ @2005-01-01");
  EXPECT_EQ(links[1],
            "http://www.example.com/catalog?item=12&desc=vacation_hawaii");
  links = ReadFile("sitemap.txt.gz").links;
  ASSERT_EQ(links.size(), 5u);
  EXPECT_EQ(links[4],
            "http://www.example.com/catalog?item=83&desc=vacation_usa");
}

TEST(SitemapFiles, AnIndexWithoutLocIsRead) {
  Outcome outcome = ReadFile("sitemap.index.xml");
  EXPECT_EQ(outcome.report.format, SitemapFormat::kIndex);
  ASSERT_GT(outcome.links.size(), 10u);
  EXPECT_EQ(outcome.links[0],
            "https://example.com/sitemap.jss?portalCode=10260&lang=en sitemap");
}

TEST(SitemapFiles, FeedsAreRead) {
  Outcome atom = ReadFile("atom.xml");
  EXPECT_EQ(atom.report.format, SitemapFormat::kAtom);
  ASSERT_GE(atom.links.size(), 3u);
  EXPECT_EQ(atom.links[0], "http://example.org/");
  EXPECT_EQ(atom.links[1], "http://example.org/2003/12/13/atom03.html");
  EXPECT_EQ(atom.links[2],
            "http://example.org/2003/12/13/atom03 @2003-12-13T18:30:02Z");

  Outcome rss = ReadFile("rss/xmlRss_pubDate.xml");
  EXPECT_EQ(rss.report.format, SitemapFormat::kRss);
  ASSERT_GE(rss.links.size(), 4u);
  EXPECT_EQ(rss.links[0], "http://www.example.com/rss.xml");
  EXPECT_EQ(rss.links[1],
            "http://www.example.com/article_1 @Thu, 05 Jan 2017 13:34:51 "
            "+0100");

  Outcome feed = ReadFile("rss/feed.rss");
  ASSERT_GE(feed.links.size(), 3u);
  EXPECT_EQ(feed.links[0], "https://www.example.com/main.html");
  EXPECT_EQ(feed.links[2], "https://www.example.com/guid.html");
}

TEST(SitemapFiles, ExtensionsAreToldApart) {
  EXPECT_EQ(ReadFile("extension/sitemap-images.xml").links,
            List{"http://www.example.com/images/some_image_landing_page.html"});
  config::ParseSettings media;
  media.sitemap_media = true;
  EXPECT_EQ(
      ReadFile("extension/sitemap-images.xml", media).links,
      (List{"http://example.com/image.jpg media",
            "http://example.com/photo.jpg media",
            "http://www.example.com/images/some_image_landing_page.html"}));
  EXPECT_EQ(ReadFile("extension/sitemap-mobile.xml").links.size(), 3u);
  EXPECT_EQ(ReadFile("extension/pagemaps-sitemap.xml").links,
            (List{"http://www.example.com/foo", "http://www.example.com/bar"}));
  List links = ReadFile("extension/sitemap-links.xml").links;
  ASSERT_EQ(links.size(), 12u);
  EXPECT_EQ(links[0], "http://www.example.com/deutsch/ alternate #de");
  EXPECT_EQ(links[3], "http://www.example.com/english/");
  EXPECT_EQ(ReadFile("extension/sitemap-news.xml").links[0],
            "http://www.example.org/business/article55.html");
  EXPECT_EQ(ReadFile("extension/shinpaideshou-news-sitemap.xml").links.size(),
            3u);
  EXPECT_EQ(ReadFile("extension/sitemap-videos.xml").links[0],
            "http://www.example.com/videos/some_video_landing_page.html");
  Outcome tv = ReadFile("extension/sitemap-videos-tvshow.xml", media);
  EXPECT_EQ(tv.links[0], "https://example.org/video/embed/23-13 media");
  Outcome news = ReadFile("extension/hebdenbridgetimes-articles-sitemap.xml");
  EXPECT_EQ(news.links[0],
            "http://www.hebdenbridgetimes.co.uk/news/local/video-tour-de-"
            "yorkshire-in-calderdale-1-7242580 @2015-05-03T18:51:50+01:00");
}

TEST(Sitemap, ReadsTextInAllItsForms) {
  EXPECT_EQ(Read(Urlset("<url><loc> http://a/?x&amp;y </loc></url>"
                        "<url><loc><![CDATA[http://b/?x&y]]></loc></url>"
                        "<url><lastmod>2020</lastmod><loc>http://c/"
                        "<!-- x -->d</loc></url>"))
                .links,
            (List{"http://a/?x&y", "http://b/?x&y", "http://c/d @2020"}));
}

TEST(Sitemap, ReadsAnyEncoding) {
  EXPECT_EQ(Read("<?xml version='1.0' encoding='windows-1251'?>" +
                 Urlset("<url><loc>http://a/\xff</loc></url>"))
                .links,
            List{"http://a/\xd1\x8f"});
  EXPECT_EQ(
      Read(Urlset("<url><loc>http://a/\xff</loc></url>"), {}, "windows-1251")
          .links,
      List{"http://a/\xd1\x8f"});
  std::string utf16;
  for (char c : "\n" + Urlset("<url><loc>http://a/</loc></url>")) {
    utf16 += c;
    utf16 += '\0';
  }
  EXPECT_EQ(Read("\xff\xfe" + utf16).links, List{"http://a/"});
  EXPECT_EQ(Read(utf16).links, List{"http://a/"});
  EXPECT_EQ(
      Read("\xef\xbb\xbf" + Urlset("<url><loc>http://a/</loc></url>")).links,
      List{"http://a/"});
}

TEST(Sitemap, TextFilesHaveAUrlALine) {
  Outcome outcome =
      Read("http://a/\r\n\r\n  HTTPS://b/ \nftp://c/\nd\nhttp://e");
  EXPECT_EQ(outcome.links, (List{"http://a/", "HTTPS://b/", "http://e"}));
  EXPECT_EQ(outcome.report.format, SitemapFormat::kText);
  EXPECT_EQ(outcome.report.Dropped(SitemapDrop::kNotAUrl), 2u);
}

TEST(Sitemap, WhatItIsDoesNotDependOnChunks) {
  // A byte that text does not have, in the head and behind it.
  std::string lines;
  while (lines.size() < 1100) lines += "http://a/\n";
  EXPECT_EQ(Read(lines + "\x01").report.outcome, SitemapOutcome::kWhole);
  EXPECT_EQ(Read("\x01" + lines).report.outcome, SitemapOutcome::kNoSitemap);
  std::string deep(2000, ' ');
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  EXPECT_EQ(Read(deep).report.outcome, SitemapOutcome::kNoSitemap);
}

TEST(Sitemap, FeedsHaveLinksOfManyKinds) {
  EXPECT_EQ(Read("<feed xml:base='http://f/'><link rel='next' href='?p=2'/>"
                 "<link rel='self' href='x'/><entry xml:base='http://e/'>"
                 "<link href='a'/><updated>2020</updated>"
                 "<link rel='enclosure' href='m'/></entry></feed>")
                .links,
            (List{"?p=2 sitemap ^http://f/", "a @2020 ^http://f/\nhttp://e/"}));
  EXPECT_EQ(Read("<rdf:RDF><channel><link>http://h/</link></channel><item>"
                 "<link>http://a/</link><dc:date>2020</dc:date></item>"
                 "</rdf:RDF>")
                .links,
            (List{"http://h/", "http://a/ @2020"}));
  EXPECT_EQ(Read("<rss><channel><item><link>http://count/</link>"
                 "<feedburner:origLink>http://page/</feedburner:origLink>"
                 "</item><item><guid>no url</guid></item></channel></rss>")
                .links,
            (List{"http://page/", "http://count/"}));
}

TEST(Sitemap, SaysWhatItDrops) {
  config::ParseSettings settings;
  settings.sitemap_max_urls = 2;
  settings.sitemap_max_url_length_bytes = 64;
  std::string url = "<url><loc>http://a/</loc></url>";
  Outcome outcome =
      Read(Urlset("<url><loc>http://" + std::string(60, 'a') +
                  "</loc></url><url></url><url><loc> </loc></url>" + url + url +
                  url),
           settings);
  EXPECT_EQ(outcome.links.size(), 2u);
  EXPECT_EQ(outcome.report.Dropped(SitemapDrop::kTooLong), 1u);
  EXPECT_EQ(outcome.report.Dropped(SitemapDrop::kEmpty), 2u);
  EXPECT_EQ(outcome.report.Dropped(SitemapDrop::kTooManyUrls), 1u);
  outcome = Read("http://" + std::string(60, 'a') + "\nhttp://b", settings);
  EXPECT_EQ(outcome.links, List{"http://b"});
  EXPECT_EQ(outcome.report.Dropped(SitemapDrop::kTooLong), 1u);
}

TEST(Sitemap, SaysHowItEnded) {
  EXPECT_EQ(Read("").report.outcome, SitemapOutcome::kNoSitemap);
  EXPECT_EQ(Read("<html><a>").report.outcome, SitemapOutcome::kNoSitemap);
  EXPECT_EQ(Read("\x89PNG\x01").report.outcome, SitemapOutcome::kNoSitemap);
  Outcome cut =
      Read("<urlset><url><loc>http://a/</loc></url><url><loc>http://b");
  EXPECT_EQ(cut.report.outcome, SitemapOutcome::kCutOff);
  EXPECT_EQ(cut.links, List{"http://a/"});
  cut = Read("<urlset><url><loc>http://a/</loc>");
  EXPECT_EQ(cut.links, List{"http://a/"});

  std::string gzip = Gzip(Urlset("<url><loc>http://a/</loc></url>"));
  EXPECT_EQ(Read(gzip).report.outcome, SitemapOutcome::kWhole);
  EXPECT_EQ(Read(gzip.substr(0, gzip.size() - 4)).report.outcome,
            SitemapOutcome::kCutOff);
  gzip[gzip.size() - 6] ^= 1;
  EXPECT_EQ(Read(gzip).report.outcome, SitemapOutcome::kBroken);
  EXPECT_EQ(Read("\x1f").report.outcome, SitemapOutcome::kNoSitemap);
}

TEST(Sitemap, IsBounded) {
  config::ParseSettings settings;
  settings.sitemap_max_size_bytes = 2048;
  std::string url = "<url><loc>http://a/</loc></url>";
  std::string many = "<urlset>";
  for (int i = 0; i < 1000; ++i) many += url;
  Outcome outcome = Read(many, settings);
  EXPECT_EQ(outcome.report.outcome, SitemapOutcome::kTooLarge);
  // The bound cuts the 66th behind its <loc>.
  EXPECT_EQ(outcome.links.size(), 66u);
  outcome = Read(Gzip(many), settings);
  EXPECT_EQ(outcome.report.outcome, SitemapOutcome::kTooLarge);
  EXPECT_EQ(outcome.links.size(), 66u);

  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<urlset>";
  EXPECT_EQ(Read(deep).report.outcome, SitemapOutcome::kTooDeep);

  settings = {};
  settings.gzip_max_ratio = 100;
  std::string bomb = "<urlset>" + std::string(size_t{4} << 20, ' ');
  EXPECT_EQ(ReadIn(1000, Gzip(bomb), settings, "").report.outcome,
            SitemapOutcome::kBomb);
}

TEST(Sitemap, EntitiesMultiplyNothing) {
  std::string laughs =
      "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>"
      "<!ENTITY x SYSTEM 'file:///etc/passwd'>]>";
  EXPECT_EQ(
      Read(laughs + Urlset("<url><loc>http://a/&b;&x;</loc></url>")).links,
      List{"http://a/&b;&x;"});
}

}  // namespace
}  // namespace nephila::parse
