#include "url/percent.h"

namespace nephila::url {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

// How many bytes a sequence with this lead byte has, and the range that its
// second byte must lie in (the standard's table: no overlong forms, no
// surrogates, nothing above U+10FFFF). Length 0: not a lead byte.
struct Lead {
  int length;
  unsigned char low;
  unsigned char high;
};

Lead LeadOf(unsigned char c) {
  if (c >= 0xc2 && c <= 0xdf) return {2, 0x80, 0xbf};
  if (c == 0xe0) return {3, 0xa0, 0xbf};
  if (c == 0xed) return {3, 0x80, 0x9f};
  if (c >= 0xe1 && c <= 0xef) return {3, 0x80, 0xbf};
  if (c == 0xf0) return {4, 0x90, 0xbf};
  if (c == 0xf4) return {4, 0x80, 0x8f};
  if (c >= 0xf1 && c <= 0xf3) return {4, 0x80, 0xbf};
  return {0, 0, 0};
}

}  // namespace

void AppendEscape(char byte, std::string* out) {
  auto value = static_cast<unsigned char>(byte);
  const char escape[3] = {'%', kHexDigits[value >> 4], kHexDigits[value & 15]};
  out->append(escape, 3);
}

void AppendEncoded(std::string_view text, EncodeSet set, std::string* out) {
  size_t plain = 0;  // start of the run that is copied as it is
  for (size_t i = 0; i < text.size();) {
    if (!InSet(text[i], set)) {
      ++i;
      continue;
    }
    out->append(text, plain, i - plain);
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      AppendEscape(text[i++], out);
    } else {
      size_t begin = i;
      if (ReadUtf8(text, &i) == 0xfffd) {
        out->append("%EF%BF%BD");
      } else {
        for (; begin < i; ++begin) AppendEscape(text[begin], out);
      }
    }
    plain = i;
  }
  out->append(text, plain, text.size() - plain);
}

void AppendEncodedBytes(std::string_view bytes, EncodeSet set,
                        std::string* out) {
  for (char byte : bytes) {
    if (InSet(byte, set)) {
      AppendEscape(byte, out);
    } else {
      out->push_back(byte);
    }
  }
}

void AppendDecoded(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsEscape(text, i)) {
      out->push_back(EscapedByte(text, i));
      i += 2;
    } else {
      out->push_back(text[i]);
    }
  }
}

char32_t ReadUtf8(std::string_view text, size_t* pos) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte((*pos)++);
  if (first < 0x80) return first;
  Lead lead = LeadOf(first);
  if (lead.length == 0) return 0xfffd;
  auto code_point = static_cast<char32_t>(first & (0x7f >> lead.length));
  for (int k = 1; k < lead.length; ++k) {
    unsigned char low = k == 1 ? lead.low : 0x80;
    unsigned char high = k == 1 ? lead.high : 0xbf;
    if (*pos >= text.size() || byte(*pos) < low || byte(*pos) > high) {
      return 0xfffd;
    }
    code_point = (code_point << 6) | (byte((*pos)++) & 0x3f);
  }
  return code_point;
}

void AppendUtf8(char32_t code_point, std::string* out) {
  auto push = [out](char32_t bits) { out->push_back(static_cast<char>(bits)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xc0 | (code_point >> 6));
    push(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    push(0xe0 | (code_point >> 12));
    push(0x80 | ((code_point >> 6) & 0x3f));
    push(0x80 | (code_point & 0x3f));
  } else {
    push(0xf0 | (code_point >> 18));
    push(0x80 | ((code_point >> 12) & 0x3f));
    push(0x80 | ((code_point >> 6) & 0x3f));
    push(0x80 | (code_point & 0x3f));
  }
}

}  // namespace nephila::url
