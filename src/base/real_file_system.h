// The FileSystem of the operating system: POSIX calls, nothing cached.
//
// Calls block for as long as the disk takes. A call that a signal interrupts
// is made again; any other error is returned with its errno. Locks are
// flock(2): two in one process conflict like two in different ones, and a lock
// ends with the last copy of its descriptor, so with its process however that
// ends, unless it has forked a child that lives on without an exec.
#pragma once

#include <memory>

#include "base/file.h"

namespace nephila {

std::unique_ptr<FileSystem> MakeRealFileSystem();

}  // namespace nephila
