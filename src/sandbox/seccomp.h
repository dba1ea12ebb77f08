// Seccomp: confines the system calls of the whole process, all of its threads
// (seccomp(2)).
//
// A call that is in the list is made. Of the others
//   - those that start programs or processes, or that change the machine
//     (execve, fork, ptrace, mount, bpf, ...) end the process by SIGSYS, after
//     one line on the standard error that names the call's number;
//   - those that are newer than the list fail with ENOSYS, so that libraries
//     fall back to what they did before;
//   - the rest fail with EPERM.
#pragma once

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace nephila::sandbox {

Result<Part> ConfineSystemCalls();

}  // namespace nephila::sandbox
