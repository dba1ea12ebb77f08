#include "parse/charset.h"

#include <array>

#include "parse/charset_guess.h"
#include "parse/prescan.h"

namespace nephila::parse {

std::string_view CharsetSourceName(CharsetSource source) {
  constexpr std::array<std::string_view, 5> kNames = {
      "mark", "header", "declared", "guess", "default"};
  return kNames[static_cast<size_t>(source)];
}

std::optional<Charset> CharsetOfMark(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) {
    return Charset{Encoding::kUtf8, CharsetSource::kMark, 3};
  }
  if (bytes.starts_with("\xfe\xff")) {
    return Charset{Encoding::kUtf16Be, CharsetSource::kMark, 2};
  }
  if (bytes.starts_with("\xff\xfe")) {
    return Charset{Encoding::kUtf16Le, CharsetSource::kMark, 2};
  }
  return std::nullopt;
}

CharsetHints CharsetHintsOf(const config::ParseSettings& settings,
                            std::string_view header) {
  CharsetHints hints;
  hints.header = header;
  hints.guess = settings.guess_charset;
  return hints;
}

Charset DecideCharset(std::string_view bytes, const CharsetHints& hints) {
  if (auto marked = CharsetOfMark(bytes)) return *marked;
  if (auto named = EncodingOfLabel(hints.header)) {
    return {*named, CharsetSource::kHeader, 0};
  }
  auto declared = hints.xml ? XmlDeclaredEncoding(bytes) : Prescan(bytes);
  if (!declared && !hints.xml) declared = Prescan(bytes, kLatePrescanBytes);
  if (declared) return {*declared, CharsetSource::kDeclared, 0};
  if (hints.xml) {
    auto utf16 = GuessUtf16(bytes);
    return {utf16.value_or(Encoding::kUtf8),
            utf16 ? CharsetSource::kGuess : CharsetSource::kDefault, 0};
  }
  if (hints.guess) {
    if (auto guess = GuessEncoding(bytes)) {
      return {*guess, CharsetSource::kGuess, 0};
    }
  }
  return {};
}

}  // namespace nephila::parse
