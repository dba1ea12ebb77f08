#include "parse/meta_refresh.h"

#include <algorithm>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

// The URL in what stands behind the delay: steps 12.2 to 12.10.
std::string_view UrlOf(std::string_view text) {
  std::string_view url = text;
  if (StartsWithIgnoreCase(text, "u")) {
    // From here on a text that does not go on as "url =" is a URL as it is.
    if (!StartsWithIgnoreCase(text, "url")) return text;
    size_t at = SkipSpaces(text, 3);
    if (at == text.size() || text[at] != '=') return text;
    url = text.substr(SkipSpaces(text, at + 1));
  }
  if (url.empty() || (url[0] != '"' && url[0] != '\'')) return url;
  char quote = url[0];
  url.remove_prefix(1);
  return url.substr(0, std::min(url.find(quote), url.size()));
}

}  // namespace

std::optional<Refresh> ParseRefresh(std::string_view value) {
  size_t at = SkipSpaces(value, 0);
  Refresh refresh;
  size_t digits = at;
  for (; at < value.size() && IsDigit(value[at]); ++at) {
    refresh.delay_s =
        std::min(refresh.delay_s * 10 + static_cast<uint64_t>(value[at] - '0'),
                 kLongestRefresh);
  }
  if (at == digits && (at == value.size() || value[at] != '.')) {
    return std::nullopt;
  }
  while (at < value.size() && (IsDigit(value[at]) || value[at] == '.')) ++at;
  if (at == value.size()) return refresh;
  if (value[at] != ';' && value[at] != ',' && !IsSpace(value[at])) {
    return std::nullopt;
  }
  at = SkipSpaces(value, at);
  if (at < value.size() && (value[at] == ';' || value[at] == ',')) ++at;
  at = SkipSpaces(value, at);
  if (at < value.size()) refresh.url = UrlOf(value.substr(at));
  return refresh;
}

}  // namespace nephila::parse
