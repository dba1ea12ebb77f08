// History: the counters of a crawl over time, for plots: named numbers, some
// dozens of them, written down every few seconds and kept for months.
//
//   In: numbers by name, with the time.   Out: the same, in order.
//   Drop: a record that finds no room on disk, and those that are nearer to
//   the one before than the file's spacing; both are counted.
//   Disk: `history` of the job's folder, append only; docs/formats/history.md
//   Threads: one writes; others may read meanwhile.
//   Cost: one write of the kernel for a record of about 200 bytes, and no sync:
//   the last seconds may go with the power.
//
// It stays small: with more than `most_records` the file is written anew,
// aside, with about half of them, evenly spread over the time of the crawl, and
// from then on records keep that distance. So a crawl of months has as many
// points as one of days. What a stop tore is cut by the next Open, and damaged
// records are left out: nothing else depends on them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

inline constexpr std::string_view kHistoryName = "history";
// A larger file is not one: far above what most_records come to.
inline constexpr size_t kMostHistoryBytes = size_t{256} << 20;
inline constexpr size_t kMostHistoryNumbers = 4096;

using HistoryNumbers = std::vector<std::pair<std::string, uint64_t>>;

struct HistoryRecord {
  uint64_t run = 0;  // from 1: a stop is between two of them
  WallTime when{};   // to the millisecond
  std::chrono::milliseconds elapsed{0};  // of crawling, all runs together
  HistoryNumbers numbers;

  // 0 for what it does not have.
  uint64_t Get(std::string_view name) const;
  bool operator==(const HistoryRecord&) const = default;
};

// The records of a file, from its beginning on. Memory: that of the file.
// What a manifest says of the file: bytes of one that was written anew so
// often.
struct HistoryMark {
  uint64_t rewrites = 0;
  uint64_t bytes = 0;
};
std::optional<HistoryMark> ReadHistoryMark(std::string_view bytes);

class HistoryReader {
 public:
  // Without a lock, changing nothing. kNotFound without a file; kUnsupported
  // for a later version; kCorruption if it does not begin as one, or is of
  // another job. `salt` is the job's key seed.
  static Result<HistoryReader> Open(FileSystem& fs, const std::string& dir,
                                    uint64_t salt);
  // The same of bytes; `path` is for messages.
  static Result<HistoryReader> Read(std::string bytes, const std::string& path,
                                    uint64_t salt);

  // False behind the last.
  bool Next(HistoryRecord* record);

  uint64_t rewrites() const { return rewrites_; }
  // No two records are nearer than this, but at the ends of runs.
  std::chrono::milliseconds spacing() const { return spacing_; }
  // Behind the last record that Next gave.
  uint64_t end() const { return end_; }
  // Once Next was false: where bytes that are no record have records behind
  // them, and how many bytes follow the last: what a stop has torn.
  const std::vector<uint64_t>& damaged() const { return damaged_; }
  uint64_t torn_bytes() const { return bytes_.size() - end_; }

 private:
  bool ReadHead(uint64_t salt, uint64_t* version);
  // The payload of the next whole frame.
  std::optional<std::string_view> NextFrame();
  bool ReadNames(std::string_view payload);
  bool ReadRecord(std::string_view payload, HistoryRecord* record) const;

  std::string bytes_;
  uint64_t salt_ = 0;  // of frames
  uint64_t end_ = 0;
  uint64_t at_ = 0;
  uint64_t rewrites_ = 0;
  std::chrono::milliseconds spacing_{0};
  std::vector<std::string> names_;
  std::vector<uint64_t> damaged_;
};

class History {
 public:
  static constexpr size_t kMostRecords = 32768;

  // Goes on behind the last record of the file in `dir`, a job's folder, as a
  // new run, or makes it. One that cannot be read gets another name
  // (`history.damaged`), and so does that of a later version
  // (`history.later`): no crawl ends for its plots. `fs` outlives this.
  static Result<std::unique_ptr<History>> Open(
      FileSystem& fs, const std::string& dir, uint64_t salt,
      size_t most_records = kMostRecords);

  // `elapsed` is of this run. `always`: whatever the spacing, for the ends of
  // a run. A full disk is no error.
  Status Append(WallTime when, std::chrono::nanoseconds elapsed,
                const HistoryNumbers& numbers, bool always = false);

  // What is in the file now, for a manifest: once Sync has returned, all of it
  // is durable, and whatever of it is no record is damaged.
  std::string Mark() const;
  // Does nothing if nothing was appended.
  Status Sync();

  uint64_t run() const { return run_; }
  // Of the runs before.
  std::chrono::milliseconds elapsed_before() const { return before_; }
  size_t records() const { return records_; }
  std::chrono::milliseconds spacing() const { return spacing_; }
  uint64_t refused() const { return refused_; }  // for want of room

 private:
  History(FileSystem& fs, const std::string& dir, uint64_t salt,
          size_t most_records);

  Status Load(HistoryReader reader);
  // Without the file, which is set aside if it is there.
  Status BeginAnew(const Error& why);
  // With about half of the records, or all that are whole.
  Status Rewrite(std::chrono::milliseconds spacing);
  Status Make(std::string_view contents);
  Status Write(std::string_view frames);

  FileSystem& fs_;
  const std::string dir_;
  const std::string path_;
  const uint64_t salt_;
  const size_t most_records_;
  std::unique_ptr<File> file_;
  uint64_t end_ = 0;
  uint64_t run_ = 1;
  std::chrono::milliseconds before_{0};
  std::chrono::milliseconds spacing_{0};
  std::optional<std::chrono::milliseconds> last_;  // of this run
  std::vector<std::string> names_;                 // that the file has now
  size_t records_ = 0;
  uint64_t rewrites_ = 0;
  uint64_t synced_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace nephila::job
