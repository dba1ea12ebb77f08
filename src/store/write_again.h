// WriteAgain: makes bytes that were read from a file believable.
//
// Whoever opens a file after a crash cannot tell whether a sync of its last
// user had failed; the system then counts pages as written that are not
// (file.h). So what a restart keeps of a file and no checkpoint vouches for is
// written once more, byte for byte, in place: the next sync covers it.
//   Threads: one per file. Memory: 1 MiB.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace nephila::store {

// Writes [begin, end) of the file again.
Status WriteAgain(File& file, uint64_t begin, uint64_t end);

// The same for the name of a file, if there is one: a name that is given anew
// is kept by the next sync of its folder. A stop in between leaves it as
// PATH.again, which the next call takes back.
Status NameAgain(FileSystem& fs, const std::string& path);

}  // namespace nephila::store
