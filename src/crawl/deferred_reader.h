// DeferredReader: reads from the archive what no downloader has read: pages
// that came while the memory for finished visits was used up, and after a
// restart the pages of the entries that no manifest covers.
//
// It runs on the frontier's thread, for the entry that is taken next: that one
// must be read whatever memory is used, since entries are taken in their order.
// So at most one page at a time is read beyond the limit.
//   In: a FinishedVisit that is `unread`, with its place in the archive
//   Out: what the downloader would have filled in; `is_void` or `body_lost` if
//   the archive has lost the page   Threads: one
//   Memory: the page as it was archived, its content, its links
//   Cost: that of ArchivedPage and GuardedReader
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/archived_page.h"
#include "crawl/byte_budget.h"
#include "crawl/guarded_reader.h"
#include "crawl/visit.h"
#include "crawl/visit_reader.h"
#include "job/quarantine.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

class DeferredReader {
 public:
  // Every reference and pointer must outlive the reader.
  struct Parts {
    FileSystem& fs;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    std::vector<std::string> folders;      // all of the archive
    uint64_t seed = 0;                     // of the job's keys
    uint64_t max_page_bytes = UINT64_MAX;  // as those of VisitReader::Limits
    uint64_t max_links_bytes = UINT64_MAX;
    ByteBudget* in_transit = nullptr;  // that links are charged to
    job::Quarantine* quarantine = nullptr;
    size_t slot = 0;
    // For tests: before a page is read.
    std::function<void(std::string_view url)> on_read = nullptr;
  };
  explicit DeferredReader(const Parts& parts);

  // `replayed`: the entry is of an earlier run. An error is one of the disk.
  Status Read(FinishedVisit* visit, bool replayed);

 private:
  // Whether a page of this URL is that of the record.
  bool IsOf(std::string_view url, std::string_view record);

  const Parts parts_;
  VisitReader reader_;
  GuardedReader guarded_;
  ArchivedPage archived_;
  url::Canonicalizer canonicalizer_;
};

}  // namespace nephila::crawl
