// What a crawl shows while it runs, and at its end: one line that is written
// anew on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/crawl_status.h"

namespace nephila::cli {

class Progress {
 public:
  // `err` is the standard error; on a terminal if that is one.
  Progress(bool quiet, std::ostream& err);
  void Show(const crawl::CrawlStatus& status);
  void End();  // of the line

 private:
  // Said once when it begins and once when it is over, also when quiet.
  void ShowDisk(const crawl::CrawlStatus& status);

  const bool quiet_;
  const bool terminal_;
  std::ostream& err_;
  std::chrono::nanoseconds next_{0};  // since the start
  std::chrono::nanoseconds before_{0};
  uint64_t pages_before_ = 0;
  double rate_ = 0;  // of late
  bool disk_waits_ = false;
  bool open_ = false;
};

// "  1 234 pages, 12.3/s, ...".
std::string ProgressLine(const crawl::CrawlStatus& status, double rate);

// `folders`: of the archive, as `store.folders` has them.
void PrintSummary(const crawl::CrawlStatus& status, const std::string& job,
                  const std::vector<std::string>& folders, std::ostream& out);
// Of the JSON of a manifest, for people.
Status PrintStatus(std::string_view json, std::ostream& out);

}  // namespace nephila::cli
