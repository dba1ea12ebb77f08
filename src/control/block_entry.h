// What `nephila block` is given, as a line of the job's black list.
//   In: words of a user   Out: a line that scope/block_line.h reads, or why
//   there is none   Threads: any
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/settings.h"
#include "url/public_suffix.h"

namespace nephila::control {

// A word alone is a host.
Result<std::string> BlockEntry(std::string_view entry,
                               const config::UrlSettings& settings,
                               const url::PublicSuffixList& suffixes);

}  // namespace nephila::control
