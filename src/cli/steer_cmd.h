// `nephila pause`, `resume`, `checkpoint`, `set`, `block`, `retry`: a crawl is
// steered through the socket in its folder while it runs. What a stopped job
// can keep, settings, black lists and what the next run is to do, is written
// into its folder.
//
// An error is one line: kNotFound without a job, or where a crawl has to run
// and none does; kBusy if a process has the job and cannot be asked (it
// starts, or checks it).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::cli {

struct SteerOptions {
  std::string job;
  std::vector<std::string> words;     // of `set` and `block`
  std::vector<std::string> outcomes;  // of `retry`
  bool json = false;                  // the answer as it came
};

Status RunPause(FileSystem& fs, const SteerOptions& options, std::ostream& out);
Status RunResume(FileSystem& fs, const SteerOptions& options,
                 std::ostream& out);
Status RunCheckpoint(FileSystem& fs, const SteerOptions& options,
                     std::ostream& out);
Status RunSet(FileSystem& fs, const SteerOptions& options, std::ostream& out);
Status RunRetry(FileSystem& fs, const SteerOptions& options, std::ostream& out);
Status RunBlock(FileSystem& fs, const SteerOptions& options, std::ostream& out);

}  // namespace nephila::cli
