#include "parse/query_encoder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "parse/charset_tables.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

// Pointers by code point. Of several the first of the index stands, but for
// those that `prefers_last` names.
class ReverseIndex {
 public:
  template <typename Excluded, typename PrefersLast>
  ReverseIndex(const PairIndex& index, Excluded excluded,
               PrefersLast prefers_last) {
    entries_.reserve(index.size());
    for (size_t pointer = 0; pointer < index.size(); ++pointer) {
      if (index[pointer] == 0 || excluded(pointer)) continue;
      entries_.emplace_back(index[pointer], static_cast<uint16_t>(pointer));
    }
    std::sort(entries_.begin(), entries_.end());
    auto keep = entries_.begin();
    for (const Entry& entry : entries_) {
      bool same = keep != entries_.begin() && (keep - 1)->first == entry.first;
      if (!same) {
        *keep++ = entry;
      } else if (prefers_last(entry.first)) {
        *(keep - 1) = entry;
      }
    }
    entries_.erase(keep, entries_.end());
  }

  std::optional<size_t> PointerOf(char32_t c) const {
    auto found = std::lower_bound(entries_.begin(), entries_.end(), c,
                                  [](const Entry& entry, char32_t wanted) {
                                    return entry.first < wanted;
                                  });
    if (found == entries_.end() || found->first != c) return std::nullopt;
    return found->second;
  }

 private:
  using Entry = std::pair<char32_t, uint16_t>;
  std::vector<Entry> entries_;
};

constexpr auto kNone = [](size_t) { return false; };
constexpr auto kNever = [](char32_t) { return false; };

const ReverseIndex& Jis0208Pointers() {
  static const ReverseIndex kReverse(Jis0208Index(), kNone, kNever);
  return kReverse;
}

// s5: "index Shift_JIS pointer" leaves out a row of duplicates.
const ReverseIndex& ShiftJisPointers() {
  static const ReverseIndex kReverse(
      Jis0208Index(),
      [](size_t pointer) { return pointer >= 8272 && pointer <= 8835; },
      kNever);
  return kReverse;
}

const ReverseIndex& EucKrPointers() {
  static const ReverseIndex kReverse(EucKrIndex(), kNone, kNever);
  return kReverse;
}

const ReverseIndex& Gb18030Pointers() {
  static const ReverseIndex kReverse(Gb18030Index(), kNone, kNever);
  return kReverse;
}

const ReverseIndex& Gb18030FourBytePointers() {
  static const ReverseIndex kReverse(Gb18030FourByteIndex(), kNone, kNever);
  return kReverse;
}

// s5: "index Big5 pointer" leaves out Hong Kong's extensions.
const ReverseIndex& Big5Pointers() {
  static const ReverseIndex kReverse(
      Big5Index(),
      [](size_t pointer) { return pointer < size_t{0xa1 - 0x81} * 157; },
      [](char32_t c) {
        return c == 0x2550 || c == 0x255e || c == 0x2561 || c == 0x256a ||
               c == 0x5341 || c == 0x5345;
      });
  return kReverse;
}

void PushByte(size_t byte, std::string* out) {
  out->push_back(static_cast<char>(byte));
}

void AppendReference(char32_t c, std::string* out) {
  out->append("%26%23");
  out->append(std::to_string(static_cast<uint32_t>(c)));
  out->append("%3B");
}

bool AppendSingleByte(Encoding encoding, char32_t c, std::string* out) {
  const SingleByteIndex& index = SingleByteIndexOf(encoding);
  if (c == kReplacementCharacter) return false;
  const auto* found = std::find(index.begin(), index.end(), c);
  if (found == index.end()) return false;
  PushByte(0x80 + static_cast<size_t>(found - index.begin()), out);
  return true;
}

// The private-use code points that stood at these places before GB 18030-2022
// keep their bytes (s10.2.2).
std::optional<size_t> FormerGb18030Pointer(char32_t c) {
  struct Former {
    char16_t first;
    uint16_t pointer;
    uint16_t count;
  };
  constexpr std::array<Former, 10> kFormer = {{{0xe78d, 7182, 7},
                                               {0xe794, 7201, 2},
                                               {0xe796, 7208, 1},
                                               {0xe81e, 23775, 1},
                                               {0xe826, 23783, 1},
                                               {0xe82b, 23788, 2},
                                               {0xe832, 23795, 1},
                                               {0xe843, 23812, 1},
                                               {0xe854, 23829, 1},
                                               {0xe864, 23845, 1}}};
  for (const Former& former : kFormer) {
    if (c >= former.first && c < char32_t{former.first} + former.count) {
      return former.pointer + size_t{c - former.first};
    }
  }
  return std::nullopt;
}

