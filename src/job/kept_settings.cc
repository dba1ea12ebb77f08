#include "job/kept_settings.h"

#include <fmt/core.h>

#include "base/check.h"
#include "config/load.h"
#include "config/table.h"
#include "job/job_folder.h"

namespace nephila::job {
namespace {

constexpr std::string_view kHead =
    "# Changed by `nephila set`. They hold at every start, unless --config or\n"
    "# --set say otherwise.\n";

std::string PathIn(const std::string& dir) {
  return fmt::format("{}/{}", dir, kSettingsName);
}

}  // namespace

Result<KeptSettings> KeptSettings::Read(FileSystem& fs,
                                        const std::string& dir) {
  KeptSettings kept;
  const std::string path = PathIn(dir);
  const auto text = ReadWholeFile(fs, path, config::kMaxTomlBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return kept;
  if (!text) return Unexpected(text.error());
  std::vector<std::string_view> names;
  NEPHILA_RETURN_IF_ERROR(
      config::ApplyToml(*text, path, &kept.settings_, &names));
  const config::Settings settings = kept.settings_;
  for (const std::string_view name : names) kept.Keep(name, settings);
  return kept;
}

Status KeptSettings::Write(FileSystem& fs, const std::string& dir) const {
  std::string text(kHead);
  for (const auto& [name, value] : values_) {
    text += fmt::format("{} = {}\n", name, value);
  }
  return PublishFile(fs, PathIn(dir), text);
}

void KeptSettings::Apply(config::Settings* settings) const {
  for (const auto& [name, value] : values_) {
    const config::Row* row = config::FindRow(config::AllRows(), name);
    NEPHILA_CHECK(row != nullptr);
    row->set(settings, row->get(&settings_));
  }
}

void KeptSettings::Keep(std::string_view name,
                        const config::Settings& settings) {
  const config::Row* row = config::FindRow(config::AllRows(), name);
  NEPHILA_CHECK(row != nullptr);
  row->set(&settings_, row->get(&settings));
  values_[std::string(name)] =
      config::FormatTomlValue(*row, row->get(&settings));
}

}  // namespace nephila::job
