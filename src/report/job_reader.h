// ReadFigures: what a job's folder says of its crawl, running or stopped.
//
// Nothing is locked and nothing changed. Counters, in-degrees and budgets are
// those of the last checkpoint; the history and crawl.log go to their end. A
// crawl that runs may remove what its checkpoint before last named: then the
// newest is taken.
//
//   In: a folder.   Out: Figures, and in them as notes and damages what could
//   not be read; an Error if there is no job, or none that can be read.
//   Threads: one.
//   Memory: `memory_bytes` for the counts of hosts and as much for those of
//   domains, the history (History::kMostRecords of 80 bytes), a manifest.
//   Disk: scratch files, 40 bytes a host, once the counts do not fit.
//   Cost: linear: crawl.log is read once, and again up to where the last of
//   the names that are shown stands; the domains' store once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"
#include "report/figures.h"

namespace nephila::report {

struct ReportOptions {
  std::string dir;
  // As a crawl would take them: bounds that are shown, and how budgets are
  // made.
  config::Settings settings;
  std::string scratch;  // a folder that is there
  uint64_t memory_bytes = uint64_t{64} << 20;
  size_t top = 20;  // rows of a list
};

Result<Figures> ReadFigures(FileSystem& fs, const ReportOptions& options);

// Bytes of crawl.log: what ReadFigures costs.
Result<uint64_t> LogBytes(FileSystem& fs, const std::string& dir);

}  // namespace nephila::report
