// nephila demo: what there is to see, without network and in a second.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

Status RunDemo(const Setup& setup, std::ostream& out);

}  // namespace nephila::cli
