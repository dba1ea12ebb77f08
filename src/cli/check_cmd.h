// nephila check: whether a job on disk is whole (check/job_check.h), and
// whether the log of a server shows a polite crawl (sim/politeness_check.h).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct CheckCmdOptions {
  std::string job;
  std::string politeness;  // the log of a server
  // Over those of the job.
  std::optional<std::string> host_delay;
  std::optional<std::string> server_delay;
  std::string tolerance = "10ms";
  std::string memory = "256MiB";
  std::string scratch;  // empty: the system's folder for such
  bool json = false;
};

// The profile and what is fixed of the job, if it can be read.
Status PrepareCheck(const CheckCmdOptions& options, SetupOptions* setup);

// Prints what was found. *is_unsound if there is damage, or a contact that came
// early: the error then says how many. kBusy if a process works on the job.
Status RunCheck(const Setup& setup, const CheckCmdOptions& options,
                std::ostream& out, bool* is_unsound);

}  // namespace nephila::cli
