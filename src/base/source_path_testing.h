// Where the tests find the repository's files, wherever they are built.
#pragma once

#include <string>
#include <string_view>

namespace nephila {

// The path of a file of the repository: "docs/config.md", "testdata/...".
std::string SourcePath(std::string_view relative);

}  // namespace nephila
