// Who we are, said before anything is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::cli {

// kInvalidArgument, with the line to add, if servers could not tell who asks.
Status CheckAgent(const config::AgentSettings& agent);

// The fields of each archive's first record.
std::vector<std::pair<std::string, std::string>> ArchiveInfo(
    const config::Settings& settings);

// Another one each time.
uint64_t RandomSeed();

}  // namespace nephila::cli
