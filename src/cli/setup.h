// What every verb starts from: settings (--config, --set) and suffix list.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/profile.h"
#include "config/settings.h"
#include "url/public_suffix.h"

namespace nephila::cli {

struct SetupOptions {
  config::Profile profile = config::Profile::kBroad;
  std::vector<std::string> config_files;  // --config FILE, later ones win
  std::vector<std::string> assignments;   // --set key=value, in order
  // What lies under the user's settings, over the profile's; may be null.
  std::function<void(config::Settings*)> adjust;
};

struct Setup {
  config::Settings settings;
  url::PublicSuffixList suffixes;
};

// The profile, then the files, then the assignments; and the list that
// url.public_suffix_list names, or the built-in one.
Result<Setup> LoadSetup(const SetupOptions& options);

}  // namespace nephila::cli
