#include "parse/magic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nephila::parse {
namespace {

using std::string_view_literals::operator""sv;

// Bytes at the beginning, and further ones at an offset (empty: none).
struct Pattern {
  std::string_view begin;
  size_t offset;
  std::string_view then;
  std::string_view type;
};

constexpr std::array<Pattern, 8> kImages = {{
    {"\0\0\1\0"sv, 0, "", "image/x-icon"},
    {"\0\0\2\0"sv, 0, "", "image/x-icon"},
    {"BM", 0, "", "image/bmp"},
    {"GIF87a", 0, "", "image/gif"},
    {"GIF89a", 0, "", "image/gif"},
    {"RIFF", 8, "WEBPVP", "image/webp"},
    {"\x89PNG\r\n\x1a\n", 0, "", "image/png"},
    {"\xff\xd8\xff", 0, "", "image/jpeg"},
}};

constexpr std::array<Pattern, 6> kAudioOrVideo = {{
    {"FORM", 8, "AIFF", "audio/aiff"},
    {"ID3", 0, "", "audio/mpeg"},
    {"OggS\0"sv, 0, "", "application/ogg"},
    {"MThd\0\0\0\6"sv, 0, "", "audio/midi"},
    {"RIFF", 8, "AVI ", "video/avi"},
    {"RIFF", 8, "WAVE", "audio/wave"},
}};

constexpr std::array<Pattern, 6> kFonts = {{
    {"", 34, "LP", "application/vnd.ms-fontobject"},
    {"\0\1\0\0"sv, 0, "", "font/ttf"},
    {"OTTO", 0, "", "font/otf"},
    {"ttcf", 0, "", "font/collection"},
    {"wOFF", 0, "", "font/woff"},
    {"wOF2", 0, "", "font/woff2"},
}};

constexpr std::array<Pattern, 3> kArchives = {{
    {"\x1f\x8b\x08", 0, "", "application/x-gzip"},
    {"PK\x03\x04", 0, "", "application/zip"},
    {"Rar \x1a\x07\0"sv, 0, "", "application/x-rar-compressed"},
}};

constexpr std::array<Pattern, 2> kDocuments = {{
    {"%PDF-", 0, "", "application/pdf"},
    {"%!PS-Adobe-", 0, "", "application/postscript"},
}};

std::string_view Match(std::span<const Pattern> patterns,
                       std::string_view bytes) {
  for (const Pattern& pattern : patterns) {
    if (!bytes.starts_with(pattern.begin)) continue;
    if (!pattern.then.empty() &&
        (bytes.size() < pattern.offset ||
         !bytes.substr(pattern.offset).starts_with(pattern.then))) {
      continue;
    }
    return pattern.type;
  }
  return "";
}

uint32_t BigEndian32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// s6.2.1: a box "ftyp" that names a brand "mp4...".
bool IsMp4(std::string_view bytes) {
  if (bytes.size() < 12) return false;
  uint32_t box = BigEndian32(bytes);
  if (bytes.size() < box || box % 4 != 0) return false;
  if (bytes.substr(4, 4) != "ftyp") return false;
  if (bytes.substr(8, 3) == "mp4") return true;
  for (size_t at = 16; at < box; at += 4) {
    if (bytes.substr(at, 3) == "mp4") return true;
  }
  return false;
}

// s6.2.2: an EBML header whose document type is "webm".
bool IsWebm(std::string_view bytes) {
  if (!bytes.starts_with("\x1a\x45\xdf\xa3")) return false;
  for (size_t at = 4; at < std::min<size_t>(bytes.size(), 38); ++at) {
    if (bytes.substr(at, 2) != "\x42\x82") continue;
    at += 2;
    if (at >= bytes.size()) return false;
    // A number's length stands in its first byte, by the first bit set.
    auto first = static_cast<unsigned char>(bytes[at]);
    size_t length = 1;
    while (length < 8 && (first & (0x80U >> (length - 1))) == 0) ++length;
    at += length;
    if (at + 4 > bytes.size()) return false;
    size_t end = bytes.find_first_not_of('\0', at);
    if (end != std::string_view::npos && bytes.substr(end, 4) == "webm") {
      return true;
    }
  }
  return false;
}

// s6.2.3: the header of an MPEG audio frame (layer III); returns the length of
// the frame, 0 if it is none.
size_t Mp3FrameBytes(std::string_view bytes) {
  if (bytes.size() < 4) return 0;
  auto at = [bytes](size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(bytes[i]));
  };
  if (at(0) != 0xff || (at(1) & 0xe0) != 0xe0) return 0;
  unsigned layer = (at(1) & 0x06) >> 1;
  unsigned rate_index = (at(2) & 0xf0) >> 4;
  unsigned sample_index = (at(2) & 0x0c) >> 2;
  if (layer != 1 || rate_index == 0 || rate_index == 15 || sample_index == 3) {
    return 0;
  }
  constexpr std::array<unsigned, 3> kSampleRates = {44100, 48000, 32000};
  constexpr std::array<unsigned, 15> kMpeg1 = {
      0,      32000,  40000,  48000,  56000,  64000,  80000, 96000,
      112000, 128000, 160000, 192000, 224000, 256000, 320000};
  constexpr std::array<unsigned, 15> kMpeg2 = {
      0,     8000,  16000, 24000,  32000,  40000,  48000, 56000,
      64000, 80000, 96000, 112000, 128000, 144000, 160000};
  unsigned version = (at(1) & 0x18) >> 3;
  bool mpeg1 = (version & 1) != 0;
  unsigned bit_rate = mpeg1 ? kMpeg1[rate_index] : kMpeg2[rate_index];
  unsigned scale = mpeg1 ? 144 : 72;
  unsigned padding = (at(2) & 0x02) != 0 ? 1 : 0;
  return bit_rate * scale / kSampleRates[sample_index] + padding;
}

bool IsMp3(std::string_view bytes) {
  size_t frame = Mp3FrameBytes(bytes);
  return frame >= 4 && frame < bytes.size() &&
         Mp3FrameBytes(bytes.substr(frame)) != 0;
}

}  // namespace

std::string_view MatchImage(std::string_view bytes) {
  return Match(kImages, bytes);
}

std::string_view MatchAudioOrVideo(std::string_view bytes) {
  std::string_view type = Match(kAudioOrVideo, bytes);
  if (!type.empty()) return type;
  if (IsMp4(bytes)) return "video/mp4";
  if (IsWebm(bytes)) return "video/webm";
  return IsMp3(bytes) ? "audio/mpeg" : "";
}

std::string_view MatchFont(std::string_view bytes) {
  return Match(kFonts, bytes);
}

std::string_view MatchArchive(std::string_view bytes) {
  return Match(kArchives, bytes);
}

std::string_view MatchDocument(std::string_view bytes) {
  return Match(kDocuments, bytes);
}

std::string_view IdentifyMagic(std::string_view bytes) {
  for (auto match : {MatchDocument, MatchImage, MatchAudioOrVideo, MatchArchive,
                     MatchFont}) {
    std::string_view type = match(bytes);
    if (!type.empty()) return type;
  }
  return "";
}

}  // namespace nephila::parse
