#include "parse/html_links.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parse/page_links.h"
#include "parse/pieces_testing.h"
#include "url/parser.h"

namespace nephila::parse {
namespace {

using Lines = std::vector<std::string>;

// Each link as "tag.attr value {rel}".
Lines Read(std::string_view page, const HtmlOptions& options,
           const Pieces& pieces, HtmlCounts* counts = nullptr) {
  PageLinks links;
  HtmlReader reader(options, &links);
  reader.Begin();
  pieces.FeedTo(page, &reader);
  Lines lines;
  for (size_t i = 0; i < links.size(); ++i) {
    HtmlLink link = links[i];
    std::string line = link.in_template ? "template:" : "";
    if (link.in_svg) line += "svg:";
    line.append(TagText(link.tag)).append(".").append(AttrText(link.attr));
    line.append(" ").append(link.value);
    if (!link.rel.empty()) line.append(" {").append(link.rel).append("}");
    lines.push_back(line);
  }
  if (counts != nullptr) *counts = reader.counts();
  return lines;
}

void ExpectLinks(std::string_view page, const Lines& want,
                 const HtmlOptions& options = {}) {
  for (const Pieces& pieces : EveryCutting()) {
    EXPECT_EQ(Read(page, options, pieces), want) << pieces.name();
  }
}

HtmlCounts CountsOf(std::string_view page, const HtmlOptions& options = {}) {
  HtmlCounts counts;
  Read(page, options, Pieces::Of(7), &counts);
  return counts;
}

uint64_t Dropped(const HtmlCounts& counts, LinkDrop reason) {
  return counts.dropped[static_cast<size_t>(reason)];
}

TEST(HtmlLinks, FindsEveryKind) {
  ExpectLinks(
      "<body background=bg><a href=/a rel='nofollow ugc'>x</a>"
      "<AREA HREF=/b><link rel=canonical href=/c>"
      "<link rel='alternate' href=/d><link rel=stylesheet href=/e.css>"
      "<iframe src=/f></iframe><frameset><frame src=/g></frameset>"
      "<form action=/h></form><form method=GET action=/i></form>"
      "<img src=/j srcset='/j1 1x, /j2 2x'><image src=/k>"
      "<script src=/l></script><video src=/m poster=/n><audio src=/o>"
      "<source src=/p srcset=/q><track src=/r><embed src=/s>"
      "<object data=/t></object><input type=IMAGE src=/u><input src=/no>"
      "<link rel=preload as=image href=/v imagesrcset='/w 2x'>"
      "<meta http-equiv=Refresh content='5; url=/x'>",
      {"body.background bg",
       "a.href /a {nofollow ugc}",
       "area.href /b",
       "link.href /c {canonical}",
       "link.href /d {alternate}",
       "link.href /e.css {stylesheet}",
       "iframe.src /f",
       "frame.src /g",
       "form.action /h",
       "form.action /i",
       "img.src /j",
       "img.srcset /j1",
       "img.srcset /j2",
       "img.src /k",
       "script.src /l",
       "video.src /m",
       "video.poster /n",
       "audio.src /o",
       "source.src /p",
       "source.srcset /q",
       "track.src /r",
       "embed.src /s",
       "object.data /t",
       "input.src /u",
       "link.href /v {preload}",
       "link.imagesrcset /w {preload}",
       "meta.content /x"});
}

TEST(HtmlLinks, LeavesResourcesOutWhenAsked) {
  HtmlOptions options;
  options.resources = false;
  ExpectLinks(
      "<img src=a srcset=b><script src=c></script><link rel=icon href=d>"
      "<link rel=next href=e><a href=f><iframe src=g></iframe>"
      "<video src=h poster=i><link rel=\"stylesheet\" href=j>",
      {"link.href e {next}", "a.href f", "iframe.src g"}, options);
}

TEST(HtmlLinks, ReadsAttributesAsBrowsersDo) {
  ExpectLinks("<a href=' /a?b&amp;c=1&copy=2&#x26;d '>",
              {"a.href /a?b&c=1&copy=2&d"});
  ExpectLinks("<a href=/first href=/second>", {"a.href /first"});
  ExpectLinks("<a\nHREF\t=\n/a>", {"a.href /a"});
  ExpectLinks("<a href=/a/>", {"a.href /a/"});
  ExpectLinks("<a href=\"/a\"rel='b'>", {"a.href /a {b}"});
  ExpectLinks("<a title='>' href=/a>", {"a.href /a"});
  ExpectLinks("<a href>", {"a.href "});
  ExpectLinks("<a =\"x\" href=/a>", {"a.href /a"});
  ExpectLinks("<a href=/a", {});
  ExpectLinks(std::string_view("<a href=/a\0b>", 13), {"a.href /a\xef\xbf\xbd"
                                                       "b"});
}

TEST(HtmlLinks, SeesNoMarkupInWhatIsNone) {
  ExpectLinks(
      "<!-- <a href=1> --><![CDATA[><a href=2>]]>"
      "<script>'<a href=3>'<!--<script></script><a href=4>--></script>"
      "<style><a href=5></style><textarea><a href=6></textarea>"
      "<title><a href=7></title><xmp><a href=8></xmp>"
      "<iframe><a href=9></iframe><noembed><a href=10></noembed>"
      "<noframes><a href=11></noframes><noscript><a href=12></noscript>"
      "<?php <a href=13> ?><plaintext><a href=14>",
      {"a.href 2", "a.href 12"});
}

TEST(HtmlLinks, KnowForeignContent) {
  ExpectLinks(
      "<svg><![CDATA[><a href=1>]]><a href=2 /><a xlink:href=3></a>"
      "<style><a href=4></a></style><title><a href=5></a></title>"
      "<image href=6 /><script href=7 /></svg><style><a href=8></style>",
      {"svg:a.href 2", "svg:a.xlink:href 3", "svg:a.href 4", "a.href 5",
       "svg:image.href 6", "svg:script.href 7"});
  ExpectLinks(
      "<svg><g><div><a href=1></div><math><mtext><![CDATA[><a href=2>]]>"
      "<a href=3></a></mtext><mi/><![CDATA[><a href=4>]]></math>",
      {"a.href 1", "a.href 3"});
  ExpectLinks(
      "<math><annotation-xml encoding='Text/HTML'><a href=1></a>"
      "</annotation-xml>"
      "<annotation-xml><a href=2></annotation-xml></math><a href=3>",
      {"a.href 1", "a.href 3"});
  ExpectLinks("<svg><font><a href=1></svg><svg><font color=x><a href=2></svg>",
              {"svg:a.href 1", "a.href 2"});
  ExpectLinks("<svg/><![CDATA[><a href=1>]]>", {"a.href 1"});
  ExpectLinks(
      "<svg><use href='#here'/><use xlink:href='icons.svg#x'/>"
      "<filter><feImage href=f.png /></filter></svg><use href=9>",
      {"svg:use.xlink:href icons.svg#x", "svg:feimage.href f.png"});
  ExpectLinks("<div><svg><path></div><![CDATA[><a href=1>]]>", {"a.href 1"});
}

TEST(HtmlLinks, KnowXhtml) {
  constexpr std::string_view kPage =
      "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>"
      "<title/><script src='s'/><style/><link href='l'/></head><body>"
      "<iframe src='i'/><a href='1'/><template/><form action='f'/>"
      "<form action='g'><p><![CDATA[<a href='2'>]]></p></form>"
      "<script>//<![CDATA[\nx = '<a href=3>'\n//]]></script>"
      "<noframes><a href='4'/></noframes><textarea/><a href='5'/>";
  PageLinks links;
  HtmlReader reader({}, &links);
  for (const Pieces& pieces : EveryCutting()) {
    links.Clear();
    reader.Begin(nullptr, Syntax::kXhtml);
    pieces.FeedTo(kPage, &reader);
    std::string found;
    for (size_t i = 0; i < links.size(); ++i) {
      found.append(links[i].value).append(" ");
    }
    EXPECT_EQ(found, "s l i 1 f g 4 5 ") << pieces.name();
  }
}

TEST(HtmlLinks, ForgetsForeignContentBeyondItsDepth) {
  std::string page = "<svg>";
  for (int i = 0; i < 1000; ++i) page += "<g>";
  page += "<a href=1></a>";
  for (int i = 0; i < 1000; ++i) page += "</g>";
  page += "</svg><a href=2>";
  EXPECT_EQ(Read(page, {}, Pieces::Whole()),
            (Lines{"svg:a.href 1", "a.href 2"}));
}

TEST(HtmlLinks, DropsThoseOfTemplatesUnlessAsked) {
  constexpr std::string_view kPage =
      "<template><a href=1><template><img src=2></template></template>"
      "<a href=3></template><a href=4>";
  ExpectLinks(kPage, {"a.href 3", "a.href 4"});
  EXPECT_EQ(Dropped(CountsOf(kPage), LinkDrop::kTemplate), 2U);
  HtmlOptions options;
  options.templates = true;
  ExpectLinks(
      kPage,
      {"template:a.href 1", "template:img.src 2", "a.href 3", "a.href 4"},
      options);
}

TEST(HtmlLinks, TakesFormsThatAreSentByGet) {
  constexpr std::string_view kPage =
      "<form action=1 method=post></form><form action=2 method=x></form>"
      "<form method=Dialog action=3></form><form>";
  ExpectLinks(kPage, {"form.action 2"});
  EXPECT_EQ(Dropped(CountsOf(kPage), LinkDrop::kPost), 2U);
  HtmlOptions options;
  options.all_forms = true;
  ExpectLinks(kPage, {"form.action 1", "form.action 2", "form.action 3"},
              options);
}

TEST(HtmlLinks, SeesNoFormInsideAForm) {
  ExpectLinks(
      "<form action=1><form action=2></form><form action=3><template>"
      "<form action=4></template><form action=5>",
      {"form.action 1", "form.action 3"});
}

TEST(HtmlLinks, DropsResourcesThatAreNoneAndCountsThem) {
  constexpr std::string_view kPage =
      "<img src=''><img src=' Data:image/png;base64,xx'>"
      "<img srcset='data:,x 1x, /a 2x'><a href=''>";
  ExpectLinks(kPage, {"img.srcset /a", "a.href "});
  EXPECT_EQ(Dropped(CountsOf(kPage), LinkDrop::kEmpty), 1U);
  EXPECT_EQ(Dropped(CountsOf(kPage), LinkDrop::kData), 2U);
}

TEST(HtmlLinks, AreBoundedInNumberAndLength) {
  HtmlOptions options;
  options.max_links = 2;
  options.max_link_bytes = 5;
  options.max_tag_bytes = 64;
  std::string page =
      "<a href=123456><img srcset='123456 1x'><a href=1>"
      "<a href=2><a href=3><base href=123456><a class=" +
      std::string(64, 'x') + " href=4>";
  ExpectLinks(page, {"a.href 1", "a.href 2"}, options);
  HtmlCounts counts = CountsOf(page, options);
  EXPECT_EQ(counts.links, 2U);
  EXPECT_EQ(Dropped(counts, LinkDrop::kTooLong), 3U);
  EXPECT_EQ(Dropped(counts, LinkDrop::kTooMany), 1U);
  EXPECT_GE(counts.cut_tags, 1U);
}

// A page of windows-1252 in which only one letter is not ASCII.
class Latin final : public Transcoder {
 public:
  void AppendUtf8(std::string_view raw, std::string* out) override {
    for (char c : raw) {
      if (c == '\xe9') {
        out->append("\xc3\xa9");
      } else {
        out->push_back(c);
      }
    }
  }
};

TEST(HtmlLinks, AreTranscodedBeforeReferencesAreResolved) {
  PageLinks links;
  HtmlOptions options;
  options.text = true;
  HtmlReader reader(options, &links);
  Latin latin;
  for (const Pieces& pieces : EveryCutting()) {
    links.Clear();
    reader.Begin(&latin);
    pieces.FeedTo(
        "<title>\xe9&eacute;</title><a href='\xe9&eacute;&amp;'>"
        "caf\xe9 &eacute;<b>t\xe9</b>",
        &reader);
    ASSERT_EQ(links.size(), 1U);
    EXPECT_EQ(links[0].value, "\xc3\xa9\xc3\xa9&");
    EXPECT_EQ(reader.title(), "\xc3\xa9\xc3\xa9") << pieces.name();
    EXPECT_EQ(reader.text(), "caf\xc3\xa9 \xc3\xa9t\xc3\xa9") << pieces.name();
  }
}

TEST(HtmlLinks, TextThatIsTranscodedIsNotHeldForEver) {
  PageLinks links;
  HtmlOptions options;
  options.text = true;
  HtmlReader reader(options, &links);
  Latin latin;
  std::string page;
  std::string want;
  for (int i = 0; i < 50000; ++i) {
    page += "\xe9t\xe9 ";
    want += "\xc3\xa9t\xc3\xa9 ";
  }
  want.pop_back();
  for (const Pieces& pieces : {Pieces::Whole(), Pieces::Of(3)}) {
    reader.Begin(&latin);
    pieces.FeedTo(page, &reader);
    EXPECT_EQ(reader.text(), want) << pieces.name();
  }
}

std::string BaseOf(std::string_view html) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  Pieces::Of(2).FeedTo(html, &reader);
  url::Url page;
  url::Url base;
  EXPECT_TRUE(url::Parse("http://h/dir/page", nullptr, &page));
  links.BaseUrl(page, &base);
  return std::string(base.href());
}

TEST(HtmlLinks, TheFirstBaseHolds) {
  EXPECT_EQ(BaseOf("<a href=x><base target=t><base href=' ../b/ '>"
                   "<base href=/c/>"),
            "http://h/b/");
  EXPECT_EQ(BaseOf("<template><base href=/t></template><svg><base href=/s>"
                   "</svg>"),
            "http://h/dir/page");
  EXPECT_EQ(BaseOf("<base href='http://[/'>"), "http://h/dir/page");
  EXPECT_EQ(BaseOf("<base href='data:x'><base href=/b>"), "http://h/dir/page");
}

TEST(HtmlLinks, HandOutMetaElements) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  Pieces::Of(1).FeedTo(
      "<META NAME=Robots CONTENT='noindex&#44;nofollow'><meta charset=utf-8>"
      "<meta http-equiv=Content-Type content='text/html; charset=x'>"
      "<meta name=empty><template><meta name=t content=u></template>",
      &reader);
  ASSERT_EQ(links.metas(), 3U);
  EXPECT_EQ(links.meta(0).name, "Robots");
  EXPECT_EQ(links.meta(0).content, "noindex,nofollow");
  EXPECT_EQ(links.meta(1).charset, "utf-8");
  EXPECT_EQ(links.meta(2).http_equiv, "Content-Type");
  EXPECT_EQ(links.meta(2).content, "text/html; charset=x");
}

