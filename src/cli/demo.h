// nephila demo: what there is to see, without network and in a second.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::cli {

Status RunDemo(const config::Settings& settings, std::ostream& out);

}  // namespace nephila::cli
