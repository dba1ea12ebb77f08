// `nephila status`: the numbers of a job: of a running one as it says itself,
// of a stopped one by its last checkpoint.
#pragma once

#include <iosfwd>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace nephila::cli {

struct StatusCmdOptions {
  std::string job;
  bool json = false;
};

Status RunStatus(FileSystem& fs, const StatusCmdOptions& options,
                 std::ostream& out);

}  // namespace nephila::cli
