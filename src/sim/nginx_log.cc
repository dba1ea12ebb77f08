#include "sim/nginx_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

namespace nephila::sim {
namespace {

constexpr size_t kWords = 10;
constexpr int64_t kMicros = 1'000'000;
constexpr size_t kFractionDigits = 6;
// Of times with milliseconds: two of a connection may differ by so much.
constexpr int64_t kRoundingUs = 2'000;
constexpr size_t kManyConnections = size_t{1} << 16;

template <typename T>
bool Read(std::string_view word, T* number) {
  const char* const end = word.data() + word.size();
  const auto [read, error] = std::from_chars(word.data(), end, *number);
  return error == std::errc() && read == end && !word.empty();
}

// "1760000000.123" in microseconds.
std::optional<int64_t> ReadSeconds(std::string_view word) {
  const size_t dot = std::min(word.find('.'), word.size());
  int64_t seconds = 0;
  if (!Read(word.substr(0, dot), &seconds) || seconds < 0 ||
      seconds > INT64_MAX / kMicros - 1) {
    return std::nullopt;
  }
  int64_t micros = 0;
  if (dot < word.size()) {
    std::string digits(word.substr(dot + 1));
    if (digits.empty() || digits.size() > kFractionDigits) return std::nullopt;
    digits.resize(kFractionDigits, '0');
    if (!Read(std::string_view(digits), &micros) || micros < 0) {
      return std::nullopt;
    }
  }
  return seconds * kMicros + micros;
}

}  // namespace

// The end of one request before the next on its connection, if both have the
// same millisecond.
bool NginxLog::Later::operator()(const LogEvent& a, const LogEvent& b) const {
  if (a.time_us != b.time_us) return a.time_us > b.time_us;
  // Of one line they are in order: accept, request, end.
  if (a.line == b.line) {
    const auto place = [](LogEvent::Kind kind) {
      return kind == LogEvent::Kind::kEnd ? 3 : static_cast<int>(kind);
    };
    return place(a.kind) > place(b.kind);
  }
  return std::tie(a.line, a.kind) > std::tie(b.line, b.kind);
}

uint64_t NginxLog::ConnectionFor(uint64_t serial, int64_t accepted_us,
                                 int64_t end_us, bool* is_new) {
  if (connections_.size() >= kManyConnections) {
    std::erase_if(connections_, [&](const auto& known) {
      return known.second.last_us < newest_us_ - kLongestIdleUs;
    });
  }
  Connection& connection = connections_[serial];
  const bool is_same =
      connection.id != 0 &&
      std::abs(connection.accepted_us - accepted_us) <= kRoundingUs;
  *is_new = !is_same;
  if (!is_same) connection = {next_id_++, accepted_us, end_us};
  connection.last_us = end_us;
  return connection.id;
}

std::optional<std::string_view> NginxLog::Line(std::string_view line,
                                               uint64_t number) {
  std::array<std::string_view, kWords> words;
  size_t count = 0;
  while (!line.empty() && count < kWords) {
    const size_t space = std::min(line.find(' '), line.size());
    words[count++] = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  if (count != kWords || !line.empty()) return "not a line of this log_format";
  const auto end = ReadSeconds(words[1]);
  const auto connected = ReadSeconds(words[3]);
  const auto took = ReadSeconds(words[4]);
  uint64_t serial = 0;
  int status = 0;
  if (!end || !connected || !took || !Read(words[2], &serial) ||
      !Read(words[7], &status)) {
    return "no time, connection or status";
  }
  if (*took > kLongestRequestUs) return "a request that took too long";
  newest_us_ = std::max(newest_us_, *end);
  const int64_t accepted = *end - std::max(*connected, *took);
  bool is_new = false;
  LogEvent event;
  event.line = number;
  event.connection = ConnectionFor(serial, accepted, *end, &is_new);
  const int64_t begin = *end - *took;
  if (is_new) {
    event.kind = LogEvent::Kind::kAccept;
    // One that was opened before the log was, or long before it was used.
    event.time_us = std::max(accepted, given_us_);
    event.address = words[5];
    events_.push(event);
  }
  if (begin < given_us_) return "it began before lines that are long over";
  event.kind = LogEvent::Kind::kRequest;
  event.time_us = begin;
  event.host = words[6];
  event.path = words[9];
  events_.push(event);
  event.kind = LogEvent::Kind::kEnd;
  event.time_us = *end;
  event.status = status;
  events_.push(std::move(event));
  return std::nullopt;
}

Status NginxLog::TakeReady(const Take& take) {
  return TakeUntil(newest_us_ - kLongestRequestUs, take);
}

Status NginxLog::TakeAll(const Take& take) {
  return TakeUntil(INT64_MAX, take);
}

Status NginxLog::TakeUntil(int64_t until_us, const Take& take) {
  while (!events_.empty() && events_.top().time_us < until_us) {
    const LogEvent event = events_.top();
    events_.pop();
    given_us_ = event.time_us;
    NEPHILA_RETURN_IF_ERROR(take(event));
  }
  return {};
}

}  // namespace nephila::sim
