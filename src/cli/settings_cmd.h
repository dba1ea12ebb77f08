// nephila settings: every setting there is, from the one table.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct SettingsCmdOptions {
  bool markdown = false;  // docs/config.md
  bool toml = false;      // a file to start from, with the values in force
};

Status RunSettings(const Setup& setup, const SettingsCmdOptions& options,
                   std::ostream& out);

}  // namespace nephila::cli
