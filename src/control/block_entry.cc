#include "control/block_entry.h"

#include <utility>

#include "base/text.h"
#include "job/blocked.h"
#include "scope/block_line.h"
#include "url/canonicalizer.h"

namespace nephila::control {

Result<std::string> BlockEntry(std::string_view entry,
                               const config::UrlSettings& settings,
                               const url::PublicSuffixList& suffixes) {
  NEPHILA_TRY(std::string line, job::BlockedLine(entry));
  url::Canonicalizer canonicalizer(settings, suffixes, /*seed=*/0);
  auto read = scope::ReadBlockLine(line, canonicalizer, suffixes);
  if (!read.has_value()) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "'" + EscapeForTerminal(line) + "': " + read.error().message});
  }
  return line;
}

}  // namespace nephila::control
