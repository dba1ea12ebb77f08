#include "reputation/top_k.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/text.h"

namespace nephila::reputation {
namespace {

constexpr uint64_t kMostDomains = 1'000'000'000'000;

template <typename Number>
bool ParseWhole(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

Result<TopK> TopK::Parse(std::string_view text) {
  TopK parsed;
  if (text.ends_with('%')) {
    double percent = 0;
    if (ParseWhole(text.substr(0, text.size() - 1), percent) && percent > 0 &&
        percent <= 100) {
      parsed.share_ = percent / 100;
      return parsed;
    }
  } else if (ParseWhole(text, parsed.number_) && parsed.number_ > 0 &&
             parsed.number_ <= kMostDomains) {
    return parsed;
  }
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            "reputation.top_k: '" + EscapeForTerminal(text.substr(0, 40)) +
                "' is neither a number of domains such as 10000 nor a share "
                "such as 0.01%"});
}

uint64_t TopK::Of(uint64_t domains) const {
  if (share_ == 0) return number_;
  return std::max<uint64_t>(static_cast<uint64_t>(std::llround(
                                share_ * static_cast<double>(domains))),
                            1);
}

}  // namespace nephila::reputation
