#include "parse/references.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "parse/scan.h"

namespace nephila::parse {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Entity {
  std::string_view name;  // without the semicolon
  std::string_view text;  // UTF-8
};

constexpr Entity kWithSemicolon[] = {
#define NEPHILA_ENTITIES_WITH_SEMICOLON
#include "parse/entities.inc"
#undef NEPHILA_ENTITIES_WITH_SEMICOLON
};
constexpr Entity kWithoutSemicolon[] = {
#define NEPHILA_ENTITIES_WITHOUT_SEMICOLON
#include "parse/entities.inc"
#undef NEPHILA_ENTITIES_WITHOUT_SEMICOLON
};
constexpr size_t kLongestName = 31;  // without the semicolon
constexpr size_t kLongestWithoutSemicolon = 6;

constexpr bool IsAlnum(char c) { return IsAlpha(c) || IsDigit(c); }

constexpr int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Null where there is none of that name.
const Entity* Lookup(std::span<const Entity> table, std::string_view name) {
  auto it = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Entity& e, std::string_view n) { return e.name < n; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

// Most references are one of these.
std::string_view Common(std::string_view name) {
  if (name == "amp") return "&";
  if (name == "nbsp") return "\xc2\xa0";
  if (name == "quot") return "\"";
  if (name == "lt") return "<";
  if (name == "gt") return ">";
  return {};
}

size_t AppendNamed(std::string_view text, bool in_attribute, std::string* out) {
  size_t end = 1;
  while (end < text.size() && end <= kLongestName + 1 && IsAlnum(text[end])) {
    ++end;
  }
  std::string_view run = text.substr(1, end - 1);
  if (end < text.size() && text[end] == ';') {
    if (std::string_view common = Common(run); !common.empty()) {
      out->append(common);
      return end + 1;
    }
    if (const Entity* entity = Lookup(kWithSemicolon, run)) {
      out->append(entity->text);
      return end + 1;
    }
  }
  // Without its semicolon: the longest name that the text begins with.
  for (size_t n = std::min(run.size(), kLongestWithoutSemicolon); n >= 2; --n) {
    const Entity* entity = Lookup(kWithoutSemicolon, run.substr(0, n));
    if (entity == nullptr) continue;
    char next = n + 1 < text.size() ? text[n + 1] : '\0';
    if (in_attribute && (next == '=' || IsAlnum(next))) break;
    out->append(entity->text);
    return n + 1;
  }
  out->push_back('&');
  return 1;
}

// Numbers that mean a byte of windows-1252, as the table of s13.2.5.80; 0 where
// the number means itself.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

void AppendCodePoint(uint32_t number, std::string* out) {
  if (number >= 0x80 && number < 0xa0 && kWindows1252[number - 0x80] != 0) {
    number = kWindows1252[number - 0x80];
  }
  if (number == 0 || number > 0x10ffff ||
      (number >= 0xd800 && number < 0xe000)) {
    out->append(kReplacement);
    return;
  }
  auto push = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (number < 0x80) {
    push(number);
  } else if (number < 0x800) {
    push(0xc0 | number >> 6);
    push(0x80 | (number & 0x3f));
  } else if (number < 0x10000) {
    push(0xe0 | number >> 12);
    push(0x80 | (number >> 6 & 0x3f));
    push(0x80 | (number & 0x3f));
  } else {
    push(0xf0 | number >> 18);
    push(0x80 | (number >> 12 & 0x3f));
    push(0x80 | (number >> 6 & 0x3f));
    push(0x80 | (number & 0x3f));
  }
}

size_t AppendNumber(std::string_view text, std::string* out) {
  bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  size_t begin = hex ? 3 : 2;
  size_t end = begin;
  uint32_t base = hex ? 16 : 10;
  uint32_t number = 0;
  while (end < text.size()) {
    int digit = HexValue(text[end]);
    if (digit < 0 || (!hex && digit > 9)) break;
    // Beyond the last code point it no longer matters by how much.
    number = std::min<uint32_t>(number * base + static_cast<uint32_t>(digit),
                                0x110000);
    ++end;
  }
  if (end == begin) {  // no digit, no reference
    out->append(text.substr(0, begin));
    return begin;
  }
  AppendCodePoint(number, out);
  return end < text.size() && text[end] == ';' ? end + 1 : end;
}

// Appends text without references.
void AppendPlain(std::string_view raw, bool replace_nul, std::string* out) {
  const char* p = raw.data();
  const char* end = p + raw.size();
  while (p != end) {
    const char* stop = FindEither(p, end, '\r', '\0');
    out->append(p, stop);
    if (stop == end) return;
    if (*stop == '\r') {
      out->push_back('\n');
      if (stop + 1 != end && stop[1] == '\n') ++stop;
    } else if (replace_nul) {
      out->append(kReplacement);
    } else {
      out->push_back('\0');
    }
    p = stop + 1;
  }
}

}  // namespace

size_t AppendReference(std::string_view text, bool in_attribute,
                       std::string* out) {
  if (text.size() < 2) {
    out->push_back('&');
    return 1;
  }
  if (text[1] == '#') return AppendNumber(text, out);
  return AppendNamed(text, in_attribute, out);
}

bool IsPlainAttribute(std::string_view raw) {
  const char* end = raw.data() + raw.size();
  return FindReferenceOrControl(raw.data(), end) == end;
}

void AppendAttribute(std::string_view raw, std::string* out) {
  while (!raw.empty()) {
    const char* end = raw.data() + raw.size();
    auto plain =
        static_cast<size_t>(FindByte(raw.data(), end, '&') - raw.data());
    AppendPlain(raw.substr(0, plain), /*replace_nul=*/true, out);
    raw.remove_prefix(plain);
    if (raw.empty()) return;
    raw.remove_prefix(AppendReference(raw, /*in_attribute=*/true, out));
  }
}

void AppendName(std::string_view raw, std::string* out) {
  for (char c : raw) {
    if (c == '\0') {
      out->append(kReplacement);
    } else {
      out->push_back(Lower(c));
    }
  }
}

void AppendComment(std::string_view raw, std::string* out) {
  AppendPlain(raw, /*replace_nul=*/true, out);
}

void TextDecoder::Append(std::string_view raw, TextKind kind,
                         std::string* out) {
  bool references = kind == TextKind::kData || kind == TextKind::kRcdata;
  bool replace_nul = kind == TextKind::kRcdata || kind == TextKind::kRawtext;
  if (!held_.empty()) raw.remove_prefix(ContinueReference(raw, out));
  while (!raw.empty()) {
    size_t plain = raw.size();
    if (references) {
      const char* end = raw.data() + raw.size();
      plain = static_cast<size_t>(FindByte(raw.data(), end, '&') - raw.data());
    }
    if (plain > 0) {
      size_t skip = after_cr_ && raw[0] == '\n' ? 1 : 0;
      AppendPlain(raw.substr(skip, plain - skip), replace_nul, out);
      after_cr_ = raw[plain - 1] == '\r';
      raw.remove_prefix(plain);
      continue;
    }
    after_cr_ = false;
    held_.push_back('&');
    digits_ = 0;
    raw.remove_prefix(1);
    raw.remove_prefix(ContinueReference(raw, out));
  }
}

// Takes `c` if it may belong to the reference that is held. What is taken from
// a number without changing it is not kept: it may be long.
bool TextDecoder::Hold(char c) {
  if (held_.size() == 1 && c == '#') {
    held_.push_back(c);
    return true;
  }
  if (held_.size() < 2 || held_[1] != '#') {  // a name
    if (!IsAlnum(c) || held_.size() > kLongestName + 1) return false;
    held_.push_back(c);
    return true;
  }
  if (held_.size() == 2 && (c == 'x' || c == 'X')) {
    held_.push_back(c);
    return true;
  }
  bool hex = held_.size() > 2 && Lower(held_[2]) == 'x';
  if (HexValue(c) < 0 || (!hex && !IsDigit(c))) return false;
  // Nine significant digits are beyond every code point in either base.
  constexpr size_t kEnoughDigits = 9;
  bool leading_zero = digits_ == 0 && c == '0' && held_.back() == '0';
  if (!leading_zero && digits_ < kEnoughDigits) held_.push_back(c);
  if (digits_ > 0 || c != '0') ++digits_;
  return true;
}

// Goes on with what is held; returns how much of `raw` belongs to it.
size_t TextDecoder::ContinueReference(std::string_view raw, std::string* out) {
  size_t used = 0;
  while (used < raw.size() && Hold(raw[used])) ++used;
  if (used == raw.size()) return used;  // it may go on
  if (raw[used] == ';') {
    held_.push_back(';');
    ++used;
  }
  Release(out);
  return used;
}

void TextDecoder::Release(std::string* out) {
  size_t used = AppendReference(held_, /*in_attribute=*/false, out);
  // What is left over has no ampersand and no line end.
  out->append(held_, used);
  held_.clear();
}

void TextDecoder::Finish(std::string* out) {
  if (!held_.empty()) Release(out);
  after_cr_ = false;
}

}  // namespace nephila::parse
