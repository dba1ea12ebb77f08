#include "item/robots_directives.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::item {
namespace {

RobotsDirectives Header(std::string_view value) {
  return ReadXRobotsTag(value, "nephila");
}

RobotsDirectives Meta(std::string_view name, std::string_view content) {
  return ReadMetaRobots(name, content, "nephila/1.0");
}

// "if": noindex and nofollow; "-": neither.
std::string Says(const RobotsDirectives& directives) {
  std::string text = directives.noindex ? "i" : "";
  if (directives.nofollow) text += 'f';
  return text.empty() ? "-" : text;
}

TEST(RobotsDirectives, WordsInAnyCaseWithCommasOrBlanks) {
  EXPECT_EQ(Says(Header("noindex")), "i");
  EXPECT_EQ(Says(Header(" NoFollow ")), "f");
  EXPECT_EQ(Says(Header("NOINDEX,NOFOLLOW")), "if");
  EXPECT_EQ(Says(Header("none")), "if");
  EXPECT_EQ(Says(Header("all")), "-");
  EXPECT_EQ(Says(Header("index, follow")), "-");
  EXPECT_EQ(Says(Header("")), "-");
  EXPECT_EQ(Says(Header(",,, ,")), "-");
  EXPECT_EQ(Says(Header("noindex nofollow")), "if");
  EXPECT_EQ(Says(Header("noindex;nofollow;")), "if");
  EXPECT_EQ(Says(Header("noindexed, xnofollow")), "-");
}

TEST(RobotsDirectives, TheStrictestHolds) {
  EXPECT_EQ(Says(Header("noindex, index, all")), "i");
  RobotsDirectives both = Header("noindex");
  both.Add(Header("nofollow, x"));
  EXPECT_EQ(Says(both), "if");
  EXPECT_EQ(both.known, 2u);
  EXPECT_EQ(both.unknown, 1u);
}

TEST(RobotsDirectives, NamesBeforeAColonChooseTheCrawler) {
  EXPECT_EQ(Says(Header("nephila: noindex")), "i");
  EXPECT_EQ(Says(Header("Nephila : noindex, nofollow")), "if");
  EXPECT_EQ(Says(Header("otherbot: noindex, nofollow")), "-");
  EXPECT_EQ(Says(Header("otherbot: noindex, nephila: nofollow")), "f");
  EXPECT_EQ(Says(Header("nofollow, otherbot: noindex")), "f");
  EXPECT_EQ(Says(Header("*: noindex")), "i");
  EXPECT_EQ(Says(Header("robots: noindex")), "i");
  EXPECT_EQ(Says(Header("nephila/2.0: noindex")), "i");
  EXPECT_EQ(Says(Header("neph: noindex")), "-");
  EXPECT_EQ(Says(Header(": noindex")), "-");
  EXPECT_EQ(Says(ReadXRobotsTag("a: noindex", "")), "-");
}

TEST(RobotsDirectives, DirectivesWithValuesAreNoNames) {
  RobotsDirectives seen = Header(
      "unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, max-snippet:-1, "
      "noindex, max-image-preview:large");
  EXPECT_EQ(Says(seen), "i");
  EXPECT_EQ(seen.known, 4u);
  EXPECT_EQ(seen.unknown, 0u);
  seen = Header("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, none");
  EXPECT_EQ(Says(seen), "-");
  EXPECT_EQ(seen.known, 0u);
  seen = Header("nephila: max-snippet: 5, none");
  EXPECT_EQ(Says(seen), "if");
  EXPECT_EQ(seen.known, 2u);
}

TEST(RobotsDirectives, BlanksInPlaceOfCommasLoseNothing) {
  EXPECT_EQ(Says(Meta("robots", "max-snippet:-1 noindex")), "i");
  EXPECT_EQ(Says(Meta("robots", "max-snippet: -1; noindex")), "i");
  EXPECT_EQ(Says(Header("noindex max-image-preview:large")), "i");
  EXPECT_EQ(Says(Header("noindex max-image-preview:large, nofollow")), "if");
  EXPECT_EQ(Says(Header("otherbot: noindex nofollow")), "-");
}

TEST(RobotsDirectives, WordsForUsAreCounted) {
  RobotsDirectives seen = Header("noarchive, NOODP, nonsense, noindex");
  EXPECT_EQ(seen.known, 3u);
  EXPECT_EQ(seen.unknown, 1u);
  EXPECT_EQ(Header("otherbot: nonsense").unknown, 0u);
}

TEST(RobotsDirectives, MetaElementsAreForAllOrForOurName) {
  EXPECT_EQ(Says(Meta("robots", "noindex")), "i");
  EXPECT_EQ(Says(Meta(" ROBOTS ", "none")), "if");
  EXPECT_EQ(Says(Meta("nephila", "nofollow")), "f");
  EXPECT_EQ(Says(Meta("googlebot", "noindex")), "-");
  EXPECT_EQ(Says(Meta("", "noindex")), "-");
  EXPECT_EQ(Says(ReadMetaRobots("", "noindex", "")), "-");
  // A meta element's name chooses the crawler, not its content.
  EXPECT_EQ(Says(Meta("robots", "otherbot: x, noindex")), "i");
  EXPECT_TRUE(IsMetaRobots("Nephila", "nephila"));
  EXPECT_FALSE(IsMetaRobots("description", "nephila"));
}

TEST(RobotsDirectives, SettingsDecideWhatIsObeyed) {
  config::RobotsSettings settings;
  RobotsDirectives noindex = Header("noindex");
  RobotsDirectives nofollow = Header("nofollow");
  EXPECT_EQ(UseOfPage(noindex, nofollow, settings), (PageUse{false, false}));
  EXPECT_EQ(UseOfPage({}, {}, settings), (PageUse{true, true}));
  settings.obey_x_robots_tag = false;
  EXPECT_EQ(UseOfPage(noindex, nofollow, settings), (PageUse{true, false}));
  settings.obey_meta = false;
  EXPECT_EQ(UseOfPage(noindex, nofollow, settings), (PageUse{true, true}));
}

TEST(RobotsDirectives, RelNofollowIsASettingAndOffUnlessAskedFor) {
  config::RobotsSettings settings;
  EXPECT_TRUE(TakesLink("nofollow", settings));
  settings.obey_rel_nofollow = true;
  EXPECT_FALSE(TakesLink("nofollow", settings));
  EXPECT_FALSE(TakesLink("external\tNoFollow ugc", settings));
  EXPECT_TRUE(TakesLink("", settings));
  EXPECT_TRUE(TakesLink("nofollows  follow", settings));
}

TEST(RobotsDirectives, AnyBytesAreRead) {
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  EXPECT_EQ(Says(Header(text)), "-");
  EXPECT_EQ(Says(Header(text + ",noindex")), "-");  // behind a name, its ':'
  EXPECT_EQ(Says(Meta("robots", text + ",noindex")), "i");
  EXPECT_EQ(Header(std::string(100000, ',') + "none").known, 1u);
  EXPECT_EQ(Header(std::string(100000, ':')).known, 0u);
}

}  // namespace
}  // namespace nephila::item
