// ArchivedPage: a page of an earlier fetch, from the archive: what a restart
// reads instead of the web.
//   In: the place that the journal names   Out: the page as it came
//   Threads: one; the page lives as long as this   Memory: the page
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "fetch/response_head.h"
#include "item/fetched_page.h"
#include "job/entry.h"
#include "store/warc_reader.h"

namespace nephila::crawl {

class ArchivedPage {
 public:
  // `fs` outlives it; `folders` are all of the archive. `prefix`: of the files
  // of all streams. Of a body at most `max_body_bytes` are read.
  ArchivedPage(FileSystem& fs, std::vector<std::string> folders,
               std::string prefix, const fetch::HeadLimits& limits,
               uint64_t max_body_bytes = std::numeric_limits<uint64_t>::max());

  enum class Found : uint8_t {
    kPage,
    kNoBody,   // a revisit whose body is that of a record that is gone
    kNothing,  // no whole record: it was lost with the power
  };
  // What is at a place; page() then. The body of a revisit is that of
  // `original`, its head its own. An Error is one of the disk.
  Result<Found> Read(const job::ArchivePlace& place,
                     const std::optional<job::ArchivePlace>& original);
  const item::FetchedPage& page() const { return page_; }
  // Gives the memory of the page back, which is gone then.
  void Clear();

 private:
  // Of a record.
  struct Block {
    bool is_revisit = false;
    bool is_truncated = false;
    std::string url;
    std::string id;
    std::string refers_to;  // the id of another record
    std::string bytes;
  };
  // The response or revisit of the unit at a place; false if there is none.
  Result<bool> ReadBlock(const job::ArchivePlace& place, Block* block);
  // Splits head_ from the rest of a block, which it gives back.
  std::string_view SplitHead(std::string_view block);
  // A file of the stream that runs may get another name at any moment. Null if
  // there is no such file.
  Result<std::unique_ptr<store::WarcReader>> OpenFile(
      const job::ArchivePlace& place);
  // Leaves the path in path_; false if there is no such file.
  Result<bool> FindFile(uint64_t serial, std::string_view prefix);

  FileSystem& fs_;
  const std::vector<std::string> folders_;
  const std::string all_prefix_;
  const uint64_t max_block_bytes_;
  fetch::ResponseHead head_;
  // Of the file that was read last.
  uint64_t serial_ = 0;
  std::string prefix_;
  std::string path_;
  item::FetchedPage page_;
  Block block_;
  Block original_;
  std::string_view body_;
};

// Of the files of a stream, whose streams share a folder.
std::string StreamPrefix(std::string_view prefix, size_t stream);
// Of the log of a stream, in the job's own folder of archives: "crawl.log",
// "crawl-1.log".
std::string LogName(size_t stream);

}  // namespace nephila::crawl
