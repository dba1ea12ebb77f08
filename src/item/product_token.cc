#include "item/product_token.h"

#include "base/ascii.h"

namespace nephila::item {
namespace {

bool IsTokenAscii(char c) {
  return IsAlpha(c) || IsDigit(c) || c == '-' || c == '_';
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
  return EqualsIgnoreCase(a, b);
}

}  // namespace nephila::item