TEST(HtmlLinks, KeepsABoundedNumberOfMetaElements) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  std::string page;
  for (int i = 0; i < 300; ++i) page += "<meta name=a content=b>";
  page += "<meta name=robots content='noindex" + std::string(5000, ' ') + "'>";
  reader.Feed(page);
  reader.Finish();
  ASSERT_EQ(links.metas(), 301U);
  EXPECT_EQ(links.meta(300).content.size(), PageLinks::kLongestMeta);
  EXPECT_TRUE(links.meta(300).content.starts_with("noindex"));
  EXPECT_EQ(links.dropped_metas(), 0U);
  for (int i = 0; i < 20'000; ++i) reader.Feed("<meta name=a content=b>");
  EXPECT_GT(links.dropped_metas(), 0U);
  EXPECT_LT(links.metas(), 20'000U);
}

TEST(HtmlLinks, BoundsTheRelOfLinksInASrcset) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  reader.Feed("<link rel='icon " + std::string(100'000, 'x') +
              "' imagesrcset='a, b, c'>");
  reader.Finish();
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[0].rel, "icon");
  EXPECT_EQ(links[0].rel.data(), links[2].rel.data());
}

TEST(HtmlLinks, DropsRelativeLinksOnABaseThatIsTooLong) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  reader.Feed("<base href='http://b/" + std::string(9000, 'x') +
              "'><a href=y><a href='http://c/'><a href='?a:b'>");
  reader.Finish();
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].value, "http://c/");
}

