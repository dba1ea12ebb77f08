// What verbs that look at a job have in common.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

// The profile, what is fixed and what is kept of the job, if it can be read;
// one that cannot is for the verb to name.
Status PrepareForJob(const std::string& job, SetupOptions* setup);

}  // namespace nephila::cli
