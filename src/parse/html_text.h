// TextWriter: words and lines of a page, from the pieces between its tags.
//
// Spaces are made one, blocks stand on lines of their own. A string of over 30
// characters without a space is no language (VN s4.5) and is kept out. Letters
// of scripts that write no spaces (Han, kana, Hangul, Thai and neighbours) do
// not count and end such a string: an address inside a Chinese paragraph goes,
// the paragraph stays.
//   In: UTF-8   Out: text of at most max_bytes, lines of words
//   Threads: one writer each   Cost: linear in the text
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::parse {

class TextWriter {
 public:
  static constexpr size_t kLongestWord = 30;

  // `drop_long_words`: else everything is kept, as for a title.
  TextWriter(size_t max_bytes, bool drop_long_words)
      : max_bytes_(max_bytes), drop_long_words_(drop_long_words) {}

  void Clear();
  void Append(std::string_view utf8);
  // A block begins or ends.
  void Break() {
    EndWord();
    gap_ = '\n';
  }
  // The text ends.
  void Finish() { EndWord(); }

  const std::string& text() const { return text_; }
  bool full() const { return full_; }
  uint64_t long_words() const { return long_words_; }

 private:
  void AppendWordPart(std::string_view part);
  void Judge(bool ended);
  void EndWord();
  void WriteWord(std::string_view word);
  void Put(std::string_view words);

  const size_t max_bytes_;
  const bool drop_long_words_;
  std::string text_;
  std::string word_;       // the one that may go on
  bool skipping_ = false;  // it goes on with a string that is too long
  bool full_ = false;
  char gap_ = '\0';  // what has to stand before the next word
  uint64_t long_words_ = 0;
};

}  // namespace nephila::parse
