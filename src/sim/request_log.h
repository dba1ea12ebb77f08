// RequestLog: what the simulated servers saw, as lines of text in the order in
// which it happened. politeness_check.h reads it;
// docs/formats/request-log.md has it for people.
//
//   # nephila sim log 1
//   A <time> <connection> <address>
//   R <time> <connection> <accepted> <address> <host> <method> <path>
//   E <time> <connection> <status> <bytes> <end>
//   D <time> <type> <name> <answer>
//
// A connection was accepted, a request was read whole, its answer has ended
// (the last byte was given to the system, or the connection was lost), a name
// was asked for. Times are microseconds since the log was begun; `accepted` is
// the A line's. A and R are of the moment at which they are written, under one
// lock. An E is of the moment before its last bytes were given away: from then
// on the client may know them, and a server that is kept from its processor
// just then has not made the client's wait any shorter. No time of these steps
// back, so an E is no earlier than the line before it; a D may be later than
// the line behind it. A connection has at most one R without an E.
// `end` is keep, close, reset, lost (by the client) or stopped (by the server's
// end).
//   Disk: append-only, written when 64 KiB have gathered, by Flush, and at the
//   end.   Threads: any.   Cost: about 0.3 us a line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila::sim {

class RequestLog {
 public:
  // Makes the file, or empties it. Both references outlive the log.
  static Result<std::unique_ptr<RequestLog>> Create(FileSystem& fs,
                                                    const std::string& path,
                                                    const Clock& clock);
  // Writes what is left; an error is lost, so Flush first.
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  // Returns the time that was written.
  int64_t Accepted(uint64_t connection, std::string_view address)
      NEPHILA_EXCLUDES(mutex_);
  void Requested(uint64_t connection, int64_t accepted,
                 std::string_view address, std::string_view host,
                 std::string_view method, std::string_view path)
      NEPHILA_EXCLUDES(mutex_);
  // `when`: before the last bytes were given to the system; nothing: now.
  void Ended(uint64_t connection, int status, uint64_t bytes,
             std::string_view end, std::optional<MonoTime> when = std::nullopt)
      NEPHILA_EXCLUDES(mutex_);
  void Asked(std::string_view type, std::string_view name,
             std::string_view answer) NEPHILA_EXCLUDES(mutex_);

  // The first error of writing sticks: the log would have a gap.
  Status Flush() NEPHILA_EXCLUDES(mutex_);

 private:
  RequestLog(std::unique_ptr<File> file, const Clock& clock)
      : clock_(clock), begin_(clock.Now()), file_(std::move(file)) {}

  int64_t Micros(MonoTime time) const;
  // Of the next line; not before that of the last one.
  int64_t Stamp(std::optional<MonoTime> when) NEPHILA_REQUIRES(mutex_);
  void WriteIfMuch() NEPHILA_REQUIRES(mutex_);
  Status Write() NEPHILA_REQUIRES(mutex_);

  const Clock& clock_;
  const MonoTime begin_;
  Mutex mutex_;
  std::unique_ptr<File> file_ NEPHILA_GUARDED_BY(mutex_);
  std::string lines_ NEPHILA_GUARDED_BY(mutex_);
  int64_t last_us_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t written_ NEPHILA_GUARDED_BY(mutex_) = 0;
  Status status_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::sim
