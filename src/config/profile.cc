#include "config/profile.h"

#include <chrono>

namespace nephila::config {

Settings SettingsOf(Profile profile) {
  Settings settings;
  if (profile == Profile::kSite) {
    settings.politeness.host_delay = std::chrono::seconds(1);
    settings.politeness.host_delay_floor = std::chrono::seconds(1);
  }
  return settings;
}

}  // namespace nephila::config
