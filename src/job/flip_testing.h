// What the tests of formats share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nephila::job {

// The text with one bit of the byte at `at` turned over.
inline std::string Flipped(std::string_view text, size_t at, size_t bit) {
  std::string flipped(text);
  const auto byte = static_cast<unsigned char>(flipped[at]);
  flipped[at] = static_cast<char>(byte ^ (1U << bit));
  return flipped;
}

}  // namespace nephila::job
