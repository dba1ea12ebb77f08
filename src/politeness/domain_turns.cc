#include "politeness/domain_turns.h"

#include <algorithm>

namespace nephila::politeness {

DomainTurn DomainTurns::Take(uint64_t key, uint64_t host, MonoTime now,
                             MonoTime latest) {
  if (delay_ <= Length::zero()) return {now, true};
  if (domains_.size() >= tidy_at_) Tidy(now);
  const auto [found, is_new] = domains_.try_emplace(key);
  Domain& domain = found->second;
  if (is_new) domain.next = first_;
  if ((is_new && first_ <= now) || (!is_new && domain.last_host == host)) {
    domain.last_host = host;
    domain.next = std::max(domain.next, After(now, delay_));
    return {now, true};
  }
  const MonoTime turn = std::max(now, domain.next);
  if (turn > latest) {
    domain.away_until = std::max(turn, After(domain.away_until, delay_));
    return {domain.away_until, false};
  }
  domain.last_host = host;
  domain.next = After(turn, delay_);
  return {turn, true};
}

void DomainTurns::Tidy(MonoTime now) {
  std::erase_if(domains_, [now](const auto& entry) {
    return std::max(entry.second.next, entry.second.away_until) <= now;
  });
  // Twice what is left: so looking at all costs a constant for each new one.
  tidy_at_ = std::max<size_t>(1024, 2 * domains_.size());
}

}  // namespace nephila::politeness
