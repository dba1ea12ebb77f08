// The pieces that links are put together from: where tags go, and fast copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nephila::bench {

// Offsets in a URL. A tag at `host_end` makes another domain of the same
// suffix (www.example|.co.uk); one at `version_at` another path (/a/page|.html,
// /a/b|?c). Both are the end of a text that is no URL.
struct TagPlaces {
  size_t host_end;
  size_t version_at;
};
TagPlaces FindTagPlaces(std::string_view url);

// How far CopyOver reads and writes behind the end of what it copies.
inline constexpr size_t kCopyOverrun = 16;

// Copies `size` bytes in steps of 16, and returns the end of them in `to`.
inline char* CopyOver(char* to, const char* from, size_t size) {
  char* end = to + size;
  for (; to < end; to += 16, from += 16) std::memcpy(to, from, 16);
  return end;
}

// The number in digits and small letters; up to 13 of them.
inline char* AppendBase36(char* to, uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  char digits[13];
  size_t count = 0;
  do {
    digits[count++] = kDigits[value % 36];
    value /= 36;
  } while (value > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}
std::string Base36(uint64_t value);

}  // namespace nephila::bench
