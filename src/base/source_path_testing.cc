#include "base/source_path_testing.h"

namespace nephila {

// The only file that knows an absolute path, so that a compiler cache serves
// all others in every checkout.
std::string SourcePath(std::string_view relative) {
  return NEPHILA_SOURCE_DIR "/" + std::string(relative);
}

}  // namespace nephila
