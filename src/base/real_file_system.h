// The FileSystem of the operating system: POSIX calls, nothing cached.
//
// Calls block for as long as the disk takes. A call that a signal interrupts
// is made again; any other error is returned with its errno. Locks are
// flock(2): they end with their holder however it ends, and two in one process
// conflict like two in different ones.
#pragma once

#include <memory>

#include "base/file.h"

namespace nephila {

std::unique_ptr<FileSystem> MakeRealFileSystem();

}  // namespace nephila
