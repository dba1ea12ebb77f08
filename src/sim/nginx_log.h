// NginxLog: the access log of an nginx as what happened, in order.
//
//   log_format nephila 'N $msec $connection $connection_time $request_time '
//                      '$server_addr $host $status $request_method '
//                      '$request_uri';
//
// A line is written when its request has ended and says when that and its
// connection began; so a line is up to three things that happened, some of them
// before those of lines above. They wait here until no line can come that is
// about an earlier time: kLongestRequest later.
//   In: lines, hostile.   Out: events by time.   Threads: one.
//   Memory: the events of kLongestRequest, and the connections of
//   kLongestIdle.   Cost: O(log n) an event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace nephila::sim {

// Something that a server saw.
struct LogEvent {
  enum class Kind : uint8_t { kEnd, kAccept, kRequest };

  int64_t time_us = 0;
  uint64_t line = 0;  // that says so
  Kind kind = Kind::kAccept;
  uint64_t connection = 0;
  std::string address;  // kAccept
  std::string host;     // kRequest
  std::string path;
  int status = 0;  // kEnd
};

class NginxLog {
 public:
  // A request that took longer is refused.
  static constexpr int64_t kLongestRequestUs = int64_t{10} * 60 * 1000 * 1000;
  // A connection without a request for so long is forgotten.
  static constexpr int64_t kLongestIdleUs = int64_t{3600} * 1000 * 1000;

  // The next line, from "N " on, and its number. What is wrong with it, if
  // anything.
  std::optional<std::string_view> Line(std::string_view line, uint64_t number);

  // Gives what nothing can come before any more; all that is left.
  using Take = std::function<Status(const LogEvent& event)>;
  Status TakeReady(const Take& take);
  Status TakeAll(const Take& take);

 private:
  struct Later {
    bool operator()(const LogEvent& a, const LogEvent& b) const;
  };
  struct Connection {
    uint64_t id = 0;  // nginx counts from 1 again when it is started
    int64_t accepted_us = 0;
    int64_t last_us = 0;
  };

  Status TakeUntil(int64_t until_us, const Take& take);
  uint64_t ConnectionFor(uint64_t serial, int64_t accepted_us, int64_t end_us,
                         bool* is_new);

  std::priority_queue<LogEvent, std::vector<LogEvent>, Later> events_;
  std::unordered_map<uint64_t, Connection> connections_;
  uint64_t next_id_ = 1;
  int64_t newest_us_ = 0;
  int64_t given_us_ = INT64_MIN;
};

}  // namespace nephila::sim
