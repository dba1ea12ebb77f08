#include "config/toml_guard.h"

#include <algorithm>

namespace nephila::config {
namespace {

// The offset behind the string whose first quote is at `begin`; behind the
// line, or the text, if the string does not end there.
size_t SkipString(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const std::string_view quotes = text.substr(begin, 3);
  const bool multi_line =
      quotes.size() == 3 && quotes[1] == quote && quotes[2] == quote;
  size_t at = begin + (multi_line ? 3 : 1);
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\\' && quote == '"') {
      at += 2;
    } else if (!multi_line && (c == quote || c == '\n')) {
      return at + 1;
    } else if (multi_line && text.substr(at, 3) == quotes) {
      at += 3;
      // A string may end in one or two quotes of its own: """a""""".
      for (int i = 0; i < 2 && at < text.size() && text[at] == quote; ++i) ++at;
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<size_t> FindTooDeepKey(std::string_view text) {
  size_t dots = 0;  // since the key, or what else stands here, began
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = SkipString(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots >= kMaxKeyParts) return at;
    // What may stand before a key.
    if (std::string_view("\n=,[{").find(c) != std::string_view::npos) dots = 0;
    ++at;
  }
  return std::nullopt;
}

}  // namespace nephila::config
