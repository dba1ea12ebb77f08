// ASCII as HTML, HTTP and URLs know it: which bytes are letters, digits and
// spaces, how words compare.
//
// The character classes are those of the Infra standard (s4.6), which never
// depend on a locale. Threads: any. Cost: linear in the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace nephila {

// Tab, line feed, form feed, carriage return, space.
constexpr bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// What tokens of HTTP are made of (RFC 9110 s5.6.2).
constexpr bool IsTokenChar(char c) {
  return IsAlpha(c) || IsDigit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr bool IsToken(std::string_view text) {
  for (char c : text) {
    if (!IsTokenChar(c)) return false;
  }
  return !text.empty();
}

// Cuts the first line off *rest, without its end, LF or CR LF.
constexpr std::string_view TakeLine(std::string_view* rest) {
  size_t end = rest->find('\n');
  std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The position of the first byte from `at` on that is no space.
constexpr size_t SkipSpaces(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

constexpr std::string_view TrimSpaces(std::string_view text) {
  text.remove_prefix(SkipSpaces(text, 0));
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

constexpr bool StartsWithIgnoreCase(std::string_view text,
                                    std::string_view start) {
  return EqualsIgnoreCase(text.substr(0, start.size()), start);
}

}  // namespace nephila