bool AppendGb18030(char32_t c, bool is_gbk, std::string* out) {
  if (c == 0xe5e5) return false;
  if (is_gbk && c == 0x20ac) {
    PushByte(0x80, out);
    return true;
  }
  std::optional<size_t> pointer = FormerGb18030Pointer(c);
  if (!pointer) pointer = Gb18030Pointers().PointerOf(c);
  if (pointer) {
    size_t trail = *pointer % 190;
    PushByte(*pointer / 190 + 0x81, out);
    PushByte(trail + (trail < 0x3f ? 0x40 : 0x41), out);
    return true;
  }
  if (is_gbk) return false;
  constexpr size_t kFirstAstral = 189000;
  pointer = c >= 0x10000 ? std::optional(kFirstAstral + c - 0x10000)
                         : Gb18030FourBytePointers().PointerOf(c);
  if (!pointer) return false;
  PushByte(*pointer / 12600 + 0x81, out);
  PushByte(*pointer % 12600 / 1260 + 0x30, out);
  PushByte(*pointer % 1260 / 10 + 0x81, out);
  PushByte(*pointer % 10 + 0x30, out);
  return true;
}

bool AppendBig5(char32_t c, std::string* out) {
  std::optional<size_t> pointer = Big5Pointers().PointerOf(c);
  if (!pointer) return false;
  size_t trail = *pointer % 157;
  PushByte(*pointer / 157 + 0x81, out);
  PushByte(trail + (trail < 0x3f ? 0x40 : 0x62), out);
  return true;
}

bool AppendEucKr(char32_t c, std::string* out) {
  std::optional<size_t> pointer = EucKrPointers().PointerOf(c);
  if (!pointer) return false;
  PushByte(*pointer / 190 + 0x81, out);
  PushByte(*pointer % 190 + 0x41, out);
  return true;
}

constexpr bool IsHalfWidthKatakana(char32_t c) {
  return c >= 0xff61 && c <= 0xff9f;
}
constexpr char32_t kMinus = 0x2212;
constexpr char32_t kFullWidthMinus = 0xff0d;

bool AppendEucJp(char32_t c, std::string* out) {
  if (c == 0xa5 || c == 0x203e) {
    out->push_back(c == 0xa5 ? '\\' : '~');
    return true;
  }
  if (IsHalfWidthKatakana(c)) {
    PushByte(0x8e, out);
    PushByte(c - 0xff61 + 0xa1, out);
    return true;
  }
  auto pointer = Jis0208Pointers().PointerOf(c == kMinus ? kFullWidthMinus : c);
  // Rows beyond the 94 of the standard are for Shift_JIS alone.
  if (!pointer || *pointer >= size_t{94} * 94) return false;
  PushByte(*pointer / 94 + 0xa1, out);
  PushByte(*pointer % 94 + 0xa1, out);
  return true;
}

bool AppendShiftJis(char32_t c, std::string* out) {
  if (c == 0x80 || c == 0xa5 || c == 0x203e) {
    PushByte(c == 0x80 ? 0x80U : c == 0xa5 ? 0x5cU : 0x7eU, out);
    return true;
  }
  if (IsHalfWidthKatakana(c)) {
    PushByte(c - 0xff61 + 0xa1, out);
    return true;
  }
  auto pointer =
      ShiftJisPointers().PointerOf(c == kMinus ? kFullWidthMinus : c);
  if (!pointer) return false;
  size_t lead = *pointer / 188;
  size_t trail = *pointer % 188;
  PushByte(lead + (lead < 0x1f ? 0x81 : 0xc1), out);
  PushByte(trail + (trail < 0x3f ? 0x40 : 0x41), out);
  return true;
}

// s5, index ISO-2022-JP katakana: the full-width form of U+FF61 and on.
constexpr std::array<char16_t, 63> kFullWidthKatakana = {
    0x3002, 0x300c, 0x300d, 0x3001, 0x30fb, 0x30f2, 0x30a1, 0x30a3, 0x30a5,
    0x30a7, 0x30a9, 0x30e3, 0x30e5, 0x30e7, 0x30c3, 0x30fc, 0x30a2, 0x30a4,
    0x30a6, 0x30a8, 0x30aa, 0x30ab, 0x30ad, 0x30af, 0x30b1, 0x30b3, 0x30b5,
    0x30b7, 0x30b9, 0x30bb, 0x30bd, 0x30bf, 0x30c1, 0x30c4, 0x30c6, 0x30c8,
    0x30ca, 0x30cb, 0x30cc, 0x30cd, 0x30ce, 0x30cf, 0x30d2, 0x30d5, 0x30d8,
    0x30db, 0x30de, 0x30df, 0x30e0, 0x30e1, 0x30e2, 0x30e4, 0x30e6, 0x30e8,
    0x30e9, 0x30ea, 0x30eb, 0x30ec, 0x30ed, 0x30ef, 0x30f3, 0x309b, 0x309c};

