// nephila settings: every setting there is, from the one table.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::cli {

struct SettingsCmdOptions {
  bool markdown = false;  // docs/config.md
  bool toml = false;      // a file to start from, with the values in force
};

Status RunSettings(const config::Settings& settings,
                   const SettingsCmdOptions& options, std::ostream& out);

}  // namespace nephila::cli
