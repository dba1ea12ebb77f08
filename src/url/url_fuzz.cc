// Whatever bytes come in: what is parsed parses again to the same, its parts
// make up the whole, and what is normalised is at rest.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "url/canonicalizer.h"
#include "url/parser.h"

namespace nephila::url {
namespace {

void CheckParts(const Url& url) {
  std::string text(url.scheme());
  text += ':';
  if (url.host_kind() != HostKind::kNone) {
    text += "//";
    if (url.has_userinfo()) {
      text += url.username();
      if (!url.password().empty()) text.append(":").append(url.password());
      text += '@';
    }
    text += url.host();
    if (!url.port().empty()) text.append(":").append(url.port());
  } else if (!url.has_opaque_path() && url.path().starts_with("//")) {
    text += "/.";
  }
  text += url.path();
  if (url.has_query()) text.append("?").append(url.query());
  if (url.has_fragment()) text.append("#").append(url.fragment());
  NEPHILA_CHECK(text == url.href());
}

void CheckParsing(std::string_view input, const Url* base, Url* url) {
  if (!Parse(input, base, url)) return;
  CheckParts(*url);
  Url again;
  NEPHILA_CHECK(Parse(url->href(), nullptr, &again).has_value());
  NEPHILA_CHECK(again.href() == url->href());
  NEPHILA_CHECK(again.host() == url->host());
  NEPHILA_CHECK(again.path() == url->path());
  NEPHILA_CHECK(again.host_kind() == url->host_kind());
}

void CheckCanonical(std::string_view input, const Url* base,
                    Canonicalizer* canonicalizer) {
  auto canonical = canonicalizer->Canonicalize(input, base);
  if (!canonical) return;
  std::string href(canonical->href);
  Keys keys = canonical->keys;
  auto again = canonicalizer->Canonicalize(href, nullptr);
  NEPHILA_CHECK(again.has_value());
  NEPHILA_CHECK(again->href == href);
  NEPHILA_CHECK(again->keys == keys);
  NEPHILA_CHECK(again->host.ends_with(again->pld));
}

config::UrlSettings SettingsOf(uint8_t bits) {
  config::UrlSettings settings;
  settings.decode_unreserved = (bits & 1) != 0;
  settings.escape_unsafe = (bits & 2) != 0;
  settings.sort_query = (bits & 4) != 0;
  settings.drop_empty_params = (bits & 8) != 0;
  settings.collapse_slashes = (bits & 16) != 0;
  settings.www = static_cast<config::WwwMode>((bits >> 5) % 3);
  if ((bits & 128) != 0) settings.strip_query = {"a*", "b"};
  return settings;
}

}  // namespace
}  // namespace nephila::url

// The first byte chooses the rules, the first line is a base, the rest a link.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::url;  // NOLINT(google-build-using-namespace)
  static const PublicSuffixList kSuffixes = PublicSuffixList::BuiltIn();
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Url base;
  const Url* resolved_on = nullptr;
  size_t newline = text.find('\n');
  if (newline != std::string_view::npos) {
    Url parsed;
    CheckParsing(text.substr(0, newline), nullptr, &parsed);
    if (Parse(text.substr(0, newline), nullptr, &base)) resolved_on = &base;
    text.remove_prefix(newline + 1);
  }
  Url url;
  CheckParsing(text, resolved_on, &url);
  Canonicalizer canonicalizer(SettingsOf(data[0]), kSuffixes, 0);
  CheckCanonical(text, resolved_on, &canonicalizer);
  NEPHILA_CHECK(canonicalizer.account().Imbalance() == 0);
  return 0;
}
