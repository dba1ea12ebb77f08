// Feeding a parser in pieces: whole, of 1, 2, 3 bytes, and at random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace nephila::parse {

class Pieces {
 public:
  static Pieces Whole() { return Pieces("whole", 0, 0); }
  static Pieces Of(size_t bytes) {
    return Pieces("pieces of " + std::to_string(bytes), bytes, 0);
  }
  static Pieces AtRandom(uint64_t seed) {
    return Pieces("random pieces, seed " + std::to_string(seed), 0, seed);
  }

  const std::string& name() const { return name_; }

  // Each piece lies in memory of its own, so that a sanitizer sees who looks
  // beyond it or comes back to it later.
  template <typename Parser>
  void FeedTo(std::string_view input, Parser* parser) const {
    Random random(seed_);
    while (!input.empty()) {
      size_t size = input.size();
      if (bytes_ > 0) size = bytes_;
      if (seed_ > 0) size = 1 + random.Below(24);
      size = std::min(size, input.size());
      std::vector<char> piece(input.begin(), input.begin() + size);
      parser->Feed(std::string_view(piece.data(), piece.size()));
      input.remove_prefix(size);
    }
    parser->Finish();
  }

 private:
  Pieces(std::string name, size_t bytes, uint64_t seed)
      : name_(std::move(name)), bytes_(bytes), seed_(seed) {}

  std::string name_;
  size_t bytes_;
  uint64_t seed_;
};

inline const std::vector<Pieces>& EveryCutting() {
  static const std::vector<Pieces> kAll = {
      Pieces::Whole(),     Pieces::Of(1),       Pieces::Of(2),
      Pieces::Of(3),       Pieces::AtRandom(1), Pieces::AtRandom(2),
      Pieces::AtRandom(3),
  };
  return kAll;
}

}  // namespace nephila::parse
