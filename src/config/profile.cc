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
  }
  return settings;
}

}  // namespace nephila::config
