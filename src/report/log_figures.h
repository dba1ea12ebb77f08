// LogFigures: what the lines of crawl.log add up to: statuses, failures, media
// types, robots.txt files, depths, sizes and times, and by host and domain.
//
//   In: the files of a job's archive folder that are called crawl*.log, their
//   lines hostile.   Out: parts of Figures, and sums by key.
//   Drop: lines that are none; they are counted, but for the last of a file,
//   which a crawl may be about to write.
//   Threads: one.   Memory: two SumTables, and tables of at most kMostNames
//   media types.   Cost: one pass; a URL is parsed once a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/table_hash.h"
#include "report/figures.h"
#include "report/sum_table.h"
#include "store/log_line.h"
#include "url/canonicalizer.h"

namespace nephila::report {

// Numbers by their size, a quarter of a doubling each.
class SizeHistogram {
 public:
  void Add(uint64_t number, uint64_t count = 1);
  uint64_t count() const { return count_; }
  // Below which this share of them is, to within a tenth; 0 without any.
  double Quantile(double share) const;

 private:
  static constexpr size_t kSteps = 4;
  std::array<uint64_t, 64 * kSteps + 1> counts_{};
  uint64_t count_ = 0;
};

class LogFigures {
 public:
  static constexpr size_t kMostNames = 4096;
  static constexpr size_t kMostSeeds = 10;

  // All outlive this.
  LogFigures(FileSystem& fs, url::Canonicalizer& canonicalizer, SumTable* hosts,
             SumTable* domains)
      : fs_(fs),
        canonicalizer_(canonicalizer),
        hosts_(*hosts),
        domains_(*domains) {}

  Status Read(const std::string& path);
  // What was read, as parts of `figures`.
  void Fill(Figures* figures) const;
  // By annotation: "lenTrunc".
  uint64_t Annotated(std::string_view annotation) const;

 private:
  struct Count {
    uint64_t count = 0;
    uint64_t bytes = 0;
  };
  using Counts =
      std::unordered_map<std::string, Count, TableHash, std::equal_to<>>;

  Status TakeLine(const store::LogLine& line);
  void TakePage(const store::LogLine& line);
  void TakeAnnotations(std::string_view annotations, std::string* outcome);
  static void AddTo(Counts* counts, std::string_view name, uint64_t bytes);

  FileSystem& fs_;
  url::Canonicalizer& canonicalizer_;
  SumTable& hosts_;
  SumTable& domains_;

  std::vector<NamedCount> seeds_;
  uint64_t seed_count_ = 0;
  uint64_t lines_ = 0;
  uint64_t pages_ = 0;
  uint64_t page_bytes_ = 0;
  uint64_t attempts_ = 0;
  uint64_t names_ = 0;
  uint64_t revisits_ = 0;
  Counts statuses_;
  Counts failures_;
  Counts robots_;
  Counts media_types_;
  Counts annotations_;
  std::array<uint64_t, 52> depths_{};
  SizeHistogram millis_;
  SizeHistogram sizes_;
  std::vector<std::string> damages_;
};

// The logs of the archive folder of a job, in order.
Result<std::vector<std::string>> LogFiles(FileSystem& fs,
                                          const std::string& archive);

// Reads logs until each key has its name: those of `hosts` by host, those of
// `domains` by domain. A key that is in no log stays without.
Status FindNames(FileSystem& fs, const std::vector<std::string>& paths,
                 url::Canonicalizer& canonicalizer,
                 std::unordered_map<uint64_t, std::string>* hosts,
                 std::unordered_map<uint64_t, std::string>* domains);

}  // namespace nephila::report
