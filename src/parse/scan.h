// Scanning: the first byte of a kind in a range, sixteen bytes at a step.
//
// With SSE2, which every x86-64 has; elsewhere byte by byte. All functions give
// `end` where nothing is found, and read nothing beyond it.
//   Threads: any   Cost: linear in what is passed over
#pragma once

#include <bit>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace nephila::parse {

// What ends the name of a tag: a space, '/' or '>'.
constexpr bool EndsTagName(char c) {
  return c == ' ' || c == '>' || c == '/' || c == '\n' || c == '\t' ||
         c == '\r' || c == '\f';
}
// What ends the name of an attribute.
constexpr bool EndsAttributeName(char c) { return c == '=' || EndsTagName(c); }
// What ends a value without quotes.
constexpr bool EndsUnquotedValue(char c) { return c != '/' && EndsTagName(c); }

namespace internal {

template <typename Is>
inline const char* FindSlowly(const char* p, const char* end, Is is) {
  while (p != end && !is(*p)) ++p;
  return p;
}

#ifdef __SSE2__
using Bytes = __m128i;
inline Bytes Load(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline uint32_t Mask(Bytes bytes) {
  return static_cast<uint32_t>(_mm_movemask_epi8(bytes));
}
inline Bytes Equal(Bytes bytes, char c) {
  return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}
inline Bytes Or(Bytes a, Bytes b) { return _mm_or_si128(a, b); }
// '=' and '>', and with them '<' and '?': they share all but two bits.
inline Bytes EqualSignOrGreater(Bytes bytes) {
  return Equal(_mm_or_si128(bytes, _mm_set1_epi8(3)), '?');
}
// Bytes up to 0x20: all spaces, and controls that hardly occur.
inline Bytes SpaceOrControl(Bytes bytes) {
  return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x20)), bytes);
}

// `candidates` marks at least every byte that `is` accepts.
template <typename Candidates, typename Is>
inline const char* Find(const char* p, const char* end, Candidates candidates,
                        Is is) {
  while (end - p >= 16) {
    uint32_t mask = Mask(candidates(Load(p)));
    while (mask != 0) {
      const char* hit = p + std::countr_zero(mask);
      if (is(*hit)) return hit;
      mask &= mask - 1;
    }
    p += 16;
  }
  return FindSlowly(p, end, is);
}
#else
// Without vectors the exact test does all the work; what would mark candidates
// is declared, and never called.
struct Bytes {};
Bytes Equal(Bytes bytes, char c);
Bytes Or(Bytes a, Bytes b);
Bytes EqualSignOrGreater(Bytes bytes);
Bytes SpaceOrControl(Bytes bytes);

template <typename Candidates, typename Is>
inline const char* Find(const char* p, const char* end, Candidates /*unused*/,
                        Is is) {
  return FindSlowly(p, end, is);
}
#endif

}  // namespace internal

inline const char* FindByte(const char* p, const char* end, char wanted) {
#ifdef __SSE2__
  // Four steps at once where it is far: long texts and scripts.
  while (end - p >= 64) {
    internal::Bytes a = internal::Equal(internal::Load(p), wanted);
    if (uint32_t mask = internal::Mask(a); mask != 0) {
      return p + std::countr_zero(mask);
    }
    internal::Bytes b = internal::Equal(internal::Load(p + 16), wanted);
    internal::Bytes c = internal::Equal(internal::Load(p + 32), wanted);
    internal::Bytes d = internal::Equal(internal::Load(p + 48), wanted);
    if (internal::Mask(internal::Or(internal::Or(b, c), d)) != 0) {
      uint64_t mask = static_cast<uint64_t>(internal::Mask(b)) |
                      static_cast<uint64_t>(internal::Mask(c)) << 16 |
                      static_cast<uint64_t>(internal::Mask(d)) << 32;
      return p + 16 + std::countr_zero(mask);
    }
    p += 64;
  }
#endif
  return internal::Find(
      p, end,
      [wanted](internal::Bytes bytes) {
        return internal::Equal(bytes, wanted);
      },
      [wanted](char c) { return c == wanted; });
}

inline const char* FindEither(const char* p, const char* end, char one,
                              char other) {
  return internal::Find(
      p, end,
      [one, other](internal::Bytes bytes) {
        return internal::Or(internal::Equal(bytes, one),
                            internal::Equal(bytes, other));
      },
      [one, other](char c) { return c == one || c == other; });
}

inline const char* FindTagNameEnd(const char* p, const char* end) {
  return internal::Find(
      p, end,
      [](internal::Bytes bytes) {
        return internal::Or(internal::SpaceOrControl(bytes),
                            internal::Or(internal::Equal(bytes, '/'),
                                         internal::Equal(bytes, '>')));
      },
      EndsTagName);
}

inline const char* FindAttributeNameEnd(const char* p, const char* end) {
  return internal::Find(
      p, end,
      [](internal::Bytes bytes) {
        return internal::Or(internal::Or(internal::SpaceOrControl(bytes),
                                         internal::EqualSignOrGreater(bytes)),
                            internal::Equal(bytes, '/'));
      },
      EndsAttributeName);
}

inline const char* FindUnquotedValueEnd(const char* p, const char* end) {
  return internal::Find(
      p, end,
      [](internal::Bytes bytes) {
        return internal::Or(internal::SpaceOrControl(bytes),
                            internal::Equal(bytes, '>'));
      },
      EndsUnquotedValue);
}

// What keeps an attribute's value from being what it says.
inline const char* FindReferenceOrControl(const char* p, const char* end) {
  return internal::Find(
      p, end,
      [](internal::Bytes bytes) {
        return internal::Or(internal::Or(internal::Equal(bytes, '&'),
                                         internal::Equal(bytes, '\r')),
                            internal::Equal(bytes, '\0'));
      },
      [](char c) { return c == '&' || c == '\r' || c == '\0'; });
}

// U+00A0 in UTF-8.
inline bool IsNoBreakSpace(const char* p, const char* end) {
  return end - p >= 2 && p[0] == '\xc2' && p[1] == '\xa0';
}

// The end of a word of UTF-8: a space, a NUL or a space that does not break.
inline const char* FindWordEnd(const char* p, const char* end) {
  return internal::Find(
      p, end,
      [](internal::Bytes bytes) {
        return internal::Or(internal::SpaceOrControl(bytes),
                            internal::Equal(bytes, '\xc2'));
      },
      [end](const char& c) {
        return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' ||
               c == '\0' || IsNoBreakSpace(&c, end);
      });
}

}  // namespace nephila::parse
