#include "parse/html_text.h"

#include <gtest/gtest.h>

#include <string>

#include "parse/html_links.h"
#include "parse/page_links.h"
#include "parse/pieces_testing.h"

namespace nephila::parse {
namespace {

struct Page {
  std::string title;
  std::string text;
  HtmlCounts counts;
};

Page Read(std::string_view html, const Pieces& pieces,
          HtmlOptions options = {}) {
  options.text = true;
  PageLinks links;
  HtmlReader reader(options, &links);
  reader.Begin();
  pieces.FeedTo(html, &reader);
  return {std::string(reader.title()), std::string(reader.text()),
          reader.counts()};
}

void ExpectText(std::string_view html, std::string_view want) {
  for (const Pieces& pieces : EveryCutting()) {
    EXPECT_EQ(Read(html, pieces).text, want) << pieces.name();
  }
}

TEST(HtmlText, IsWhatAReaderSees) {
  ExpectText(
      "<html><head><title>t</title><style>s</style></head><body>"
      "<h1>One</h1><p>two  <b>thr</b>ee\r\n four<br>five<!-- c -->x"
      "<script>no</script><noscript>yes</noscript>"
      "<ul><li>a<li>b</ul>&lt;c&gt;&nbsp;d<textarea>no</textarea>"
      "<template>no</template><svg><style>no</style><text>g</text></svg>"
      "<iframe>no</iframe><xmp><i></xmp>",
      "One\ntwo three four\nfivexyes\na\nb\n<c> d\ng\n<i>");
}

TEST(HtmlText, ResolvesReferencesAcrossPiecesButNotAcrossComments) {
  ExpectText("a&am<!-- -->p;b &amp;c &#x4&#49; &notit;",
             "a&amp;b &c \x04"
             "1 \xc2\xac"
             "it;");
}

TEST(HtmlText, TakesTheFirstTitleOfThePage) {
  for (const Pieces& pieces : EveryCutting()) {
    Page page = Read(
        "<svg><title>svg</title></svg><template><title>t</title></template>"
        "<title> A &amp;\n<b> </title><title>second</title>",
        pieces);
    EXPECT_EQ(page.title, "A & <b>") << pieces.name();
  }
}

TEST(HtmlText, LeavesOutLongStringsWithoutASpace) {
  std::string thirty(30, 'x');
  std::string long_one(31, 'y');
  Page page = Read("<p>a " + thirty + " " + long_one + " b<i>" +
                       std::string(20, 'z') + "</i>" + std::string(20, 'z') +
                       " c " + std::string(100000, 'w') + " d",
                   Pieces::Of(5));
  EXPECT_EQ(page.text, "a " + thirty + " c d");
  EXPECT_EQ(page.counts.long_words, 3U);
}

TEST(HtmlText, CountsCharactersNotBytesAndSparesScriptsWithoutSpaces) {
  std::string umlauts;
  for (int i = 0; i < 30; ++i) umlauts += "\xc3\xa4";
  std::string han;
  for (int i = 0; i < 5000; ++i) han += "\xe4\xb8\xad";
  ExpectText(umlauts, umlauts);
  ExpectText(umlauts + "\xc3\xa4", "");
  ExpectText(han, han);
  std::string mixed = "\xe4\xb8\xad" + std::string(31, 'x');
  ExpectText(mixed, "\xe4\xb8\xad");
  ExpectText(mixed + mixed + "\xe4\xb8\xad" + "y",
             "\xe4\xb8\xad \xe4\xb8\xad \xe4\xb8\xad"
             "y");
  // Spaces that are no ASCII, also where a piece ends.
  std::string twenty(20, 'x');
  ExpectText(twenty + "\xe2\x80\x83" + twenty,
             twenty + "\xe2\x80\x83" + twenty);
  ExpectText(twenty + "\xc2\xa0" + twenty, twenty + " " + twenty);
}

TEST(HtmlText, JudgesLongWordsAtTheSamePlacesHoweverTheyAreCut) {
  std::string han;
  for (int i = 0; i < 3000; ++i) han += "\xe4\xb8\xad";
  std::string page = han + std::string(31, 'x') + " a " + han + "b " +
                     std::string(5000, '\x80') + " c " + han +
                     std::string(9000, 'z') + han + std::string(20, 'z');
  Page whole = Read(page, Pieces::Whole());
  EXPECT_EQ(whole.counts.long_words, 3U);
  EXPECT_TRUE(whole.text.starts_with(han + " a " + han + "b "));
  EXPECT_TRUE(
      whole.text.ends_with(" c " + han + " " + han + std::string(20, 'z')));
  for (const Pieces& pieces : EveryCutting()) {
    EXPECT_EQ(Read(page, pieces).text, whole.text) << pieces.name();
  }
}

TEST(HtmlText, IsBounded) {
  HtmlOptions options;
  options.max_text_bytes = 10;
  options.max_title_bytes = 5;
  for (const Pieces& pieces : EveryCutting()) {
    Page page = Read("<title>ab cde</title>one two \xc3\xa4\xc3\xa4 three",
                     pieces, options);
    EXPECT_EQ(page.title, "ab cd") << pieces.name();
    EXPECT_EQ(page.text, "one two \xc3\xa4") << pieces.name();
    EXPECT_TRUE(page.counts.text_cut);
  }
}

}  // namespace
}  // namespace nephila::parse
