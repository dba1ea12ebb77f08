// ArchivedPage: a page of an earlier fetch, from the archive: what a restart
// reads instead of the web.
//   In: the place that the journal names   Out: the page as it came
//   Threads: one; the page lives as long as this   Memory: the page
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "fetch/response_head.h"
#include "item/fetched_page.h"
#include "job/entry.h"

namespace nephila::crawl {

class ArchivedPage {
 public:
  // `fs` outlives it; `folders` are all of the archive. `prefix`: of the files
  // of the place's stream.
  ArchivedPage(FileSystem& fs, std::vector<std::string> folders,
               const fetch::HeadLimits& limits);

  enum class Found : uint8_t {
    kPage,
    kRevisit,  // its body is that of an earlier one
    kNothing,  // no whole record: it was lost with the power
  };
  // What is at a place; page() then. An Error is one of the disk.
  Result<Found> Read(const job::ArchivePlace& place, std::string_view prefix);
  const item::FetchedPage& page() const { return page_; }

 private:
  // Leaves the path in path_; false if there is no such file.
  Result<bool> FindFile(uint64_t serial, std::string_view prefix);

  FileSystem& fs_;
  const std::vector<std::string> folders_;
  fetch::ResponseHead head_;
  // Of the file that was read last.
  uint64_t serial_ = 0;
  std::string prefix_;
  std::string path_;
  item::FetchedPage page_;
  std::string url_;
  std::string block_;
  std::string_view body_;
};

// Of the files of a stream, whose streams share a folder.
std::string StreamPrefix(std::string_view prefix, size_t stream);

}  // namespace nephila::crawl
