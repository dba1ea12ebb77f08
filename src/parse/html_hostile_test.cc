// Pages made to hurt: an answer, in time that grows with their length, in
// memory that does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/cpu_time.h"
#include "parse/html_links.h"

namespace nephila::parse {
namespace {

class Ignore final : public HtmlHandler {
 public:
  void OnLink(const HtmlLink& /*link*/) override {}
  void OnBase(std::string_view /*value*/) override {}
  void OnMeta(const HtmlMeta& /*meta*/) override {}
};

struct Hostile {
  std::string_view begin;
  std::string_view repeated;
  std::string_view end;
};

std::string PageOf(const Hostile& hostile, size_t bytes) {
  std::string page(hostile.begin);
  while (page.size() < bytes) page += hostile.repeated;
  return page.append(hostile.end);
}

double SecondsFor(std::string_view page, size_t piece) {
  Ignore handler;
  HtmlOptions options;
  options.text = true;
  HtmlReader reader(options, &handler);
  double begin = ThreadCpuSeconds();
  reader.Begin();
  while (!page.empty()) {
    reader.Feed(page.substr(0, piece));
    page.remove_prefix(std::min(piece, page.size()));
  }
  reader.Finish();
  return ThreadCpuSeconds() - begin;
}

const std::vector<Hostile>& Cases() {
  static const std::vector<Hostile> kCases = {
      {"", "<", ""},
      {"", "</", ""},
      {"", "<a", ""},
      {"", "<a href=x>", ""},
      {"<a ", "b ", ">"},
      {"<a ", "href=x ", ">"},
      {"<a href='", "&", "'>"},
      {"<a href='", "&amp", "'>"},
      {"<img srcset='", "a,", "'>"},
      {"<img srcset='", "a (", "'>"},
      {"<a rel='", "x ", "' href=y>"},
      {"<!--", "-", ""},
      {"<!--", "--!", ""},
      {"", "<!--", ""},
      {"", "<!", ""},
      {"", "<!DOCTYPE>", ""},
      {"<script>", "</scrip", ""},
      {"<script><!--", "<script ", ""},
      {"<script><!--<script>", "</script ", ""},
      {"<title>", "</titl", ""},
      {"<svg><![CDATA[", "]", ""},
      {"", "<svg>", ""},
      {"<svg>", "<g>", "</svg>"},
      {"<svg>", "<x></y>", ""},
      {"<svg><title>", "<b></i>", ""},
      {"", "<template>", ""},
      {"", "<math><mi><svg><desc>", ""},
      {"", "&", ""},
      {"&#", "0", ""},
      {"&", "a", ""},
      {"", "x", ""},
      {"", "\xe4\xb8\xad", ""},
      {"", "\r", ""},
      {"<meta http-equiv=refresh content='0;", "u", "'>"},
      {"<meta name=x content='", "x", "'>"},
  };
  return kCases;
}

// Sixteen times the page may take 16 times as long, and not 256 times; the
// bound lies in the middle on a log scale.
TEST(HtmlHostile, TimeGrowsWithTheLength) {
  constexpr size_t kSmall = 8000;
  for (const Hostile& hostile : Cases()) {
    std::string small = PageOf(hostile, kSmall);
    std::string large = PageOf(hostile, 16 * kSmall);
    for (size_t piece : {large.size(), size_t{7}}) {
      double small_time = 1;
      double large_time = 1e9;
      for (int i = 0; i < 3; ++i) {
        small_time = std::min(small_time, SecondsFor(small, piece));
        large_time = std::min(large_time, SecondsFor(large, piece));
      }
      EXPECT_LT(large_time, 64 * std::max(small_time, 50e-6))
          << hostile.begin << hostile.repeated << " in pieces of " << piece;
    }
  }
}

}  // namespace
}  // namespace nephila::parse
