#include "cli/settings_options.h"

#include "base/file.h"
#include "base/real_file_system.h"
#include "config/load.h"

namespace nephila::cli {

Result<config::Settings> LoadSettings(const SettingsOptions& options) {
  config::Settings settings;
  if (!options.config_file.empty()) {
    auto fs = MakeRealFileSystem();
    NEPHILA_TRY(std::string text,
                ReadWholeFile(*fs, options.config_file, config::kMaxTomlBytes));
    NEPHILA_RETURN_IF_ERROR(
        config::ApplyToml(text, options.config_file, &settings));
  }
  for (const std::string& assignment : options.assignments) {
    auto applied = config::ApplySet(assignment, &settings);
    if (!applied) {
      return Unexpected(std::move(applied).error().WithContext("--set"));
    }
  }
  return settings;
}

Result<url::PublicSuffixList> LoadSuffixes(
    const config::UrlSettings& settings) {
  if (settings.public_suffix_list.empty()) {
    return url::PublicSuffixList::BuiltIn();
  }
  // The list is a third of a megabyte today.
  constexpr size_t kLongestList = size_t{16} << 20;
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(std::string text,
              ReadWholeFile(*fs, settings.public_suffix_list, kLongestList));
  auto list = url::PublicSuffixList::Parse(text);
  if (!list) {
    return Unexpected(
        std::move(list).error().WithContext(settings.public_suffix_list));
  }
  return list;
}

}  // namespace nephila::cli
