#include "parse/html_text.h"

#include <algorithm>

#include "base/ascii.h"
#include "parse/scan.h"

namespace nephila::parse {
namespace {

// Scripts without spaces between words: Thai to Myanmar, Khmer, and all from
// the radicals on (Han, kana, Hangul, Yi, their forms, planes 2 and 3).
bool NeedsNoSpaces(uint32_t c) {
  return (c >= 0x0e00 && c < 0x10a0) || (c >= 0x1780 && c < 0x1800) ||
         (c >= 0x2e80 && c < 0xfb00) || (c >= 0xff00 && c < 0xfff0) ||
         (c >= 0x20000 && c < 0x40000);
}

// The code point that begins at text[at]; what is no UTF-8 counts as itself.
uint32_t CodePoint(std::string_view text, size_t at) {
  auto byte = [text](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  uint32_t first = byte(at);
  if (first >= 0xf0) {
    return (first & 7) << 18 | (byte(at + 1) & 0x3f) << 12 |
           (byte(at + 2) & 0x3f) << 6 | (byte(at + 3) & 0x3f);
  }
  if (first >= 0xe0) {
    return (first & 15) << 12 | (byte(at + 1) & 0x3f) << 6 |
           (byte(at + 2) & 0x3f);
  }
  return first;  // below U+0800 no script matters here
}

bool IsTooLong(std::string_view word) {
  if (word.size() <= TextWriter::kLongestWord) return false;
  size_t run = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    auto byte = static_cast<uint8_t>(word[i]);
    if (byte >= 0x80 && byte < 0xc0) continue;  // inside a character
    run = byte >= 0xe0 && NeedsNoSpaces(CodePoint(word, i)) ? 0 : run + 1;
    if (run > TextWriter::kLongestWord) return true;
  }
  return false;
}

// How much of a word is kept before it is judged: a word that has no spaces
// may be a whole paragraph.
constexpr size_t kJudgedBytes = 4096;

bool IsInsideCharacter(char c) {
  return (static_cast<uint8_t>(c) & 0xc0) == 0x80;
}

// `utf8` cut to at most `limit` bytes, between characters.
std::string_view CutTo(std::string_view utf8, size_t limit) {
  if (utf8.size() <= limit) return utf8;
  while (limit > 0 && IsInsideCharacter(utf8[limit])) --limit;
  return utf8.substr(0, limit);
}

}  // namespace

void TextWriter::Clear() {
  text_.clear();
  word_.clear();
  skipping_ = false;
  full_ = false;
  gap_ = '\0';
  long_words_ = 0;
}

void TextWriter::Append(std::string_view utf8) {
  if (full_) return;
  const char* p = utf8.data();
  const char* end = p + utf8.size();
  while (p != end) {
    const char* stop = FindWordEnd(p, end);
    std::string_view part(p, static_cast<size_t>(stop - p));
    p = stop;
    if (p != end && word_.empty() && !skipping_ && part.size() < kJudgedBytes) {
      WriteWord(part);  // nearly always: the whole word is here
    } else {
      AppendWordPart(part);
      if (p == end) return;
      EndWord();
    }
    if (gap_ == '\0') gap_ = ' ';
    while (p != end) {
      if (IsSpace(*p) || *p == '\0') {
        ++p;
      } else if (IsNoBreakSpace(p, end)) {
        p += 2;
      } else {
        break;
      }
    }
  }
}

// A word is judged at its end, or when so much of it is known: at the same
// places however the text is cut.
void TextWriter::AppendWordPart(std::string_view part) {
  while (!skipping_ && !part.empty()) {
    size_t taken = std::min(part.size(), kJudgedBytes - word_.size());
    word_.append(part.substr(0, taken));
    part.remove_prefix(taken);
    if (word_.size() < kJudgedBytes) return;
    if (drop_long_words_ && IsTooLong(word_)) {
      skipping_ = true;
      ++long_words_;
      word_.clear();
      return;
    }
    // The last character may not be whole yet.
    size_t last = word_.size() - 1;
    while (last > word_.size() - 4 && IsInsideCharacter(word_[last])) --last;
    WriteWord(std::string_view(word_).substr(0, last));
    word_.erase(0, last);
  }
}

void TextWriter::EndWord() {
  skipping_ = false;
  WriteWord(word_);
  word_.clear();
}

void TextWriter::WriteWord(std::string_view word) {
  if (word.empty() || full_) return;
  if (drop_long_words_ && IsTooLong(word)) {
    ++long_words_;
    return;
  }
  if (gap_ != '\0' && !text_.empty() && text_.size() < max_bytes_) {
    text_.push_back(gap_);
  }
  gap_ = '\0';
  std::string_view fits = CutTo(word, max_bytes_ - text_.size());
  text_.append(fits);
  full_ = fits.size() < word.size();
}

}  // namespace nephila::parse
