// nephila demo: a crawl of the simulated web, without network, in 20 seconds,
// and what came of it.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct DemoOptions {
  std::string time = "15s";  // of the crawl
  std::string job;           // "": a folder that is gone afterwards
};

Status RunDemo(const DemoOptions& options, std::ostream& out,
               std::ostream& err);

}  // namespace nephila::cli
