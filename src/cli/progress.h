// What a crawl shows while it runs, and at its end: one line that is written
// anew on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "crawl/crawl_status.h"

namespace nephila::cli {

class Progress {
 public:
  // `err` is the standard error; on a terminal if that is one.
  Progress(bool quiet, std::ostream& err);
  // `limits` say where the crawl ends; they may change.
  void Show(const crawl::CrawlStatus& status,
            const config::CrawlSettings& limits);
  // So many seeds were taken: said of each million, which takes some seconds.
  void ShowSeeds(uint64_t seeds);
  void End();  // of the line
  // A line that stays.
  void Say(const std::string& line);

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

// How long until a limit ends the crawl, at so many pages a second; nothing if
// none will, as far as can be known: how large a site is nobody can say.
std::optional<std::chrono::seconds> TimeLeft(
    const crawl::CrawlStatus& status, double rate,
    const config::CrawlSettings& limits);

// "1234 pages, 12.3/s, ..., at most 2m 5s left".
std::string ProgressLine(const crawl::CrawlStatus& status, double rate,
                         std::optional<std::chrono::seconds> left);

// `folders`: of the archive, as `store.folders` has them.
void PrintSummary(const crawl::CrawlStatus& status, const std::string& job,
                  const std::vector<std::string>& folders, std::ostream& out);

}  // namespace nephila::cli
