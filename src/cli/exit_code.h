// What the program's exit status says; `nephila --help` lists them.
#pragma once

namespace nephila::cli {

enum ExitCode : int {
  kSuccess = 0,
  kFailed = 1,       // something went wrong while running (disk, input)
  kUsage = 2,        // a wrong command line
  kBadSettings = 3,  // a wrong setting, in a file or by --set
  kUnsound = 4,      // a check found damage, or contacts that came early
  kInUse = 5,        // another process works on the job
};

}  // namespace nephila::cli
