#include "cli/setup.h"

#include <utility>

#include "base/file.h"
#include "base/real_file_system.h"
#include "caps/caps.h"
#include "config/load.h"
#include "control/sockets.h"
#include "net/address_guard.h"
#include "net/port_guard.h"
#include "politeness/site_delays.h"
#include "scope/block_files.h"
#include "scope/scope.h"
#include "url/canonicalizer.h"

namespace nephila::cli {
namespace {

Result<config::Settings> LoadSettings(const SetupOptions& options) {
  config::Settings settings = config::SettingsOf(options.profile);
  if (options.adjust) options.adjust(&settings);
  auto fs = MakeRealFileSystem();
  for (const std::string& file : options.config_files) {
    NEPHILA_TRY(std::string text,
                ReadWholeFile(*fs, file, config::kMaxTomlBytes));
    NEPHILA_RETURN_IF_ERROR(config::ApplyToml(text, file, &settings));
  }
  for (const std::string& assignment : options.assignments) {
    if (auto applied = config::ApplySet(assignment, &settings); !applied) {
      return Unexpected(std::move(applied).error().WithContext("--set"));
    }
  }
  // Said now, not when the first connection is made.
  NEPHILA_RETURN_IF_ERROR(net::AddressGuard::Make(settings.guard));
  NEPHILA_RETURN_IF_ERROR(net::PortGuard::Check(settings.url));
  NEPHILA_RETURN_IF_ERROR(
      politeness::SiteDelays::Parse(settings.politeness.site_delays));
  if (!settings.control.http.empty()) {
    NEPHILA_RETURN_IF_ERROR(control::ParseLoopback(settings.control.http));
  }
  return settings;
}

Result<url::PublicSuffixList> LoadSuffixes(const std::string& path) {
  if (path.empty()) return url::PublicSuffixList::BuiltIn();
  // The list is a third of a megabyte today.
  constexpr size_t kLongestList = size_t{16} << 20;
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(std::string text, ReadWholeFile(*fs, path, kLongestList));
  auto list = url::PublicSuffixList::Parse(text);
  if (!list) return Unexpected(std::move(list).error().WithContext(path));
  return list;
}

}  // namespace

Result<Setup> LoadSetup(const SetupOptions& options) {
  NEPHILA_TRY(config::Settings settings, LoadSettings(options));
  auto suffixes = LoadSuffixes(settings.url.public_suffix_list);
  if (!suffixes) {
    return Unexpected(
        std::move(suffixes).error().WithContext("url.public_suffix_list"));
  }
  // Said now, not when the job is there.
  NEPHILA_RETURN_IF_ERROR(scope::Scope::Make(settings.scope, *suffixes));
  NEPHILA_RETURN_IF_ERROR(caps::ParseSiteCaps(settings.scope.site_caps));
  url::Canonicalizer canonicalizer(settings.url, *suffixes, /*seed=*/0);
  NEPHILA_RETURN_IF_ERROR(
      scope::ReadBlockSetting(settings.scope, canonicalizer, *suffixes));
  return Setup{std::move(settings), *std::move(suffixes)};
}

}  // namespace nephila::cli
