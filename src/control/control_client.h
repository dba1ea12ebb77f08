// ControlClient: asks the crawl that runs in a job's folder.
//
//   In: the folder, requests   Out: answers, or one line that says why not
//   Threads: one   Cost: blocks, but not for longer than it is told
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/control_server.h"
#include "net/descriptor.h"

namespace nephila::control {

inline constexpr std::chrono::seconds kAnswerTime{30};
inline constexpr size_t kMostAnswerBytes = size_t{16} << 20;

class ControlClient {
 public:
  // kNotFound if no process works on the job; kUnsupported if that is of
  // another version of the protocol.
  static Result<std::unique_ptr<ControlClient>> Connect(
      const std::string& dir, std::chrono::nanoseconds longest = kAnswerTime);

  // The answer, if it is no error; else that.
  Result<Json> Ask(const Json& request,
                   std::chrono::nanoseconds longest = kAnswerTime);

  const std::string& version() const { return version_; }  // of the crawl

 private:
  ControlClient(std::string dir, net::Descriptor socket)
      : dir_(std::move(dir)), socket_(std::move(socket)) {}
  Result<std::string> ReadLine(std::chrono::steady_clock::time_point until);
  Status Send(std::string_view bytes,
              std::chrono::steady_clock::time_point until);
  // Until the socket is ready for `events`.
  Status Wait(short events, std::chrono::steady_clock::time_point until) const;

  const std::string dir_;
  const net::Descriptor socket_;
  std::string in_;
  std::string version_;
};

}  // namespace nephila::control
