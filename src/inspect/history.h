// History: what a job knows of the attempts to fetch one URL: the journal,
// which has the last of them, crawl.log, which has all, and the indexes of
// archives, which have where the answers are.
//
// An index is sorted: archives that are finished cost a search each. A log and
// an archive that is open are not: of a log the last `most_bytes` are read, of
// an open archive nothing if it is longer.
//   In: a JobView, a URL   Out: attempts, copies, and how far it looked
//   Threads: one   Memory: kMostAttempts of them
//   Cost: twenty reads for each finished archive, `most_bytes` for each stream
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inspect/job_view.h"
#include "item/fetch_outcome.h"
#include "store/cdxj.h"
#include "store/log_line.h"
#include "url/keys.h"

namespace nephila::inspect {

// What a line of crawl.log says of an attempt.
item::FetchOutcome OutcomeOf(const store::LogLine& line);
// Its attempts were used up, whatever this one was.
bool IsGivenUp(const store::LogLine& line);

struct FetchAttempt {
  std::string when;  // as FormatUtc has it
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  int status = 0;  // of a response
  uint32_t attempt = 1;
  std::optional<uint64_t> bytes;
  std::string media_type;
  bool is_given_up = false;
  // By the journal: whether its URL stays open, and until when; where a
  // redirect that was followed at once led.
  bool is_in_journal = false;
  bool retry = false;
  std::optional<WallTime> again;
  std::string followed;
};

struct ArchivedCopy {
  std::string file;  // its name
  uint64_t offset = 0;
  std::string timestamp;  // 14 digits
  std::string status;
  std::string media_type;
  std::string redirect;  // where it leads
};

struct History {
  // The last kMostAttempts, the oldest first.
  static constexpr size_t kMostAttempts = 32;
  std::vector<FetchAttempt> attempts;
  uint64_t attempt_count = 0;
  std::vector<ArchivedCopy> copies;  // the same, by timestamp
  // How far it looked.
  uint64_t log_bytes = 0;                      // of all logs
  uint64_t log_read = 0;                       // of them, from their ends
  std::vector<std::string> archives_not_read;  // that are open, and longer
};

class HistoryReader {
 public:
  // `job` outlives this.
  HistoryReader(JobView& job, uint64_t most_bytes)
      : job_(job), most_bytes_(most_bytes) {}

  // `url` is canonical, `pld` its domain.
  Result<History> Read(std::string_view url, std::string_view pld,
                       url::UrlKey key);
  // Only the copies, of any URL.
  Result<std::vector<ArchivedCopy>> Copies(std::string_view url,
                                           url::UrlKey key);

  // Each line of each log, as far as it looks, stream by stream.
  Status ForEachLine(const std::function<Status(const store::LogLine& line,
                                                std::string_view text)>& take);
  uint64_t log_bytes() const { return log_bytes_; }
  uint64_t log_read() const { return log_read_; }

 private:
  Status ReadLog(const std::string& path,
                 const std::function<Status(const store::LogLine& line,
                                            std::string_view text)>& take);
  Status ReadLogs(std::string_view pld, url::UrlKey key, History* history);
  Status ReadJournal(url::UrlKey key, History* history);
  Status ReadArchives(std::string_view url, url::UrlKey key);
  Status LookInArchives(std::string_view url, url::UrlKey key);
  Status ReadPlaced(const job::ArchivePlace& place, url::UrlKey key);
  bool IsOf(std::string_view url, url::UrlKey key);
  void AddCopy(const store::CdxjLine& line);

  JobView& job_;
  const uint64_t most_bytes_;
  uint64_t log_bytes_ = 0;
  uint64_t log_read_ = 0;
  std::vector<ArchivedCopy> copies_;
  std::vector<std::string> not_read_;
};

}  // namespace nephila::inspect
