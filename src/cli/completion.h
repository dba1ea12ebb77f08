// Completion: scripts by which shells complete verbs, options and the names of
// settings behind --set, from what --help knows.
//   In: the verbs and options, the settings   Out: a script
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_doc.h"

namespace nephila::cli {

struct CompletionOptions {
  std::vector<std::string> shells;  // one of bash, zsh, fish
};

Status RunCompletion(const CommandDoc& program,
                     const CompletionOptions& options, std::ostream& out);

}  // namespace nephila::cli
