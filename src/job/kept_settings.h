// KeptSettings: settings.toml in a job's folder: what `nephila set` has changed
// of the job's settings. They lie over those of the profile, under what the
// user says at a start.
//
//   settings.toml: a line "name = value" for each, in TOML, by name; people may
//   write it too. docs/formats/job.md.
//   Disk: written aside, synced and renamed.   Threads: one.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"

namespace nephila::job {

class KeptSettings {
 public:
  // Of the job in `dir`; none if it has no such file. kInvalidArgument, with
  // file and line, for what is no setting.
  static Result<KeptSettings> Read(FileSystem& fs, const std::string& dir);
  Status Write(FileSystem& fs, const std::string& dir) const;

  // Changes those that are kept, and no other.
  void Apply(config::Settings* settings) const;
  // Keeps the value that `settings` has. REQUIRES: there is such a setting.
  void Keep(std::string_view name, const config::Settings& settings);

  // By name, as TOML has the value.
  const std::map<std::string, std::string, std::less<>>& values() const {
    return values_;
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  config::Settings settings_;  // with these values
};

}  // namespace nephila::job
