#include "bench/html_corpus.h"

#include <gtest/gtest.h>

#include <sstream>

#include "bench/bench_links.h"
#include "bench/link_parsers.h"

namespace nephila::bench {
namespace {

// A member of a tar archive: its header and its contents in whole blocks.
std::string Member(std::string name, char type, std::string body) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  std::ostringstream size;
  size << std::oct << body.size();
  header.replace(124, size.str().size(), size.str());
  header[156] = type;
  body.resize((body.size() + 511) / 512 * 512);
  return header + body;
}

TEST(HtmlCorpus, ReadsTarWithLongNames) {
  std::string long_name(120, 'n');
  auto files = ReadTar(Member("a/b.html", '0', "<a>") +
                       Member("././@LongLink", 'L', long_name) +
                       Member("nnn", '0', std::string(600, 'x')) +
                       Member("dir", '5', "") + std::string(1024, '\0'));
  ASSERT_TRUE(files.has_value());
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].path, "a/b.html");
  EXPECT_EQ((*files)[0].bytes, "<a>");
  EXPECT_EQ((*files)[1].path, long_name);
  EXPECT_EQ((*files)[1].bytes, std::string(600, 'x'));
}

TEST(HtmlCorpus, RefusesTarThatIsCut) {
  std::string tar = Member("a", '0', std::string(600, 'x'));
  EXPECT_FALSE(ReadTar(std::string_view(tar).substr(0, 1024)).has_value());
}

TEST(BenchLinks, EveryParserFindsTheLinksOfMadeUpPages) {
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  HtmlCorpus corpus = GenerateHtml(3, 1);
  for (const auto& parser : MakeLinkParsers(*setup)) {
    uint64_t links = 0;
    for (const HtmlFile& page : corpus.pages) links += parser->Parse(page);
    EXPECT_EQ(links, 300U) << parser->name();
  }
}

}  // namespace
}  // namespace nephila::bench
