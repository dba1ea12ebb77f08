// JobAnswers: what a job knows of politeness: its delays, as the warcinfo of
// each archive has them, and what servers asked for as its records have it,
// Crawl-delay of each robots.txt and Retry-After of each answer. With it
// PolitenessCheck (sim/) proves from the log of a server that all of that was
// kept.
//
// A line of the log and an answer of the archive are the same if they have
// host, path and status in common, in order; so clocks need not agree. Of
// delays that were changed between two archives the least is taken. Those that
// shrink with a budget are taken at their floors, since a budget is known for
// the moment only. A robots.txt behind a redirect to another host is not
// followed.
//   In: a job's folder, its settings.   Out: PolitenessRules.   Threads: one.
//   Memory: about 100 bytes for each answer that asked for a wait, each other
//   answer of a status that usually does (429, 503), and each robots.txt.
//   Cost: the archive is read once.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/table_hash.h"
#include "config/settings.h"
#include "crawl/archived_page.h"
#include "crawl/robots_reader.h"
#include "politeness/site_delays.h"
#include "sim/politeness_check.h"
#include "store/archive_units.h"

namespace nephila::check {

class JobAnswers {
 public:
  // Nobody may write to the job meanwhile, or what is written then is not
  // known. `settings` are those of today, for archives that tell of none.
  // `fs` and `settings` outlive this.
  static Result<std::unique_ptr<JobAnswers>> Read(
      FileSystem& fs, const std::string& dir, const config::Settings& settings);

  // This outlives them. Each answer is used once.
  sim::PolitenessRules Rules();

  uint64_t answers() const { return count_; }

 private:
  struct Answer {
    int status = 0;
    sim::AskedFor asked;
    uint64_t origin = 0;  // of a robots.txt with an answer
  };

  // Delays that held for a time.
  struct Delays {
    bool operator==(const Delays& other) const { return text == other.text; }
    std::string text;  // they were made from
    std::chrono::nanoseconds host{0};
    std::chrono::nanoseconds server{0};
    uint64_t server_in_flight = 0;
    politeness::SiteDelays sites;
  };

  // `folders` are those of the archive.
  JobAnswers(FileSystem& fs, std::vector<std::string> folders,
             const config::Settings& settings);
  Status TakeSettings(std::string_view info);
  Status AddDelays(const config::Settings& settings);
  Status ReadStream(size_t stream);
  Status ReadFile(size_t stream, const std::string& path, uint64_t serial);
  Status Take(size_t stream, uint64_t serial, const store::Unit& unit);
  sim::AskedFor Find(std::string_view host, std::string_view path, int status);

  FileSystem& fs_;
  const std::vector<std::string> folders_;
  const config::Settings& settings_;
  const TableHash hash_;
  std::vector<Delays> held_;
  crawl::ArchivedPage archived_;
  crawl::RobotsReader robots_;
  std::unordered_map<uint64_t, std::deque<Answer>> answers_;  // by URL
  // Crawl-delay of the origins of a host, as they are now.
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, int64_t>> delays_;
  uint64_t count_ = 0;
};

}  // namespace nephila::check
