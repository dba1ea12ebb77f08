#include "control/control_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "control/sockets.h"
#include "job/job_folder.h"

namespace nephila::control {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

TimePoint In(std::chrono::nanoseconds longest) {
  return std::chrono::steady_clock::now() + longest;
}

Unexpected<Error> Broken(const std::string& dir, std::string_view what) {
  return Unexpected(
      Error{ErrorCode::kIo, dir + ": the crawl " + std::string(what)});
}

}  // namespace

Result<std::unique_ptr<ControlClient>> ControlClient::Connect(
    const std::string& dir, std::chrono::nanoseconds longest) {
  NEPHILA_TRY(net::Descriptor socket,
              ConnectInFolder(dir, std::string(job::kControlName)));
  std::unique_ptr<ControlClient> client(
      new ControlClient(dir, std::move(socket)));
  NEPHILA_TRY(const std::string line, client->ReadLine(In(longest)));
  const Json greeting = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!greeting.is_object()) return Broken(dir, "says what is no greeting");
  NEPHILA_RETURN_IF_ERROR(StatusOf(greeting));
  const auto protocol = greeting.find("protocol");
  if (protocol == greeting.end() || *protocol != kProtocol) {
    return Unexpected(
        Error{ErrorCode::kUnsupported,
              dir + ": the crawl is of another version of nephila"});
  }
  const auto version = greeting.find("nephila");
  if (version != greeting.end() && version->is_string()) {
    client->version_ = version->get<std::string>();
  }
  return client;
}

Result<Json> ControlClient::Ask(const Json& request,
                                std::chrono::nanoseconds longest) {
  const TimePoint until = In(longest);
  NEPHILA_RETURN_IF_ERROR(Send(request.dump(-1, ' ', /*ensure_ascii=*/false,
                                            Json::error_handler_t::replace) +
                                   "\n",
                               until));
  NEPHILA_TRY(const std::string line, ReadLine(until));
  Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return Broken(dir_, "says what is no answer");
  NEPHILA_RETURN_IF_ERROR(StatusOf(answer));
  return answer;
}

Status ControlClient::Wait(short events, TimePoint until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Broken(dir_, "does not answer");
    pollfd one{socket_.get(), events, 0};
    const int ready = poll(
        &one, 1, static_cast<int>(std::min<int64_t>(left.count(), 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) {
      return Unexpected(Error::FromErrno(dir_, errno));
    }
  }
}

Status ControlClient::Send(std::string_view bytes, TimePoint until) {
  while (!bytes.empty()) {
    NEPHILA_RETURN_IF_ERROR(Wait(POLLOUT, until));
    const ssize_t size =
        send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR) {
      return Broken(dir_, "has ended");
    }
    bytes.remove_prefix(size < 0 ? 0 : static_cast<size_t>(size));
  }
  return {};
}

Result<std::string> ControlClient::ReadLine(TimePoint until) {
  size_t searched = 0;
  while (true) {
    const size_t end = in_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = in_.substr(0, end);
      in_.erase(0, end + 1);
      return line;
    }
    searched = in_.size();
    if (searched > kMostAnswerBytes) return Broken(dir_, "says too much");
    NEPHILA_RETURN_IF_ERROR(Wait(POLLIN, until));
    std::array<char, size_t{16} << 10> bytes;
    const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
      return Broken(dir_, "has ended");
    }
    if (size > 0) in_.append(bytes.data(), static_cast<size_t>(size));
  }
}

}  // namespace nephila::control
