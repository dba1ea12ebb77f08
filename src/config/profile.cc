#include "config/profile.h"

#include <chrono>

namespace nephila::config {

Settings SettingsOf(Profile profile) {
  Settings settings;
  if (profile == Profile::kSite) {
    settings.politeness.host_delay = std::chrono::seconds(1);
    settings.politeness.host_delay_floor = std::chrono::seconds(1);
    settings.politeness.server_delay = std::chrono::milliseconds(50);
    settings.politeness.domain_delay = std::chrono::milliseconds(50);
    settings.scope.bounds = ScopeBounds::kSite;
    settings.crawl.budgets = false;
    // A small crawl does not stay open for a day because a host is down: what
    // fails is tried for some minutes.
    settings.politeness.dead_pause = std::chrono::minutes(1);
    settings.politeness.give_up_after = 5;
    settings.robots.retry_wait = std::chrono::minutes(1);
    settings.robots.unreachable_attempts = 4;
    settings.fetch.retry_wait = std::chrono::minutes(1);
    settings.fetch.retry_growth = 2;
  }
  return settings;
}

}  // namespace nephila::config
