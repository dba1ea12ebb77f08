#include "sandbox/sandbox.h"

#include <fmt/core.h>

#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

namespace nephila::sandbox {
namespace {

std::string Line(std::string_view what, std::string_view how, const Part& part,
                 std::string_view setting) {
  switch (part.state) {
    case State::kOn:
      return fmt::format("{}: confined by {}", what, how);
    case State::kOff:
      return fmt::format("{}: not confined ({} is off)", what, setting);
    case State::kUnsupported:
      break;
  }
  return fmt::format("{}: not confined: {}", what, part.why);
}

}  // namespace

Paths SystemPaths() {
  Paths paths;
  paths.read = {// The resolver.
                "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
                "/etc/host.conf", "/etc/gai.conf", "/etc/services",
                // Time zone and locale.
                "/etc/localtime", "/usr/share/zoneinfo", "/usr/lib/locale",
                // OpenSSL and the authorities of certificates.
                "/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates",
                // Libraries that are loaded late.
                "/etc/ld.so.cache", "/lib", "/lib64", "/usr/lib", "/usr/lib64",
                // What the process asks about itself and the machine.
                "/proc/self", "/proc/stat", "/proc/meminfo",
                "/proc/sys/kernel/random", "/sys/devices/system/cpu",
                "/dev/urandom", "/dev/random"};
  paths.write = {"/dev/null"};
  return paths;
}

Result<Entered> Enter(const config::SandboxSettings& settings,
                      const Paths& paths) {
  Entered entered;
  if (settings.landlock == config::SandboxMode::kOn) {
    NEPHILA_TRY(entered.landlock, ConfineFiles(paths));
  }
  if (settings.seccomp == config::SandboxMode::kOn) {
    NEPHILA_TRY(entered.seccomp, ConfineSystemCalls());
  }
  return entered;
}

std::string LandlockLine(const Entered& entered) {
  return Line("files", "Landlock", entered.landlock, "sandbox.landlock");
}

std::string SeccompLine(const Entered& entered) {
  return Line("system calls", "seccomp", entered.seccomp, "sandbox.seccomp");
}

}  // namespace nephila::sandbox
