// ParseStatus: the counters of a manifest (its part `status`), read back: the
// inverse of crawl::FormatStatus, as far as it says them.
//   In: JSON of a disk.   Out: nothing if it is no object.   Threads: any.
#pragma once

#include <optional>
#include <string_view>

#include "crawl/crawl_status.h"

namespace nephila::report {

std::optional<crawl::CrawlStatus> ParseStatus(std::string_view json);

}  // namespace nephila::report
