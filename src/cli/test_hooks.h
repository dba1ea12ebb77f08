// Hooks for tests of the whole program. The program `nephila` has none: it is
// linked with no_test_hooks.cc. The program `nephila-test`, which is built with
// the tests and never installed, is linked with hooks_testing.cc.
#pragma once

#include <functional>
#include <string_view>

namespace nephila::cli {

// Called with the URL of each page before it is read; null for no call.
std::function<void(std::string_view url)> OnReadHook();

}  // namespace nephila::cli
