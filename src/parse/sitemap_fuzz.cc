// Whatever bytes come as a sitemap: links within their bounds, the same in
// chunks as whole, and all that was found is out or counted as dropped.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "parse/sitemap.h"

namespace nephila::parse {
namespace {

class Links : public SitemapSink {
 public:
  void OnLink(const SitemapLink& link) override {
    NEPHILA_CHECK(!link.url.empty());
    NEPHILA_CHECK(IsUtf8(link.url));
    text.append(SitemapLinkKindName(link.kind)).append(" ").append(link.url);
    text.append(" ").append(link.lastmod).append("\n");
    ++count;
  }
  std::string text;
  uint64_t count = 0;
};

SitemapReport Read(std::string_view bytes, size_t chunk,
                   const config::ParseSettings& settings, Links* links) {
  SitemapReader reader(settings, "", links);
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    if (!reader.Feed(bytes.substr(at, chunk))) break;
  }
  SitemapReport report = reader.Finish();
  NEPHILA_CHECK(report.links == links->count);
  return report;
}

}  // namespace
}  // namespace nephila::parse

// The first byte chooses the settings and the chunks.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::parse;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  nephila::config::ParseSettings settings;
  settings.sitemap_media = (data[0] & 1) != 0;
  if ((data[0] & 2) != 0) settings.sitemap_max_urls = 2;
  if ((data[0] & 4) != 0) settings.sitemap_max_url_length_bytes = 64;
  if ((data[0] & 8) != 0) settings.xml_max_depth = 4;
  settings.sitemap_max_size_bytes = (data[0] & 16) != 0 ? 1024 : 1 << 20;
  Links whole;
  Links pieces;
  SitemapReport a = Read(bytes, size, settings, &whole);
  SitemapReport b = Read(bytes, 1 + (data[0] >> 5), settings, &pieces);
  // How much comes out of damaged gzip before the damage is noticed depends on
  // the pieces.
  bool damaged = a.outcome == SitemapOutcome::kBroken ||
                 b.outcome == SitemapOutcome::kBroken;
  if (damaged && bytes.starts_with("\x1f\x8b")) return 0;
  NEPHILA_CHECK(whole.text == pieces.text);
  NEPHILA_CHECK(a.outcome == b.outcome);
  NEPHILA_CHECK(a.dropped == b.dropped);
  return 0;
}
