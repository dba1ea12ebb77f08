#include "cli/settings_cmd.h"

#include <ostream>

#include "config/load.h"
#include "config/reference.h"

namespace nephila::cli {

Status RunSettings(const Setup& setup, const SettingsCmdOptions& options,
                   std::ostream& out) {
  if (options.markdown) {
    out << config::ReferenceMarkdown();
  } else if (options.toml) {
    out << config::FormatToml(setup.settings);
  } else {
    out << config::ReferenceText();
  }
  return {};
}

}  // namespace nephila::cli
