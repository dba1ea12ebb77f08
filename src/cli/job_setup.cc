#include "cli/job_setup.h"

#include <optional>
#include <string>
#include <utility>

#include "base/real_file_system.h"
#include "job/job_folder.h"
#include "job/kept_settings.h"
#include "job/manifest.h"

namespace nephila::cli {

namespace {

// Those of its last run, by its last manifest, if it has one.
std::optional<config::Settings> LastSettings(FileSystem& fs,
                                             const std::string& job,
                                             uint64_t salt) {
  const auto stored =
      job::ReadManifests(fs, job + "/" + std::string(job::kManifestsDir), salt);
  // What is damaged is said by whoever reads it for more than this.
  if (!stored.has_value() || !stored->newest) return std::nullopt;
  return job::SettingsOf(*stored->newest);
}

}  // namespace

Status PrepareForJob(const std::string& job, SetupOptions* setup) {
  setup->profile = config::Profile::kSite;
  if (job.empty()) return {};
  const auto fs = MakeGuardedFileSystem(job);
  auto file = job::JobFolder::Read(*fs, job);
  if (!file.has_value()) return {};
  setup->profile = file->profile;
  NEPHILA_TRY(job::KeptSettings kept, job::KeptSettings::Read(*fs, job));
  auto last = LastSettings(*fs, job, file->key_seed);
  setup->adjust = [last = std::move(last), fixed = *std::move(file),
                   kept = std::move(kept)](config::Settings* settings) {
    if (last) *settings = *last;
    ApplyFixed(fixed, settings);
    kept.Apply(settings);
  };
  return {};
}

}  // namespace nephila::cli
