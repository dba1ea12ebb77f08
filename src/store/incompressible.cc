#include "store/incompressible.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/text.h"

namespace nephila::store {
namespace {

// Fewer bytes say too little, and cost too little to matter.
constexpr size_t kSmallestSample = 1024;
// Of 8 bits a byte. HTML has 4.5 to 5.5, base64 6, UTF-8 of any script below 7;
// 4 KiB of random bytes have 7.95, whose estimate 1 KiB puts at 7.8.
constexpr double kRandomBits = 7.7;
// Where the head says that it is compressed. A server that says gzip and sends
// HTML is a daily sight, so even then the bytes are looked at.
constexpr double kClaimedBits = 6.5;

std::string MediaType(std::string_view text) {
  text = text.substr(0, text.find_first_of("; \t,"));
  return LowerAscii(text);
}

bool IsCompressedType(std::string_view type) {
  // The formats of these families that are not compressed themselves.
  static constexpr auto kPlain = std::to_array<std::string_view>(
      {"image/svg+xml", "image/bmp", "image/x-ms-bmp", "image/x-icon",
       "image/vnd.microsoft.icon", "image/tiff", "audio/wav", "audio/x-wav",
       "audio/midi", "audio/x-mpegurl", "audio/mpegurl", "video/vnd.mpegurl"});
  static constexpr auto kPacked = std::to_array<std::string_view>(
      {"application/zip", "application/gzip", "application/x-gzip",
       "application/x-bzip2", "application/x-xz", "application/zstd",
       "application/x-7z-compressed", "application/vnd.rar",
       "application/x-rar-compressed", "application/java-archive",
       "application/epub+zip", "application/vnd.android.package-archive",
       "application/font-woff", "application/font-woff2", "font/woff",
       "font/woff2"});
  static constexpr auto kFamilies =
      std::to_array<std::string_view>({"image/", "video/", "audio/"});
  if (std::ranges::find(kPacked, type) != kPacked.end()) return true;
  if (std::ranges::find(kPlain, type) != kPlain.end()) return false;
  return std::ranges::any_of(kFamilies, [&](std::string_view family) {
    return type.starts_with(family);
  });
}

bool IsCompressedCoding(std::string_view coding) {
  return !coding.empty() && coding != "identity";
}

// Entropy of single bytes: what Huffman coding alone would leave.
double BitsPerByte(std::string_view bytes) {
  std::array<uint32_t, 256> counts{};
  for (const char c : bytes) ++counts[static_cast<uint8_t>(c)];
  const auto total = static_cast<double>(bytes.size());
  double bits = 0;
  for (const uint32_t count : counts) {
    if (count == 0) continue;
    const double share = count / total;
    bits -= share * std::log2(share);
  }
  return bits;
}

// Random bytes have as many above 127 as below; Latin text has few. Asking this
// first spares most pages the logarithms.
bool MayBeRandom(std::string_view bytes) {
  size_t high = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at,
                std::min(sizeof(word), bytes.size() - at));
    high += static_cast<size_t>(std::popcount(word & 0x8080'8080'8080'8080));
  }
  return high > bytes.size() / 4;
}

}  // namespace

bool LooksIncompressible(std::string_view media_type,
                         std::string_view content_coding,
                         std::string_view first_bytes) {
  const std::string_view sample = first_bytes.substr(0, kSampleBytes);
  if (sample.size() < kSmallestSample || !MayBeRandom(sample)) return false;
  const bool claimed = IsCompressedCoding(MediaType(content_coding)) ||
                       IsCompressedType(MediaType(media_type));
  return BitsPerByte(sample) > (claimed ? kClaimedBits : kRandomBits);
}

}  // namespace nephila::store
