#include "parse/charset_guess.h"

#include <unicode/ucsdet.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/check.h"
#include "parse/charset_tables.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

// Statistics need no more than this, and their time grows with it.
constexpr size_t kSampleBytes = size_t{2} << 10;
// ICU says 10 of a few bytes that happen to be pairs, and is wrong then.
constexpr int32_t kLeastConfidence = 11;

struct CloseDetector {
  void operator()(UCharsetDetector* detector) const { ucsdet_close(detector); }
};

constexpr bool IsAsciiByte(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

// The words with legacy bytes in them and those beside them, without tags:
// scripts, menus and markup are ASCII, and the same in all languages.
std::string Sample(std::string_view bytes) {
  constexpr size_t kBeside = 24;
  std::string sample;
  sample.reserve(kSampleBytes);
  size_t taken = 0;  // up to here
  for (size_t at = 0; sample.size() < kSampleBytes;) {
    at += AsciiPrefix(bytes.substr(at));
    if (at == bytes.size()) break;
    size_t begin = std::max(taken, at - std::min(at, kBeside));
    size_t tag = bytes.substr(begin, at - begin).rfind('>');
    if (tag != std::string_view::npos) begin += tag + 1;
    while (at < bytes.size() && !IsAsciiByte(bytes[at])) ++at;
    size_t end = std::min(at + kBeside, bytes.size());
    end = std::min(bytes.substr(0, end).find('<', at), end);
    // The legacy bytes within are part of this stretch.
    while (end > at && !IsAsciiByte(bytes[end - 1])) --end;
    if (begin > taken) sample.push_back(' ');
    sample.append(bytes.substr(begin, end - begin));
    taken = end;
    at = std::max(at, end);
  }
  sample.resize(std::min(sample.size(), kSampleBytes));
  return sample;
}

// One of the encodings that the standard has, pages are written in, and that
// has no marks or escapes of its own: those were looked for before.
std::optional<Encoding> Legacy(std::string_view icu_name) {
  std::optional<Encoding> encoding = EncodingOfLabel(icu_name);
  if (!encoding || *encoding == Encoding::kUtf8 ||
      !IsAsciiCompatible(*encoding)) {
    return std::nullopt;
  }
  return encoding;
}

std::optional<Encoding> GuessByLetters(std::string_view sample) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UCharsetDetector, CloseDetector> detector(
      ucsdet_open(&status));
  // There is no memory: nothing is guessed.
  if (U_FAILURE(status)) return std::nullopt;
  ucsdet_setText(detector.get(), sample.data(),
                 static_cast<int32_t>(sample.size()), &status);
  int32_t count = 0;
  const UCharsetMatch** matches =
      ucsdet_detectAll(detector.get(), &count, &status);
  if (U_FAILURE(status)) return std::nullopt;
  for (int32_t i = 0; i < count; ++i) {
    if (ucsdet_getConfidence(matches[i], &status) < kLeastConfidence) break;
    if (auto encoding = Legacy(ucsdet_getName(matches[i], &status))) {
      return encoding;
    }
  }
  return std::nullopt;
}

bool HasJapaneseEscape(std::string_view bytes) {
  for (std::string_view escape : {"\x1b$B", "\x1b$@", "\x1b(J", "\x1b(I"}) {
    if (bytes.find(escape) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::optional<Encoding> GuessUtf16(std::string_view bytes) {
  constexpr size_t kLookedAt = 1024;
  bytes = bytes.substr(0, std::min(bytes.size(), kLookedAt) & ~size_t{1});
  size_t pairs = bytes.size() / 2;
  if (pairs < 4) return std::nullopt;
  size_t zeros_first = 0;
  size_t zeros_second = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    if (bytes[i] == '\0') ++zeros_first;
    if (bytes[i + 1] == '\0') ++zeros_second;
  }
  // Markup alone makes up more than a quarter of a page's beginning, and text
  // has no U+0000.
  if (zeros_second * 4 >= pairs && zeros_first * 32 <= pairs) {
    return Encoding::kUtf16Le;
  }
  if (zeros_first * 4 >= pairs && zeros_second * 32 <= pairs) {
    return Encoding::kUtf16Be;
  }
  return std::nullopt;
}

bool LooksLikeUtf8(std::string_view bytes) {
  constexpr size_t kLongestCutOff = 3;
  constexpr size_t kForgiven =
      16;  // valid sequences that outweigh a broken one
  size_t valid = 0;
  size_t broken = 0;
  size_t at = 0;
  for (;;) {
    at += AsciiPrefix(bytes.substr(at));
    if (at == bytes.size()) break;
    size_t begin = at;
    if (url::ReadUtf8(bytes, &at) != kReplacementCharacter ||
        bytes.substr(begin, 3) == "\xef\xbf\xbd") {
      ++valid;
    } else if (at < bytes.size() || at - begin > kLongestCutOff) {
      ++broken;
    }
  }
  return valid > 0 && broken * kForgiven <= valid;
}

std::optional<Encoding> GuessEncoding(std::string_view bytes) {
  if (auto utf16 = GuessUtf16(bytes)) return utf16;
  size_t first = AsciiPrefix(bytes);
  if (first == bytes.size()) {
    if (HasJapaneseEscape(bytes.substr(0, kGuessBytes))) {
      return Encoding::kIso2022Jp;
    }
    return std::nullopt;
  }
  bytes = bytes.substr(first - std::min(first, size_t{256}), kGuessBytes);
  if (LooksLikeUtf8(bytes)) return Encoding::kUtf8;
  return GuessByLetters(Sample(bytes));
}

}  // namespace nephila::parse
