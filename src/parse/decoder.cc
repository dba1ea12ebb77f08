#include "parse/decoder.h"

#include "parse/charset_tables.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

constexpr char32_t kBroken = kReplacementCharacter;

unsigned ByteAt(std::string_view bytes, size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

constexpr bool InRange(unsigned byte, unsigned low, unsigned high) {
  return byte >= low && byte <= high;
}

char32_t Look(const PairIndex& index, size_t pointer) {
  return pointer < index.size() ? index[pointer] : 0;
}

// How many of the bytes at the end may be the beginning of a UTF-8 sequence
// that is valid so far.
size_t CutOffUtf8(std::string_view bytes) {
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    unsigned lead = ByteAt(bytes, bytes.size() - back);
    if (lead < 0x80) return 0;
    if (lead < 0xc0) continue;
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || back >= length) return 0;
    if (back == 1) return 1;
    // The second byte decides whether the sequence can still be valid.
    unsigned second = ByteAt(bytes, bytes.size() - back + 1);
    bool possible =
        !(lead == 0xe0 && second < 0xa0) && !(lead == 0xed && second > 0x9f) &&
        !(lead == 0xf0 && second < 0x90) && !(lead == 0xf4 && second > 0x8f);
    return possible ? back : 0;
  }
  return 0;
}

}  // namespace

Decoder::Decoder(Encoding encoding)
    : encoding_(encoding), ascii_(IsAsciiCompatible(encoding)) {}

void Decoder::Decode(std::string_view bytes, std::string* out) {
  if (bytes.empty()) return;
  if (encoding_ == Encoding::kReplacement) {
    if (!replaced_) url::AppendUtf8(kBroken, out);
    replaced_ = true;
    return;
  }
  if (IsSingleByte(encoding_) || encoding_ == Encoding::kUserDefined) {
    DecodeSingleBytes(bytes, out);
    return;
  }
  while (!pending_.empty() && !bytes.empty()) {
    pending_.push_back(bytes.front());
    bytes.remove_prefix(1);
    pending_.erase(0, DecodeUnits(pending_, out));
  }
  if (bytes.empty()) return;
  if (encoding_ == Encoding::kUtf8) {
    DecodeUtf8(bytes, out);
  } else {
    pending_.assign(bytes.substr(DecodeUnits(bytes, out)));
  }
}

void Decoder::Finish(std::string* out) {
  while (!pending_.empty()) {
    url::AppendUtf8(kBroken, out);
    // An escape that was cut off is one error, and what followed it is text.
    bool escape = encoding_ == Encoding::kIso2022Jp && pending_[0] == '\x1b';
    pending_.erase(0, escape ? 1 : pending_.size());
    pending_.erase(0, DecodeUnits(pending_, out));
  }
  replaced_ = false;
  jis_ = JisState::kAscii;
  jis_escaped_ = false;
}

size_t Decoder::DecodeUnits(std::string_view bytes, std::string* out) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (ascii_) {
      size_t plain = AsciiPrefix(bytes.substr(at));
      out->append(bytes, at, plain);
      at += plain;
      if (at == bytes.size()) break;
    }
    Unit unit = Read(bytes.substr(at));
    if (unit.length == 0) break;
    at += unit.length;
    if (unit.code_point != kNothing) url::AppendUtf8(unit.code_point, out);
    if (unit.second != 0) url::AppendUtf8(unit.second, out);
  }
  return at;
}

void Decoder::DecodeSingleBytes(std::string_view bytes,
                                std::string* out) const {
  const SingleByteIndex* index = encoding_ == Encoding::kUserDefined
                                     ? nullptr
                                     : &SingleByteIndexOf(encoding_);
  size_t at = 0;
  while (at < bytes.size()) {
    size_t plain = AsciiPrefix(bytes.substr(at));
    out->append(bytes, at, plain);
    at += plain;
    for (; at < bytes.size() && ByteAt(bytes, at) >= 0x80; ++at) {
      unsigned place = ByteAt(bytes, at) - 0x80;
      url::AppendUtf8(index == nullptr ? 0xf780 + place : (*index)[place], out);
    }
  }
}

