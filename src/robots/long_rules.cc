#include "robots/long_rules.h"

#include <algorithm>
#include <utility>

namespace nephila::robots {
namespace {

// A search through a list is cheap against a read, up to some.
constexpr size_t kMostLoaded = 64;
// What a matcher may make of its rules, as a multiple of them (wild_scan.h).
constexpr uint64_t kMatcherFactor = 4;

uint64_t Weight(const std::string& bytes) {
  return kMatcherFactor * bytes.size();
}

}  // namespace

Result<std::unique_ptr<LongRules::Loaded>> LongRules::Load(
    uint64_t key, const RulesPlace& place) {
  NEPHILA_TRY(auto bytes, log_.Read(key, place));
  // The view must be of bytes that stay where they are.
  auto text = std::make_unique<std::string>(std::move(bytes));
  NEPHILA_TRY(const Rules rules, Rules::Open(*text));
  return std::make_unique<Loaded>(place, std::move(text), rules);
}

Result<bool> LongRules::Allows(uint64_t key, const RulesPlace& place,
                               std::string_view path) {
  const auto found =
      std::find_if(loaded_.begin(), loaded_.end(),
                   [&place](const auto& one) { return one->place == place; });
  if (found != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, found);
  } else {
    NEPHILA_TRY(auto loaded, Load(key, place));
    used_bytes_ += Weight(*loaded->bytes);
    loaded_.push_front(std::move(loaded));
  }
  while (loaded_.size() > 1 &&
         (used_bytes_ > memory_bytes_ || loaded_.size() > kMostLoaded)) {
    used_bytes_ -= Weight(*loaded_.back()->bytes);
    loaded_.pop_back();
  }
  return loaded_.front()->matcher.Match(path).allowed;
}

}  // namespace nephila::robots
