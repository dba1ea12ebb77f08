// Profiles: settings that belong together, as the defaults of a crawl.
#pragma once

#include <cstdint>

#include "config/settings.h"

namespace nephila::config {

enum class Profile : uint8_t {
  kBroad,  // IRLbot's: the defaults of the table
  kSite,   // a few sites: their hosts alone, each asked once a second
};

// The settings of a profile, before those of the user.
Settings SettingsOf(Profile profile);

}  // namespace nephila::config