// Valid runs are copied whole.
void Decoder::DecodeUtf8(std::string_view bytes, std::string* out) {
  size_t cut_off = CutOffUtf8(bytes);
  pending_.assign(bytes.substr(bytes.size() - cut_off));
  bytes.remove_suffix(cut_off);
  size_t run = 0;
  size_t at = 0;
  while (at < bytes.size()) {
    at += AsciiPrefix(bytes.substr(at));
    if (at == bytes.size()) break;
    size_t begin = at;
    if (url::ReadUtf8(bytes, &at) != kBroken) continue;
    out->append(bytes, run, begin - run);
    url::AppendUtf8(kBroken, out);
    run = at;
  }
  out->append(bytes, run, bytes.size() - run);
}

Decoder::Unit Decoder::Read(std::string_view bytes) {
  switch (encoding_) {
    case Encoding::kUtf8:
      return ReadUtf8(bytes);
    case Encoding::kUtf16Be:
      return ReadUtf16(bytes, /*big_endian=*/true);
    case Encoding::kUtf16Le:
      return ReadUtf16(bytes, /*big_endian=*/false);
    case Encoding::kGbk:
    case Encoding::kGb18030:
      return ReadGb18030(bytes);
    case Encoding::kBig5:
      return ReadBig5(bytes);
    case Encoding::kEucJp:
      return ReadEucJp(bytes);
    case Encoding::kShiftJis:
      return ReadShiftJis(bytes);
    case Encoding::kEucKr:
      return ReadEucKr(bytes);
    case Encoding::kIso2022Jp:
      return ReadIso2022Jp(bytes);
    default:
      return {1, kBroken, 0};  // the others have no units
  }
}

Decoder::Unit Decoder::ReadUtf8(std::string_view bytes) {
  if (CutOffUtf8(bytes) == bytes.size()) return {};
  size_t at = 0;
  char32_t c = url::ReadUtf8(bytes, &at);
  return {at, c, 0};
}

// s14.2. A surrogate that stands alone is one error, and what follows is read
// again.
Decoder::Unit Decoder::ReadUtf16(std::string_view bytes, bool big_endian) {
  auto unit_at = [bytes, big_endian](size_t i) {
    unsigned first = ByteAt(bytes, i);
    unsigned second = ByteAt(bytes, i + 1);
    return static_cast<char32_t>(big_endian ? first << 8 | second
                                            : second << 8 | first);
  };
  if (bytes.size() < 2) return {};
  char32_t unit = unit_at(0);
  if (unit < 0xd800 || unit > 0xdfff) return {2, unit, 0};
  if (unit >= 0xdc00) return {2, kBroken, 0};
  if (bytes.size() < 4) return {};
  char32_t next = unit_at(2);
  if (next < 0xdc00 || next > 0xdfff) return {2, kBroken, 0};
  return {4, 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00), 0};
}

// s10.2.1, for GBK too.
Decoder::Unit Decoder::ReadGb18030(std::string_view bytes) {
  unsigned first = ByteAt(bytes, 0);
  if (first < 0x80) return {1, first, 0};
  if (first == 0x80) return {1, 0x20ac, 0};
  if (first == 0xff) return {1, kBroken, 0};
  if (bytes.size() < 2) return {};
  unsigned second = ByteAt(bytes, 1);
  if (InRange(second, '0', '9')) {
    if (bytes.size() < 3) return {};
    unsigned third = ByteAt(bytes, 2);
    if (!InRange(third, 0x81, 0xfe)) return {1, kBroken, 0};
    if (bytes.size() < 4) return {};
    unsigned fourth = ByteAt(bytes, 3);
    if (!InRange(fourth, '0', '9')) return {1, kBroken, 0};
    size_t pointer =
        (((first - 0x81) * 10 + second - '0') * 126 + third - 0x81) * 10 +
        fourth - '0';
    constexpr size_t kFirstAstral = 189000;
    constexpr size_t kLastAstral = 1237575;
    char32_t c = pointer >= kFirstAstral && pointer <= kLastAstral
                     ? static_cast<char32_t>(0x10000 + pointer - kFirstAstral)
                     : Look(Gb18030FourByteIndex(), pointer);
    return {4, c == 0 ? kBroken : c, 0};
  }
  char32_t c = 0;
  if (InRange(second, 0x40, 0x7e) || InRange(second, 0x80, 0xfe)) {
    unsigned offset = second < 0x7f ? 0x40 : 0x41;
    c = Look(Gb18030Index(), size_t{first - 0x81} * 190 + second - offset);
  }
  if (c != 0) return {2, c, 0};
  return {second < 0x80 ? 1U : 2U, kBroken, 0};
}

