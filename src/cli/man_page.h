// FormatManPage: the man page nephila(1), from what --help knows.
//   In: the verbs and options   Out: groff's man macros, ASCII
#pragma once

#include <string>
#include <string_view>

#include "cli/command_doc.h"

namespace nephila::cli {

std::string FormatManPage(const CommandDoc& program, std::string_view version);

}  // namespace nephila::cli
