// What transfers take while all of them are in the midst of a body.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cli/setup.h"
#include "fetch/nginx_testing.h"

namespace nephila::bench {

struct HeldMemory {
  uint64_t engine_bytes = 0;  // resident, besides the bodies
  uint64_t body_bytes = 0;
};

// Begins so many transfers of a page that comes slowly, looks when all of them
// have some of it, and ends them.
Result<HeldMemory> HoldTransfers(const cli::Setup& setup,
                                 const fetch::TestNginx& nginx,
                                 size_t transfers, bool https);

}  // namespace nephila::bench
