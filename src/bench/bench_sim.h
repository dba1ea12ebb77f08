// nephila bench sim: what it costs to make a page of the simulated web, so that
// no benchmark measures that in place of the crawler.
#pragma once

#include <iosfwd>

#include "base/result.h"

namespace nephila::bench {

struct BenchSimOptions {
  int passes = 200;
  bool json = false;
};

// Makes 200 pages of different hosts, drawn with a fixed seed, `passes` times
// into one buffer; the figure is the fastest pass, in CPU time of the thread.
Status RunBenchSim(const BenchSimOptions& options, std::ostream& out);

}  // namespace nephila::bench
