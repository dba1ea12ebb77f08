// SrcsetReader: the image candidates of a `srcset` (or `imagesrcset`) value.
//
// The steps of HTML s4.8.4.3.10, "parse a srcset attribute": commas may stand
// inside a URL, and parentheses keep descriptors together. A candidate whose
// descriptors are in error is passed over, as in browsers.
//   In: an attribute value, character references resolved
//   Out: one candidate a call, views into the value
//   Threads: one reader each   Cost: linear in the value, no allocation
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nephila::parse {

struct SrcsetCandidate {
  std::string_view url;  // never empty
  uint64_t width = 0;    // of "640w"; 0: none
  uint64_t height = 0;   // of "480h", only beside a width; 0: none
  double density = 1;    // of "1.5x"; 1 where neither is given
};

class SrcsetReader {
 public:
  // The value must outlive the reader and what it gives.
  explicit SrcsetReader(std::string_view value) : value_(value) {}

  // False when there are no more.
  bool Next(SrcsetCandidate* candidate);

  // How many candidates were passed over so far for their descriptors.
  size_t refused() const { return refused_; }

 private:
  class Descriptors;

  // Reads descriptors up to the comma that ends them; false if in error.
  bool ReadDescriptors(SrcsetCandidate* candidate);

  std::string_view value_;
  size_t at_ = 0;
  size_t refused_ = 0;
};

}  // namespace nephila::parse
