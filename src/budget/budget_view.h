// BudgetView: the stage `budget` as a commit has it, read and not changed: for
// looking at a job that another process may work on.
//   In: the stage's folder, the bytes of its commit
//   Out: where BEAST stands, records of domains, the URLs that wait
//   Threads: one   Memory: a commit of each store, and a block
//   Cost: a domain is one lookup; ForEach reads all queues and batches once
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "budget/assignment.h"
#include "budget/queue_record.h"
#include "budget/rounds.h"
#include "disk_queue/set_scan.h"
#include "url/keys.h"

namespace nephila::budget {

class BudgetView {
 public:
  struct HeldUrl {
    std::string_view record;
    // B_x when its queue was chosen; of one that has none yet, 0.
    uint64_t budget = 0;
    // Nothing: it waits for a pass, which says the queue.
    std::optional<uint64_t> queue;
    bool is_failed = false;  // in Q_F
    uint64_t ahead = 0;      // records before it in its queue
  };
  // False ends it.
  using Sink = std::function<Result<bool>(const HeldUrl& url)>;

  // `fs` outlives this. kCorruption if these bytes are no commit.
  static Result<BudgetView> Open(FileSystem& fs, const std::string& dir,
                                 std::string_view commit);

  const Rounds& rounds() const { return rounds_; }
  std::chrono::nanoseconds queue_time() const { return queue_time_; }  // T
  uint64_t in_queues() const { return in_queues_; }
  uint64_t in_failed() const { return in_failed_; }
  // What ForEach reads from disk.
  Result<uint64_t> Bytes() const;
  // URLs of a numbered queue.
  uint64_t InQueue(uint64_t number) const {
    return queues_.Records(NumberedQueue(number));
  }

  // Nothing if no pass has met the domain yet.
  Result<std::optional<PldRecord>> Domain(url::PldKey pld) const;
  // URLs of a domain that wait for a pass.
  Result<uint64_t> UrlsInPass(url::PldKey pld) const;

  // In the order in which they will be read: queues by their number, Q_F, then
  // those that wait for a pass.
  Status ForEach(const Sink& sink) const;

 private:
  BudgetView(FileSystem& fs, const std::string& dir,
             disk_queue::SetScan queues);
  Result<bool> ScanQueue(uint64_t queue, const Sink& sink) const;

  FileSystem* fs_;
  std::string drum_dir_;
  uint64_t drum_generation_ = 0;
  disk_queue::SetScan queues_;
  Rounds rounds_{1};
  std::chrono::nanoseconds queue_time_{0};
  uint64_t in_queues_ = 0;
  uint64_t in_failed_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace nephila::budget
