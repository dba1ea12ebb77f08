// Who we are, said before anything is asked for.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::cli {

// kInvalidArgument, with the line to add, if servers could not tell who asks.
Status CheckAgent(const config::AgentSettings& agent);

// Another one each time.
uint64_t RandomSeed();

}  // namespace nephila::cli
