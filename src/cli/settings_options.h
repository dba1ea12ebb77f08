// --config and --set, which every verb that has settings takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "url/public_suffix.h"

namespace nephila::cli {

struct SettingsOptions {
  std::string config_file;               // --config FILE
  std::vector<std::string> assignments;  // --set key=value, in order
};

// The defaults, then the file, then the assignments.
Result<config::Settings> LoadSettings(const SettingsOptions& options);

// The list that url.public_suffix_list names, or the built-in one.
Result<url::PublicSuffixList> LoadSuffixes(const config::UrlSettings& settings);

}  // namespace nephila::cli
