#include "robots/prepare.h"

#include <cstdint>

#include "url/percent.h"

namespace nephila::robots {
namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

char32_t UnitAt(std::string_view text, size_t i, bool big_endian) {
  auto first = static_cast<unsigned char>(text[i]);
  auto second = static_cast<unsigned char>(text[i + 1]);
  return big_endian ? static_cast<char32_t>(first * 256 + second)
                    : static_cast<char32_t>(second * 256 + first);
}

// A rule that is cut in the middle would be another, wider rule.
std::string_view WholeLines(std::string_view text) {
  size_t end = text.find_last_of("\r\n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

Prepared::Prepared(std::string_view text, size_t max_bytes)
    : text_(text), bytes_read_(text.size()) {
  bool little = text.starts_with("\xff\xfe");
  bool big = text.starts_with("\xfe\xff");
  utf16_ = little || big;
  if (text.size() > max_bytes) {
    cut_ = true;
    text_ = text.substr(0, max_bytes);
    bool at_line_end = text[max_bytes] == '\r' || text[max_bytes] == '\n';
    if (!utf16_ && !at_line_end) text_ = WholeLines(text_);
    bytes_read_ = text_.size();
  }
  if (utf16_) {
    DecodeUtf16(big);
    return;
  }
  for (char mark : kUtf8Mark) {
    if (!text_.starts_with(mark)) break;
    text_.remove_prefix(1);
  }
}

void Prepared::DecodeUtf16(bool big_endian) {
  decoded_.reserve(text_.size());
  for (size_t i = 2; i + 1 < text_.size(); i += 2) {
    char32_t unit = UnitAt(text_, i, big_endian);
    if (unit >= 0xd800 && unit < 0xe000) {
      char32_t low = 0;
      if (i + 3 < text_.size()) low = UnitAt(text_, i + 2, big_endian);
      bool pair = unit < 0xdc00 && low >= 0xdc00 && low < 0xe000;
      unit = pair ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      if (pair) i += 2;
    }
    url::AppendUtf8(unit, &decoded_);
  }
  text_ = decoded_;
  if (cut_) text_ = WholeLines(text_);
}

bool Prepared::html() const {
  size_t first = text_.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text_[first] == '<';
}

}  // namespace nephila::robots
