// Landlock: confines the files that this thread, and the threads and processes
// that it starts later, can open (landlock(7)).
#pragma once

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace nephila::sandbox {

// No file may be executed, and none outside of `paths` be read or written.
Result<Part> ConfineFiles(const Paths& paths);

}  // namespace nephila::sandbox
