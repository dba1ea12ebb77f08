// TopK: how many domains are "the best", as a number or as a share.
//
// In: the text of reputation.top_k, "10000" or "0.01%". Out: K for a number of
// domains. Threads: a value.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace nephila::reputation {

class TopK {
 public:
  // kInvalidArgument, with what would be right, for anything else.
  static Result<TopK> Parse(std::string_view text);

  // At least 1.
  uint64_t Of(uint64_t domains) const;

 private:
  TopK() = default;

  double share_ = 0;  // 0: the number counts
  uint64_t number_ = 1;
};

}  // namespace nephila::reputation
