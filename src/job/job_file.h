// JobFile: what job.toml says of a job: what was fixed when it was made.
//
// In, out: TOML with a checksum at its end, so that a damaged seed is not
// taken for another one. People may read it; nobody edits it.
//   Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "config/profile.h"
#include "config/settings.h"

namespace nephila::job {

// Of a job's folder as a whole: layout and what must be understood to go on.
inline constexpr int64_t kJobFormat = 1;

struct JobFile {
  bool operator==(const JobFile&) const = default;

  // Of URLs, hosts and domains, and of all that is salted.
  uint64_t key_seed = 0;
  std::string made;     // 2026-01-02T03:04:05.678Z
  std::string version;  // of the nephila that made it
  config::Profile profile = config::Profile::kBroad;
  // CRC-32C of public_suffix_list.dat; 0 if the job has no list of its own.
  uint32_t suffix_list_crc = 0;
  uint64_t suffix_list_bytes = 0;
  // Only what keys depend on is kept; the rest is as by default. The path of
  // the public suffix list is no part of it: its text is what counts.
  config::Settings fixed;
};

std::string FormatJobFile(const JobFile& file);
// `path` is for messages. kUnsupported for a later format; kCorruption if the
// checksum does not fit.
Result<JobFile> ReadJobFile(std::string_view text, std::string_view path);

// Gives `settings` the values that the job has fixed.
void ApplyFixed(const JobFile& file, config::Settings* settings);
// kInvalidArgument, naming each setting in one line, if `settings` has another
// value for one that keys depend on.
Status CheckFixed(const JobFile& file, const config::Settings& settings,
                  std::string_view dir);

}  // namespace nephila::job
