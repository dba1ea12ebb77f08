#include "parse/html_text.h"

#include <algorithm>

#include "base/ascii.h"
#include "parse/scan.h"

namespace nephila::parse {
namespace {

// Scripts without spaces between words: Thai to Myanmar, Khmer, and all from
// the radicals on (Han, kana, Hangul, Yi, their forms, planes 2 and 3). And the
// spaces of typesetters.
bool NeedsNoSpaces(uint32_t c) {
  return (c >= 0x0e00 && c < 0x10a0) || (c >= 0x1780 && c < 0x1800) ||
         (c >= 0x2000 && c < 0x200b) || c == 0x2028 || c == 0x2029 ||
         c == 0x205f || (c >= 0x2e80 && c < 0xfb00) ||
         (c >= 0xff00 && c < 0xfff0) || (c >= 0x20000 && c < 0x40000);
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

bool IsInsideCharacter(char c) {
  return (static_cast<uint8_t>(c) & 0xc0) == 0x80;
}

// Whether the character that begins at word[at] ends a string.
bool EndsString(std::string_view word, size_t at) {
  return static_cast<uint8_t>(word[at]) >= 0xe0 &&
         NeedsNoSpaces(CodePoint(word, at));
}

// A string of characters that want spaces between words: [begin, end).
struct String {
  size_t begin = 0;
  size_t end = 0;
  size_t characters = 0;
};

// The first from `at` on; empty at the end of the word if there is none.
String NextString(std::string_view word, size_t at) {
  // Past a character; of bytes that are none, past four at most.
  auto next = [word](size_t i) {
    size_t longest = std::min(i + 4, word.size());
    do ++i;
    while (i < longest && IsInsideCharacter(word[i]));
    return i;
  };
  while (at < word.size() && EndsString(word, at)) at = next(at);
  String found{at, at, 0};
  while (found.end < word.size() && !EndsString(word, found.end)) {
    found.end = next(found.end);
    ++found.characters;
  }
  return found;
}

// How much of a word is kept before it is judged: a word that has no spaces
// may be a whole paragraph.
constexpr size_t kJudgedBytes = 4096;

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
  // A no-break space that came in two pieces.
  if (!word_.empty() && word_.back() == '\xc2' && utf8.starts_with('\xa0')) {
    word_.pop_back();
    utf8.remove_prefix(1);
    EndWord();
    if (gap_ == '\0') gap_ = ' ';
  }
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
  while (!part.empty()) {
    size_t taken = std::min(part.size(), kJudgedBytes - word_.size());
    word_.append(part.substr(0, taken));
    part.remove_prefix(taken);
    if (word_.size() == kJudgedBytes) Judge(/*ended=*/false);
  }
}

void TextWriter::EndWord() {
  Judge(/*ended=*/true);
  skipping_ = false;
}

// Writes of word_ what is decided, and keeps the rest.
void TextWriter::Judge(bool ended) {
  size_t whole = word_.size();
  if (!ended) {  // the last character may not be
    --whole;
    while (whole + 4 > word_.size() && IsInsideCharacter(word_[whole])) --whole;
  }
  std::string_view word = std::string_view(word_).substr(0, whole);
  if (skipping_) {
    size_t end = NextString(word, 0).end;
    if (!word.empty() && EndsString(word, 0)) end = 0;
    skipping_ = end == word.size();
    word.remove_prefix(end);
  }
  if (ended || !drop_long_words_) {
    WriteWord(word);
    word_.erase(0, whole);
    return;
  }
  // Its last string may go on.
  String last{word.size(), word.size(), 0};
  for (size_t at = 0; at < word.size();) {
    String next = NextString(word, at);
    if (next.characters > 0) last = next;
    at = next.end;
  }
  bool goes_on = last.end == word.size() && last.characters > 0;
  size_t decided = goes_on ? last.begin : word.size();
  WriteWord(word.substr(0, decided));
  if (goes_on && last.characters > kLongestWord) {
    skipping_ = true;
    ++long_words_;
    if (gap_ == '\0') gap_ = ' ';
    decided = word.size();
  }
  word_.erase(0, whole - (word.size() - decided));
}

void TextWriter::WriteWord(std::string_view word) {
  if (!drop_long_words_ || word.size() <= kLongestWord) return Put(word);
  size_t kept = 0;
  for (size_t at = 0; at < word.size();) {
    String next = NextString(word, at);
    at = next.end;
    if (next.characters <= kLongestWord) continue;
    Put(word.substr(kept, next.begin - kept));
    if (gap_ == '\0') gap_ = ' ';
    ++long_words_;
    kept = next.end;
  }
  Put(word.substr(kept));
}

void TextWriter::Put(std::string_view words) {
  if (words.empty() || full_) return;
  if (gap_ != '\0' && !text_.empty() && text_.size() < max_bytes_) {
    text_.push_back(gap_);
  }
  gap_ = '\0';
  std::string_view fits = CutTo(words, max_bytes_ - text_.size());
  text_.append(fits);
  full_ = fits.size() < words.size();
}

}  // namespace nephila::parse
