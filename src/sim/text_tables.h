// TextTables: the words and pieces of marked-up text that simulated pages are
// put together from, and the public suffixes that their hosts are named by.
//
// Made once, always the same. Pages take whole pieces, so that a page costs
// little more than the copying of its bytes, and zlib finds in it about what it
// finds in real pages (docs/sim.md).
//   Threads: immutable. Memory: 0.3 MB. Cost: some milliseconds to make.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/mix.h"

namespace nephila::sim {

class TextTables {
 public:
  TextTables();

  static constexpr size_t kWords = 4096;
  static constexpr size_t kPieces = 1024;

  // Letters only. Common words come first.
  std::string_view word(size_t i) const { return words_[i % kWords]; }
  // A paragraph with its tags: 100 to 500 bytes, no links.
  std::string_view piece(size_t i) const { return pieces_[i % kPieces]; }

  // The suffix that `bits` choose: .com for nearly half, else one of many of
  // one, two or three labels, all on the Public Suffix List.
  static std::string_view Suffix(uint64_t bits);

 private:
  std::string MakePiece(Draw* draw) const;

  std::vector<std::string> words_;
  std::vector<std::string> pieces_;
};

}  // namespace nephila::sim
