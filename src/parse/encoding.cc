#include "parse/encoding.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

constexpr std::array<std::string_view, kEncodingCount> kNames = {
    "UTF-8",          "IBM866",       "ISO-8859-2",   "ISO-8859-3",
    "ISO-8859-4",     "ISO-8859-5",   "ISO-8859-6",   "ISO-8859-7",
    "ISO-8859-8",     "ISO-8859-8-I", "ISO-8859-10",  "ISO-8859-13",
    "ISO-8859-14",    "ISO-8859-15",  "ISO-8859-16",  "KOI8-R",
    "KOI8-U",         "macintosh",    "windows-874",  "windows-1250",
    "windows-1251",   "windows-1252", "windows-1253", "windows-1254",
    "windows-1255",   "windows-1256", "windows-1257", "windows-1258",
    "x-mac-cyrillic", "GBK",          "gb18030",      "Big5",
    "EUC-JP",         "ISO-2022-JP",  "Shift_JIS",    "EUC-KR",
    "replacement",    "UTF-16BE",     "UTF-16LE",     "x-user-defined",
};

struct Label {
  std::string_view label;
  Encoding encoding;
};
constexpr std::array<Label, 228> kLabels = {{
#include "parse/encoding_labels.inc"
}};

constexpr size_t kLongestLabel = 19;
static_assert(std::all_of(kLabels.begin(), kLabels.end(), [](const Label& l) {
  return l.label.size() <= kLongestLabel;
}));
static_assert(std::is_sorted(kLabels.begin(), kLabels.end(),
                             [](const Label& a, const Label& b) {
                               return a.label < b.label;
                             }));

}  // namespace

std::string_view EncodingName(Encoding encoding) {
  return kNames[static_cast<size_t>(encoding)];
}

std::optional<Encoding> EncodingOfLabel(std::string_view label) {
  label = TrimSpaces(label);
  std::array<char, kLongestLabel> buffer;
  if (label.size() > buffer.size()) return std::nullopt;
  std::transform(label.begin(), label.end(), buffer.begin(), Lower);
  std::string_view lower(buffer.data(), label.size());
  const auto* found = std::lower_bound(
      kLabels.begin(), kLabels.end(), lower,
      [](const Label& a, std::string_view b) { return a.label < b; });
  if (found == kLabels.end() || found->label != lower) return std::nullopt;
  return found->encoding;
}

bool IsAsciiCompatible(Encoding encoding) {
  switch (encoding) {
    case Encoding::kUtf16Be:
    case Encoding::kUtf16Le:
    case Encoding::kIso2022Jp:
    case Encoding::kReplacement:
      return false;
    default:
      return true;
  }
}

Encoding OutputEncoding(Encoding encoding) {
  switch (encoding) {
    case Encoding::kUtf16Be:
    case Encoding::kUtf16Le:
    case Encoding::kReplacement:
      return Encoding::kUtf8;
    default:
      return encoding;
  }
}

size_t AsciiPrefix(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  // Eight bytes a step; compilers make wider ones of it.
  while (text.size() - at >= 32) {
    std::array<uint64_t, 4> words;
    std::memcpy(words.data(), text.data() + at, 32);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
    at += 32;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace nephila::parse
