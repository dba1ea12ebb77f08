// FormatHelp: what --help prints of a program, a group or a verb, in 80
// columns.
#pragma once

#include <string>

#include "cli/command_doc.h"

namespace nephila::cli {

// `note` stands at the end.
std::string FormatHelp(const CommandDoc& command, const std::string& note);

}  // namespace nephila::cli
