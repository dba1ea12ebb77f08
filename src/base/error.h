// Error: what went wrong with a disk, a setting or a peer, in one line.
//
// Outcomes of touching the web are not Errors; they are values of their own
// (a closed enum each). An Error is returned up, given context once, and
// printed by the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nephila {

enum class ErrorCode : uint8_t {
  kInvalidArgument,  // the caller, or the user, asked for something impossible
  kNotFound,         // no such file
  kAlreadyExists,    // a file that must be new is there
  kBusy,             // another process holds the lock
  kNoSpace,          // ENOSPC, EDQUOT: can pass when room is made
  kIo,               // any other failure of the disk: final
  kCorruption,       // a checksum, length or magic does not fit
  kUnsupported,      // a version newer than this program
  kStopped,          // the (simulated) machine has stopped
};

std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code;
  std::string message;
  int sys_errno = 0;

  // An Error for errno `sys_errno`, with the code that fits it and a message
  // "<what>: <strerror>".
  static Error FromErrno(std::string_view what, int sys_errno);

  // The same error with "<context>: " before its message.
  Error WithContext(std::string_view context) &&;
};

}  // namespace nephila
