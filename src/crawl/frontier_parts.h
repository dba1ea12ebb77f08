// What the files of the Frontier share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::crawl {

// Of one step and stage: long enough to be worth its while, short enough that
// what comes meanwhile is soon looked at.
inline constexpr uint64_t kStepUrls = 1000;

// The attempt of a URL that had so many before, at the end of so many
// redirects.
inline uint64_t AttemptKey(const item::UrlRecord& record, uint64_t seed) {
  const uint64_t number = uint64_t{record.followed} << 32 | record.attempts;
  return url::KeysOf(record, seed).url.value ^ (number * kSplitMixStep);
}

inline Unexpected<Error> Corrupt(std::string_view why) {
  return Unexpected(
      Error{ErrorCode::kCorruption,
            "the ready queue holds what is no URL: " + std::string(why)});
}

}  // namespace nephila::crawl
