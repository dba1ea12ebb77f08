// Input made to hurt the readers of headers, attributes, encodings and
// sitemaps: an answer, and in time that grows with its length.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu_time.h"
#include "parse/charset.h"
#include "parse/decoder.h"
#include "parse/link_header.h"
#include "parse/meta_refresh.h"
#include "parse/mime_type.h"
#include "parse/prescan.h"
#include "parse/query_encoder.h"
#include "parse/sitemap.h"
#include "parse/sniff.h"
#include "parse/srcset.h"

namespace nephila::parse {
namespace {

using Reader = std::function<void(const std::string&)>;

class NoLinks : public SitemapSink {
 public:
  void OnLink(const SitemapLink&) override {}
};

void ReadSitemap(const std::string& text, size_t chunk) {
  NoLinks sink;
  SitemapReader reader({}, "", &sink);
  for (size_t at = 0; at < text.size(); at += chunk) {
    if (!reader.Feed(std::string_view(text).substr(at, chunk))) break;
  }
  reader.Finish();
}

std::vector<std::pair<std::string, Reader>> Readers() {
  std::vector<std::pair<std::string, Reader>> readers = {
      {"srcset",
       [](const std::string& text) {
         SrcsetReader reader(text);
         for (SrcsetCandidate c; reader.Next(&c);) {
         }
       }},
      {"link header",
       [](const std::string& text) {
         LinkHeaderReader reader(text);
         for (HeaderLink link; reader.Next(&link);) link.HasRel("next");
       }},
      {"refresh", [](const std::string& text) { ParseRefresh(text); }},
      {"content",
       [](const std::string& text) { EncodingFromMetaContent(text); }},
      {"mime type",
       [](const std::string& text) {
         std::array<std::string_view, 2> headers = {text, text};
         ExtractMimeType(headers);
       }},
      {"charset", [](const std::string& text) { DecideCharset(text, {}); }},
      {"sniff", [](const std::string& text) { Sniff({}, text, {}); }},
      {"sitemap",
       [](const std::string& text) {
         ReadSitemap("<urlset><url><loc>" + text, size_t{1} << 16);
       }},
      {"sitemap in bytes",
       [](const std::string& text) { ReadSitemap("<urlset>" + text, 1); }},
      {"text sitemap",
       [](const std::string& text) { ReadSitemap("http://a" + text, 100); }},
  };
  for (Encoding encoding : {Encoding::kUtf8, Encoding::kGb18030,
                            Encoding::kIso2022Jp, Encoding::kUtf16Le}) {
    readers.emplace_back(EncodingName(encoding),
                         [encoding](const std::string& text) {
                           DecodeToUtf8(encoding, text);
                           std::string out;
                           LegacyQueryEncoder(encoding).Append(text, &out);
                         });
  }
  return readers;
}

double SecondsFor(const Reader& reader, const std::string& text) {
  double best = 1e9;
  for (int i = 0; i < 2; ++i) {
    double begin = ThreadCpuSeconds();
    reader(text);
    best = std::min(best, ThreadCpuSeconds() - begin);
  }
  return best;
}

// Sixteen times the text may take 16 times as long, and not 256 times.
TEST(ContentHostile, TimeGrowsWithTheLength) {
  constexpr size_t kSmall = 3000;
  auto repeat = [](std::string_view piece, size_t size) {
    std::string text;
    text.reserve(size + piece.size());
    while (text.size() < size) text += piece;
    return text;
  };
  for (const auto& [name, reader] : Readers()) {
    for (std::string_view piece :
         {",",         " ",           "(",
          "a ",        "a,",          "1w ",
          "<",         "<a",          "<a>",
          "</a>",      "<a><",        "<a,",
          "\"",        "\\\"",        ";",
          ";a=\"",     "; rel=a",     "=",
          "&",         "&#",          "&a;",
          "charset ",  "charset=",    "<!--",
          "<![CDATA[", "]]",          "-",
          "<?",        "<!a[",        "\xff",
          "\x81\x30",  "\x1b$",       "\x1b$B",
          "\xe2\x82",  "\n",          "9",
          "a/b,",      "<url><loc>x", "<meta charset"}) {
      double small = SecondsFor(reader, repeat(piece, kSmall));
      double large = SecondsFor(reader, repeat(piece, 16 * kSmall));
      EXPECT_LT(large, 64 * std::max(small, 50e-6)) << name << ' ' << piece;
    }
  }
}

}  // namespace
}  // namespace nephila::parse
