#include "parse/link_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::parse {
namespace {

std::vector<HeaderLink> Read(std::string_view value) {
  std::vector<HeaderLink> links;
  LinkHeaderReader reader(value);
  for (HeaderLink link; reader.Next(&link);) links.push_back(link);
  return links;
}

TEST(LinkHeader, ReadsTheExamplesOfTheRfc) {
  auto links = Read(
      "<http://example.com/TheBook/chapter2>; rel=\"previous\"; "
      "title=\"previous chapter\"");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].target, "http://example.com/TheBook/chapter2");
  EXPECT_EQ(links[0].rel, "previous");
  EXPECT_FALSE(links[0].has_anchor);

  links = Read("</>; rel=\"http://example.net/foo\"");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].target, "/");
  EXPECT_EQ(links[0].rel, "http://example.net/foo");

  links = Read("</terms>; rel=\"copyright\"; anchor=\"#foo\"");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].anchor, "#foo");
  EXPECT_TRUE(links[0].has_anchor);

  links = Read(
      "</TheBook/chapter2>; rel=\"previous\"; "
      "title*=UTF-8'de'letztes%20Kapitel, "
      "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20K");
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].rel, "previous");
  EXPECT_EQ(links[1].target, "/TheBook/chapter4");
  EXPECT_EQ(links[1].rel, "next");

  links = Read(
      "<http://example.org/>; rel=\"start http://example.net/relation/other\"");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_TRUE(links[0].HasRel("start"));
  EXPECT_TRUE(links[0].HasRel("http://example.net/relation/other"));
  EXPECT_FALSE(links[0].HasRel("star"));

  links = Read(
      "<https://example.org/>; rel=\"start\", "
      "<https://example.org/index>; rel=\"index\"");
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[1].rel, "index");
}

TEST(LinkHeader, ReadsWhatAPreloadSays) {
  auto links = Read(
      "</a.css>; rel=preload; as=style; media=\"(min-width: 9em), print\"; "
      "type=text/css; hreflang=en ; crossorigin");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].rel, "preload");
  EXPECT_EQ(links[0].as, "style");
  EXPECT_EQ(links[0].media, "(min-width: 9em), print");
  EXPECT_EQ(links[0].type, "text/css");
  EXPECT_EQ(links[0].hreflang, "en");
}

TEST(LinkHeader, KeepsCommasAndSemicolonsInTargetsAndQuotes) {
  auto links = Read("<a,b;c>; title=\"x, <y>; rel=z\"; rel=next,<d>;rel=prev");
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].target, "a,b;c");
  EXPECT_EQ(links[0].rel, "next");
  EXPECT_EQ(links[1].target, "d");
  EXPECT_EQ(links[1].rel, "prev");
}

TEST(LinkHeader, UndoesEscapesOfQuotedStrings) {
  auto links = Read(R"(<a>; anchor="x\"y\\z"; rel="ne\xt")");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].anchor, "x\"y\\z");
  EXPECT_EQ(links[0].rel, "next");
}

TEST(LinkHeader, TakesTheFirstParameterOfAName) {
  auto links = Read("<a>; rel=next; REL=prev; anchor=; anchor=x");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].rel, "next");
  EXPECT_EQ(links[0].anchor, "");
  EXPECT_TRUE(links[0].has_anchor);
}

TEST(LinkHeader, NormalisesRelations) {
  auto links = Read("<a>; REL = \"  Next\t CANONICAL \"");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].rel, "next canonical");
}

TEST(LinkHeader, PassesOverWhatIsNoLink) {
  auto links = Read(",, , junk; rel=\"a,b\", <a>;rel=next garbage, <b> x, <c>");
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].target, "a");
  EXPECT_EQ(links[0].rel, "next garbage");
  EXPECT_EQ(links[1].target, "b");
  EXPECT_EQ(links[2].target, "c");
  EXPECT_EQ(links[2].rel, "");
}

TEST(LinkHeader, SurvivesCutOffValues) {
  EXPECT_TRUE(Read("").empty());
  EXPECT_TRUE(Read("<a").empty());
  EXPECT_EQ(Read("<>").size(), 1u);
  for (std::string_view value :
       {"<a>;", "<a>; rel", "<a>; rel=", "<a>; rel=\"", "<a>; rel=\"x\\"}) {
    auto links = Read(value);
    ASSERT_EQ(links.size(), 1u) << value;
    EXPECT_EQ(links[0].target, "a");
  }
  EXPECT_EQ(Read("<a>; rel=\"next, <b>")[0].rel, "next, <b>");
}

TEST(LinkHeader, ForgetsTheLinkBefore) {
  auto links = Read("<a>; rel=next; anchor=x; type=y, <b>");
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[1].rel, "");
  EXPECT_EQ(links[1].type, "");
  EXPECT_FALSE(links[1].has_anchor);
}

}  // namespace
}  // namespace nephila::parse
