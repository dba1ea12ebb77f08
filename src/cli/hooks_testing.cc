// The hooks of `nephila-test`: environment variables that make it crash.
#include <cstdlib>
#include <string>

#include "cli/test_hooks.h"

namespace nephila::cli {

// The process aborts when it reads a page whose URL contains the value of
// NEPHILA_TEST_CRASH_ON.
std::function<void(std::string_view url)> OnReadHook() {
  const char* part = std::getenv("NEPHILA_TEST_CRASH_ON");
  if (part == nullptr || *part == '\0') return nullptr;
  return [text = std::string(part)](std::string_view url) {
    if (url.find(text) != std::string_view::npos) std::abort();
  };
}

}  // namespace nephila::cli
