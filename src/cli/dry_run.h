// `nephila crawl --dry-run`: what a crawl with these settings and seeds would
// do with a list of URLs, rule by rule. Nothing is asked for, and no job is
// made.
//   In: settings, seeds, URLs   Out: a line of JSON for each URL, or, on a
//   terminal, some lines for people   Cost: that of `url` and `scope`
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "cli/crawl_cmd.h"
#include "cli/setup.h"

namespace nephila::cli {

// `for_people`: not JSON.
Status RunDryRun(const Setup& setup, const CrawlCmdOptions& options,
                 bool for_people, std::istream& in, std::ostream& out,
                 std::ostream& err);

}  // namespace nephila::cli
