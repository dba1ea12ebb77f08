// RequestQueue: Q_D, the robots.txt files that are to be fetched.
//
// A queue on disk, read ahead: requests stay in it until they have ended, in
// whatever order they end, and come again after a restart if they had not. The
// mark is the first that has not ended: Q_R is read by it. Requests that hold
// the mark while many behind them have ended are appended again at the tail, so
// a few slow servers hold up nobody: neither the window of requests that are
// read, nor the queue on disk, nor the commit grows with them.
//
// A restart takes the ends of fetches from the journal again, so an end may be
// told of a request that was not read again yet, or that is not even made yet:
// it is remembered, and the request is over when it is read. What is remembered
// is bounded; beyond that a robots.txt is fetched once more.
//   Disk: a queue of the set; what has ended above the mark is in the commit
//   Threads: one   Memory: about 300 bytes for each request that is open, at
//   most `max_ahead` of them and kRequestBytes for each
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "disk_queue/queue_set.h"
#include "item/admission.h"
#include "robots/robots_record.h"

namespace nephila::robots {

struct QueuedRequest {
  uint64_t key = 0;    // of the file
  uint64_t fetch = 0;  // the last that its record told of; 0: none
  uint64_t budget = 0;
  uint32_t host_start = 0;
  uint32_t host_size = 0;
  uint32_t pld_size = 0;
  HostNote host;
  std::string_view origin;
  // The URL, if it is not the robots.txt of its origin.
  std::string_view target;
  uint64_t host_crawl_delay = 0;  // milliseconds
  // A robots.txt of the host was requested before.
  bool is_host_known = false;
};

// What a commit has of the queue.
struct RequestMarks {
  uint64_t mark = 0;            // the requests before have ended
  std::vector<uint64_t> ended;  // above it
  std::vector<std::pair<uint64_t, uint64_t>> early;  // key and fetch
};
// Nothing if the bytes are none.
std::optional<RequestMarks> ReadRequestMarks(ByteReader& reader);

class RequestQueue {
 public:
  using Sink =
      std::function<Result<item::Admission>(const QueuedRequest& request)>;
  // Ends that are remembered without a request.
  static constexpr size_t kMostEarlyEnds = size_t{64} << 10;
  // Of an open request, on average.
  static constexpr size_t kRequestBytes = 512;

  // `queues` outlives this. At most `max_ahead` requests are read behind the
  // first that has not ended, and at most `max_early` ends, up to
  // kMostEarlyEnds, are remembered without a request.
  RequestQueue(disk_queue::QueueSet& queues, uint64_t queue, uint64_t max_ahead,
               size_t max_early = kMostEarlyEnds);

  Status Append(const QueuedRequest& request);
  // Hands on up to `max` requests while the sink takes them. An error may leave
  // requests that were to be appended again where they were.
  Result<size_t> Take(const Sink& sink, size_t max);
  // Fetch number `fetch`, of this origin, has ended.
  void Ended(uint64_t key, uint64_t fetch);

  // The requests before have ended; where the next is appended.
  uint64_t mark() const { return mark_; }
  uint64_t tail() const { return queues_.NextAppend(queue_); }
  // Those before were read: they have ended, or are in memory.
  uint64_t read() const { return queues_.NextRead(queue_); }
  // Every request that has not ended is in memory, and whether one is of `key`.
  bool AllAreRead() const { return queues_.Unread(queue_) == 0; }
  bool IsOpen(uint64_t key) const { return open_.contains(key); }
  uint64_t queued() const { return queues_.Unread(queue_) + offered_.size(); }
  uint64_t handed_on() const { return open_.size() - offered_.size(); }

  // For the commit, together with that of the queues.
  void Write(ByteWriter& writer) const;
  // REQUIRES: nothing was done yet.
  bool Read(ByteReader& reader);

 private:
  struct Open {
    uint64_t ordinal = 0;
    std::string bytes;
  };

  Result<size_t> ReadMore(size_t max);
  // Appends requests that hold the mark again, while there are few of them.
  Status MoveOldest();
  void TakeIn(uint64_t ordinal, std::string_view bytes);
  void MoveMark();
  void RememberEarly(uint64_t key, uint64_t fetch);

  disk_queue::QueueSet& queues_;
  const uint64_t queue_;
  const uint64_t max_ahead_;
  const size_t max_early_;
  uint64_t mark_ = 0;
  std::deque<uint64_t> offered_;             // keys: read, and not handed on
  std::unordered_map<uint64_t, Open> open_;  // by key
  uint64_t open_bytes_ = 0;
  // Of those that are open and were read there, with their key. One that was
  // appended again is in it once it is read again.
  std::map<uint64_t, uint64_t> open_ordinals_;
  // Ended and not read: of before the restart, or appended again.
  std::set<uint64_t> ended_;
  std::unordered_map<uint64_t, uint64_t> early_;  // key to fetch
  std::deque<uint64_t> early_order_;
};

}  // namespace nephila::robots
