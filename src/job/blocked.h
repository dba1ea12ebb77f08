// The file `blocked` in a job's folder: what its owner does not want to be
// asked for any more, a line each, as `nephila block` adds them.
//
//   In: "host NAME", "domain NAME", "url URL", "surt PREFIX", "address NET"; a
//   word alone is a host   Out: a line of the file   Threads: one writes
//   Disk: appended and synced; docs/scope.md says what lines mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

// The line of an entry; kInvalidArgument for what is none.
Result<std::string> BlockedLine(std::string_view entry);
// One write and one sync for all: durable when it returns. After an error some
// of them may be there. REQUIRES: lines of BlockedLine; the caller is the only
// one who writes (he has the job's lock).
Status AppendBlocked(FileSystem& fs, const std::string& dir,
                     const std::vector<std::string>& lines);

}  // namespace nephila::job
