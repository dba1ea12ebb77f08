// nephila demo: a crawl of the simulated web, without network, in some seconds.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct DemoOptions {
  std::string time = "10s";  // of the crawl
  std::string job;           // "": a new folder among temporary files
};

Status RunDemo(const DemoOptions& options, std::ostream& out,
               std::ostream& err);

}  // namespace nephila::cli