// s12.2.2: escapes lead from one set of characters to another, and back to
// ASCII at the end and before a reference.
class Iso2022JpEncoder {
 public:
  explicit Iso2022JpEncoder(std::string* out) : out_(*out) {}

  void Append(char32_t c) {
    if (c == 0x0e || c == 0x0f || c == 0x1b) {
      Refuse(kReplacementCharacter);  // they would be read as escapes
      return;
    }
    if (c == 0xa5 || c == 0x203e) {
      Enter(State::kRoman);
      out_.push_back(c == 0xa5 ? '\\' : '~');
      return;
    }
    if (c < 0x80) {
      bool roman = state_ == State::kRoman && c != '\\' && c != '~';
      if (!roman) Enter(State::kAscii);
      PushByte(c, &out_);
      return;
    }
    char32_t wanted = c == kMinus ? kFullWidthMinus : c;
    if (IsHalfWidthKatakana(c)) wanted = kFullWidthKatakana[c - 0xff61];
    auto pointer = Jis0208Pointers().PointerOf(wanted);
    if (!pointer || *pointer >= size_t{94} * 94) {
      Refuse(c);
      return;
    }
    Enter(State::kDouble);
    PushByte(*pointer / 94 + 0x21, &out_);
    PushByte(*pointer % 94 + 0x21, &out_);
  }

  void Finish() { Enter(State::kAscii); }

 private:
  enum class State : uint8_t { kAscii, kRoman, kDouble };

  void Refuse(char32_t c) {
    if (state_ == State::kDouble) Enter(State::kAscii);
    AppendReference(c, &out_);
  }

  void Enter(State state) {
    if (state == state_) return;
    state_ = state;
    out_.append(state == State::kAscii   ? "\x1b(B"
                : state == State::kRoman ? "\x1b(J"
                                         : "\x1b$B");
  }

  std::string& out_;
  State state_ = State::kAscii;
};

bool AppendCharacter(Encoding encoding, char32_t c, std::string* out) {
  if (IsSingleByte(encoding)) return AppendSingleByte(encoding, c, out);
  switch (encoding) {
    case Encoding::kGbk:
    case Encoding::kGb18030:
      return AppendGb18030(c, encoding == Encoding::kGbk, out);
    case Encoding::kBig5:
      return AppendBig5(c, out);
    case Encoding::kEucJp:
      return AppendEucJp(c, out);
    case Encoding::kShiftJis:
      return AppendShiftJis(c, out);
    case Encoding::kEucKr:
      return AppendEucKr(c, out);
    case Encoding::kUserDefined:
      if (c < 0xf780 || c > 0xf7ff) return false;
      PushByte(c - 0xf780 + 0x80, out);
      return true;
    default:
      url::AppendUtf8(c, out);
      return true;
  }
}

}  // namespace

LegacyQueryEncoder::LegacyQueryEncoder(Encoding encoding)
    : encoding_(OutputEncoding(encoding)) {}

void LegacyQueryEncoder::Append(std::string_view utf8, std::string* out) const {
  if (encoding_ == Encoding::kIso2022Jp) {
    Iso2022JpEncoder encoder(out);
    for (size_t at = 0; at < utf8.size();) {
      encoder.Append(url::ReadUtf8(utf8, &at));
    }
    encoder.Finish();
    return;
  }
  for (size_t at = 0; at < utf8.size();) {
    size_t plain = AsciiPrefix(utf8.substr(at));
    out->append(utf8, at, plain);
    at += plain;
    if (at == utf8.size()) break;
    char32_t c = url::ReadUtf8(utf8, &at);
    if (!AppendCharacter(encoding_, c, out)) AppendReference(c, out);
  }
}

std::unique_ptr<url::QueryEncoder> MakeQueryEncoder(Encoding page_encoding) {
  if (OutputEncoding(page_encoding) == Encoding::kUtf8) return nullptr;
  return std::make_unique<LegacyQueryEncoder>(page_encoding);
}

}  // namespace nephila::parse
