// DescriptorPlan: how the limit of open files (ulimit -n) is divided, as
// MemoryPlan divides `crawl.memory`. It is the only owner of these figures.
//
//   In: settings, the limit   Out: the plan, or one line that says how many
//   descriptors are needed   Threads: any; plain functions.
//
// A reserve is set apart for everything that is not a connection to a server:
// files of the stages, the archive and the job, event loops, resolver sockets,
// the control socket. The rest is one budget that transfers and kept
// connections share (fetch/connection_budget.h). A large crawl needs more files
// than a small one, since its stores have more runs, so the reserve is half of
// the limit between two bounds: what a small crawl needs, and the most that any
// crawl opens.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::crawl {

struct DescriptorPlan {
  size_t limit = 0;        // of the process
  size_t reserved = 0;     // for files, loops, resolver and control
  size_t connections = 0;  // transfers and kept connections together
  size_t transfers = 0;    // at once, as memory and connections allow
  // Sockets of transfers have numbers below this, so that the numbers above
  // are left for files even if more are open than was planned.
  int max_descriptor = 0;
};

// The lowest limit with which a crawl of these settings starts.
size_t LeastDescriptors(const config::Settings& settings);
// An error if `limit` is lower than LeastDescriptors.
Result<DescriptorPlan> PlanDescriptors(const config::Settings& settings,
                                       size_t limit);

}  // namespace nephila::crawl
