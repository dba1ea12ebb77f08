// MendLog: after a restart, makes crawl.log say of each record of the archive
// what it should: one line, and none for a record that was cut.
//
//   In: an archive and a log, as of a checkpoint in step; what stands behind in
//       each after a crash   Out: the log, cut and added to
//   Threads: one   Memory: a record's head   Cost: reads what was archived
//   since the checkpoint
//
// Lines are written after their records and are behind them when a process is
// killed; records that no entry of the journal names are cut, and their lines
// may be there. Within a stream both are in one order. A line that is made here
// has all columns but annotations; its time is the end of the fetch.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "store/crawl_log.h"
#include "store/position.h"
#include "store/warc_writer.h"

namespace nephila::store {

struct LogPlace {
  std::string path;    // of the log
  uint64_t begin = 0;  // in step up to here
  uint32_t thread = 0;
};

// `from`: where the archive is in step. REQUIRES: nothing was appended to the
// log since it was opened.
Status MendLog(FileSystem& fs, WarcWriter& archive, Position from,
               const LogPlace& place, CrawlLog* log);

}  // namespace nephila::store
