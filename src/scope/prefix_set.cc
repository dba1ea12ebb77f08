#include "scope/prefix_set.h"

#include <iterator>

namespace nephila::scope {

void PrefixSet::Add(std::string_view prefix, uint32_t number) {
  if (Find(prefix)) return;
  auto next = prefixes_.lower_bound(prefix);
  while (next != prefixes_.end() && next->first.starts_with(prefix)) {
    next = prefixes_.erase(next);
  }
  prefixes_.emplace_hint(next, prefix, number);
}

std::optional<uint32_t> PrefixSet::Find(std::string_view text) const {
  const auto after = prefixes_.upper_bound(text);
  if (after == prefixes_.begin()) return std::nullopt;
  const auto last = std::prev(after);
  if (!text.starts_with(last->first)) return std::nullopt;
  return last->second;
}

}  // namespace nephila::scope
