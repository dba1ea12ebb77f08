#include "cli/test_hooks.h"

namespace nephila::cli {

std::function<void(std::string_view url)> OnReadHook() { return nullptr; }

}  // namespace nephila::cli
