// CheckJob: whether a job that no process works on is whole: every checksum of
// every file, and what the files say of each other. It changes nothing.
//
//   job.toml, the public suffix list, manifests, journal, the stores and queues
//   of both manifests, the accounting law, the archive with its indexes and
//   logs; then files that nobody names (strays: a crash leaves them, and the
//   next start removes them).
//
//   In: a folder.   Out: a CheckReport; an Error if there is no job, if a
//   process works on it (kBusy), or if settings that keys depend on differ.
//   Threads: one.   Memory: `memory_bytes` beside the tables that the stages
//   need to be opened, flat however large the job.   Disk: scratch files
//   outside the job, 16 bytes a page, if the pages do not fit into memory.
//   Cost: stores, queues and journal are read once, in order, archives three
//   times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "check/findings.h"
#include "config/settings.h"

namespace nephila::check {

struct JobCheckOptions {
  std::string dir;
  // As a crawl would take them; `store.prefix` is the archives'.
  config::Settings settings;
  std::string scratch;  // a folder that is there
  uint64_t memory_bytes = uint64_t{256} << 20;
  size_t most_damages = 100;  // with their words
};

Result<CheckReport> CheckJob(FileSystem& fs, const Clock& clock,
                             const JobCheckOptions& options);

}  // namespace nephila::check
