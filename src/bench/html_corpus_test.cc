#include "bench/html_corpus.h"

#include <gtest/gtest.h>

#include "bench/bench_links.h"
#include "bench/link_parsers.h"

namespace nephila::bench {
namespace {

TEST(BenchLinks, EveryParserFindsTheLinksOfMadeUpPages) {
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  HtmlCorpus corpus = GenerateHtml(3, 1);
  uint64_t expected = 0;
  for (const HtmlFile& page : corpus.pages) {
    for (size_t at = 0; (at = page.bytes.find("<a ", at)) != std::string::npos;
         ++at) {
      ++expected;
    }
  }
  EXPECT_GE(expected, 30U);
  for (const auto& parser : MakeLinkParsers(*setup)) {
    uint64_t links = 0;
    for (const HtmlFile& page : corpus.pages) links += parser->Parse(page);
    EXPECT_EQ(links, expected) << parser->name();
  }
}

}  // namespace
}  // namespace nephila::bench
