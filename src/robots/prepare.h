// Prepared: the bytes of a robots.txt file as text whose lines can be read.
//
// Cut at the size limit, behind the last whole line; without a byte order mark,
// or what a bad editor left of one; UTF-16 turned into UTF-8 if a mark says so.
//   Threads: a value. Cost: linear; copies only UTF-16.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nephila::robots {

class Prepared {
 public:
  // `text` outlives this.
  Prepared(std::string_view text, size_t max_bytes);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  std::string_view text() const { return text_; }
  size_t bytes_read() const { return bytes_read_; }  // of the input
  bool cut() const { return cut_; }
  bool utf16() const { return utf16_; }
  // Whether it looks like a page: the first thing in it is a tag.
  bool html() const;

 private:
  void DecodeUtf16(bool big_endian);

  std::string_view text_;
  std::string decoded_;
  size_t bytes_read_ = 0;
  bool cut_ = false;
  bool utf16_ = false;
};

}  // namespace nephila::robots
