// Sandbox: takes away from the process what a crawl does not need, before it
// reads the first byte from the web. If a page or a server takes over the
// process by a bug in a parser or in a library, the process still cannot read
// files of the user, start a program, or talk to the kernel beyond the system
// calls of a crawl.
//
// Landlock (kernel 5.13 and later) confines files, seccomp system calls. A
// kernel without one of them is no error: Entered says so, and the caller logs
// the line. Nothing here can be undone.
//
//   In: the paths that the process needs   Out: the state of both parts, or an
//   error if the kernel supports a part and it cannot be set up
//   Threads: call it before the process starts one: Landlock holds for the
//   calling thread and the threads that it starts later.
//   Cost: once, a system call for each path. Each system call runs a filter of
//   some 200 instructions, which the kernel (5.11 and later) skips for most.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::sandbox {

// Files or folders. A folder means all that is in it.
struct Paths {
  // Paths that do not exist are left out.
  std::vector<std::string> read;
  // Read, written, made and removed. REQUIRES: they exist.
  std::vector<std::string> write;
};

enum class State : uint8_t {
  kOn,
  kOff,          // by the settings
  kUnsupported,  // by the kernel, or by this build
};

struct Part {
  State state = State::kOff;
  std::string why;  // with kUnsupported
};

struct Entered {
  Part landlock;
  Part seccomp;
};

// The files of the system that libraries read: resolver, time zone, shared
// libraries, certificates; `/proc/self` and some devices.
Paths SystemPaths();

// REQUIRES: the process has one thread.
Result<Entered> Enter(const config::SandboxSettings& settings,
                      const Paths& paths);

// One line for the log: "files: confined by Landlock".
std::string LandlockLine(const Entered& entered);
std::string SeccompLine(const Entered& entered);

}  // namespace nephila::sandbox
