// nephila bench: the benchmarks, which are a program of their own.
//
// The peers that they compare with (RocksDB, LMDB) are linked there alone; see
// docs/adr/0005-peers-in-their-own-program.md.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace nephila::cli {

// Becomes `nephila-bench` with these arguments: the one beside this program,
// else that of the build tree. Returns only if that fails, and says why.
Error ExecBench(const std::vector<std::string>& arguments);

}  // namespace nephila::cli
