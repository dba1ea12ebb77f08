#include "item/product_token.h"

#include <algorithm>

namespace nephila::item {
namespace {

constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool IsTokenAscii(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool IsTokenByte(char c) {
  return IsTokenAscii(c) || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string_view ProductToken(std::string_view text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) {
    text.remove_prefix(1);
  }
  size_t end = 0;
  while (end < text.size() && IsTokenByte(text[end])) ++end;
  return text.substr(0, end);
}

bool MeansEveryone(std::string_view value) {
  return value.starts_with('*') &&
         (value.size() == 1 || !IsTokenAscii(value[1]));
}

bool SameToken(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

}  // namespace nephila::item