TEST(HtmlLinks, TakesNoDataForALinkHoweverItIsWritten) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  reader.Feed("<img src='&#100;ata:x'><img src=' DATA:y'><img src=z>");
  reader.Finish();
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].value, "z");
}

TEST(HtmlLinks, ATemplateOfSvgIsNone) {
  PageLinks links;
  HtmlReader reader({}, &links);
  reader.Begin();
  reader.Feed(
      "<template><svg><template></template></svg><a href=inert></template>"
      "<a href=live>");
  reader.Finish();
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].value, "live");
}

TEST(HtmlLinks, PagesDoNotReachIntoEachOther) {
  PageLinks links;
  HtmlOptions options;
  options.text = true;
  HtmlReader reader(options, &links);
  for (std::string_view unfinished :
       {"<svg><template><base href=x><title>t<a href=", "<script><!--<script>",
        "<!--", "<![CDATA[", "a &am", "<template>", "<plaintext>"}) {
    links.Clear();
    reader.Begin();
    reader.Feed(unfinished);
    reader.Finish();
    links.Clear();
    reader.Begin();
    reader.Feed("<title>x</title>p; <a href=1>");
    reader.Finish();
    ASSERT_EQ(links.size(), 1U) << unfinished;
    EXPECT_EQ(links[0].value, "1");
    EXPECT_EQ(reader.title(), "x");
    EXPECT_EQ(reader.text(), "p;");
    EXPECT_EQ(reader.counts().links, 1U);
  }
}

}  // namespace
}  // namespace nephila::parse
