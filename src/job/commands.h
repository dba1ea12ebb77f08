// The file `commands` in a job's folder: what somebody wants of the next run, a
// line each. The run makes entries of the journal of them, and removes it.
//   Disk: written aside and renamed; docs/formats/job.md.
//   Threads: whoever has the job's lock.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

// Durable when it returns. REQUIRES: one line.
Status AppendCommand(FileSystem& fs, const std::string& dir,
                     const std::string& command);
// None if there is no such file.
Result<std::vector<std::string>> ReadCommands(FileSystem& fs,
                                              const std::string& dir);
// They are in the journal, durably.
Status RemoveCommands(FileSystem& fs, const std::string& dir);

}  // namespace nephila::job