// s11.1.1.
Decoder::Unit Decoder::ReadBig5(std::string_view bytes) {
  unsigned lead = ByteAt(bytes, 0);
  if (lead < 0x80) return {1, lead, 0};
  if (lead == 0x80 || lead == 0xff) return {1, kBroken, 0};
  if (bytes.size() < 2) return {};
  unsigned trail = ByteAt(bytes, 1);
  char32_t c = 0;
  if (InRange(trail, 0x40, 0x7e) || InRange(trail, 0xa1, 0xfe)) {
    unsigned offset = trail < 0x7f ? 0x40 : 0x62;
    size_t pointer = size_t{lead - 0x81} * 157 + trail - offset;
    switch (pointer) {  // letters with two marks, which Unicode writes as two
      case 1133:
        return {2, 0x00ca, 0x0304};
      case 1135:
        return {2, 0x00ca, 0x030c};
      case 1164:
        return {2, 0x00ea, 0x0304};
      case 1166:
        return {2, 0x00ea, 0x030c};
      default:
        c = Look(Big5Index(), pointer);
    }
  }
  if (c != 0) return {2, c, 0};
  return {trail < 0x80 ? 1U : 2U, kBroken, 0};
}

// s12.1.1.
Decoder::Unit Decoder::ReadEucJp(std::string_view bytes) {
  unsigned lead = ByteAt(bytes, 0);
  if (lead < 0x80) return {1, lead, 0};
  bool is_lead = lead == 0x8e || lead == 0x8f || InRange(lead, 0xa1, 0xfe);
  if (!is_lead) return {1, kBroken, 0};
  if (bytes.size() < 2) return {};
  unsigned trail = ByteAt(bytes, 1);
  if (lead == 0x8e && InRange(trail, 0xa1, 0xdf)) {
    return {2, 0xff61 - 0xa1 + trail, 0};
  }
  const bool third_plane = lead == 0x8f && InRange(trail, 0xa1, 0xfe);
  size_t length = 2;
  if (third_plane) {
    if (bytes.size() < 3) return {};
    lead = trail;
    trail = ByteAt(bytes, 2);
    length = 3;
  }
  char32_t c = 0;
  if (InRange(lead, 0xa1, 0xfe) && InRange(trail, 0xa1, 0xfe)) {
    c = Look(third_plane ? Jis0212Index() : Jis0208Index(),
             size_t{lead - 0xa1} * 94 + trail - 0xa1);
  }
  if (c != 0) return {length, c, 0};
  return {trail < 0x80 ? length - 1 : length, kBroken, 0};
}

// s12.3.1.
Decoder::Unit Decoder::ReadShiftJis(std::string_view bytes) {
  unsigned lead = ByteAt(bytes, 0);
  if (lead <= 0x80) return {1, lead, 0};
  if (InRange(lead, 0xa1, 0xdf)) return {1, 0xff61 - 0xa1 + lead, 0};
  if (lead == 0xa0 || lead > 0xfc) return {1, kBroken, 0};
  if (bytes.size() < 2) return {};
  unsigned trail = ByteAt(bytes, 1);
  char32_t c = 0;
  if (InRange(trail, 0x40, 0x7e) || InRange(trail, 0x80, 0xfc)) {
    unsigned offset = trail < 0x7f ? 0x40 : 0x41;
    unsigned lead_offset = lead < 0xa0 ? 0x81 : 0xc1;
    size_t pointer = size_t{lead - lead_offset} * 188 + trail - offset;
    c = pointer >= 8836 && pointer <= 10715
            ? static_cast<char32_t>(0xe000 - 8836 + pointer)
            : Look(Jis0208Index(), pointer);
  }
  if (c != 0) return {2, c, 0};
  return {trail < 0x80 ? 1U : 2U, kBroken, 0};
}

