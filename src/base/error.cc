#include "base/error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace nephila {
namespace {

ErrorCode CodeOfErrno(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case EINVAL:
      return ErrorCode::kInvalidArgument;
    case EWOULDBLOCK:
    case EBUSY:
      return ErrorCode::kBusy;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kNoSpace:
      return "no space";
    case ErrorCode::kIo:
      return "i/o error";
    case ErrorCode::kCorruption:
      return "corruption";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kStopped:
      return "stopped";
  }
  return "unknown";
}

Error Error::FromErrno(std::string_view what, int sys_errno) {
  Error error{CodeOfErrno(sys_errno), std::string(what), sys_errno};
  error.message += ": ";
  error.message += std::generic_category().message(sys_errno);
  return error;
}

Error Error::WithContext(std::string_view context) && {
  message.insert(0, ": ");
  message.insert(0, context);
  return std::move(*this);
}

}  // namespace nephila