// s13.1.1.
Decoder::Unit Decoder::ReadEucKr(std::string_view bytes) {
  unsigned lead = ByteAt(bytes, 0);
  if (lead < 0x80) return {1, lead, 0};
  if (lead == 0x80 || lead == 0xff) return {1, kBroken, 0};
  if (bytes.size() < 2) return {};
  unsigned trail = ByteAt(bytes, 1);
  char32_t c = 0;
  if (InRange(trail, 0x41, 0xfe)) {
    c = Look(EucKrIndex(), size_t{lead - 0x81} * 190 + trail - 0x41);
  }
  if (c != 0) return {2, c, 0};
  return {trail < 0x80 ? 1U : 2U, kBroken, 0};
}

// s12.2.1. Two escapes with nothing between them are an error, so that no text
// can be hidden between bytes that a filter sees.
Decoder::Unit Decoder::ReadEscape(std::string_view bytes) {
  if (bytes.size() < 2) return {};
  if (bytes[1] == '$' || bytes[1] == '(') {
    if (bytes.size() < 3) return {};
    std::string_view escape = bytes.substr(1, 2);
    bool known = true;
    if (escape == "(B") {
      jis_ = JisState::kAscii;
    } else if (escape == "(J") {
      jis_ = JisState::kRoman;
    } else if (escape == "(I") {
      jis_ = JisState::kKatakana;
    } else if (escape == "$@" || escape == "$B") {
      jis_ = JisState::kDouble;
    } else {
      known = false;
    }
    if (known) {
      bool again = jis_escaped_;
      jis_escaped_ = true;
      return {3, again ? kBroken : kNothing, 0};
    }
  }
  jis_escaped_ = false;
  return {1, kBroken, 0};
}

Decoder::Unit Decoder::ReadIso2022Jp(std::string_view bytes) {
  unsigned byte = ByteAt(bytes, 0);
  if (byte == 0x1b) return ReadEscape(bytes);
  bool plain = byte < 0x80 && byte != 0x0e && byte != 0x0f;
  Unit unit = {1, kBroken, 0};
  switch (jis_) {
    case JisState::kAscii:
      if (plain) unit.code_point = byte;
      break;
    case JisState::kRoman:
      if (plain) {
        unit.code_point = byte == 0x5c ? 0xa5 : byte == 0x7e ? 0x203e : byte;
      }
      break;
    case JisState::kKatakana:
      if (InRange(byte, 0x21, 0x5f)) unit.code_point = 0xff61 - 0x21 + byte;
      break;
    case JisState::kDouble:
      if (InRange(byte, 0x21, 0x7e)) {
        if (bytes.size() < 2) return {};
        unsigned trail = ByteAt(bytes, 1);
        if (trail != 0x1b) unit.length = 2;
        if (InRange(trail, 0x21, 0x7e)) {
          char32_t c =
              Look(Jis0208Index(), size_t{byte - 0x21} * 94 + trail - 0x21);
          if (c != 0) unit.code_point = c;
        }
      }
      break;
  }
  jis_escaped_ = false;
  return unit;
}

void DecodeToUtf8(Encoding encoding, std::string_view bytes, std::string* out) {
  if (IsAsciiCompatible(encoding) && AsciiPrefix(bytes) == bytes.size()) {
    out->append(bytes);
    return;
  }
  Decoder decoder(encoding);
  decoder.Decode(bytes, out);
  decoder.Finish(out);
}

std::string DecodeToUtf8(Encoding encoding, std::string_view bytes) {
  std::string out;
  DecodeToUtf8(encoding, bytes, &out);
  return out;
}

}  // namespace nephila::parse
