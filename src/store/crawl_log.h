// CrawlLog: one line for each finished attempt, in the columns of Heritrix's
// crawl.log, which analysts' scripts read:
//
//   2026-01-02T03:04:05.678Z   200       5120 http://example.com/a L
//   http://example.com/ text/html #003 20260102030405123+456 sha1:... seed -
//
// (on one line): time, status, bytes, URL, hop path, via, media type, thread,
// begin and milliseconds, payload digest, source, annotations; "-" for what is
// not known. Attempts without a response have Heritrix's negative codes.
// docs/formats/crawl-log.md.
//
// Append only. Lines are gathered in memory and written by Flush, at Sync and
// when there are kBufferBytes of them; a crash loses those, which a restart
// makes again (log_mend.h), and OpenAt cuts a torn line. On a full disk lines
// wait in memory, at most kLongestBacklog; any other failed write or sync is
// final. Columns from the web are escaped: no space, control or line end in
// them. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "item/fetched_page.h"

namespace nephila::store {

// Heritrix's code for an outcome: the HTTP status of a response, 1 for an
// answer of the DNS, negative for the rest.
int HeritrixStatus(item::FetchOutcome outcome, int http_status);

// What a line has beside the fetch itself.
struct LogFacts {
  WallTime now{};
  int http_status = 0;
  std::optional<uint64_t> bytes;  // of the payload
  std::string_view media_type;
  std::string_view digest;  // "sha1:..."; empty: none
  bool revisit = false;
};

// The line, with its end.
std::string FormatLogLine(const item::FetchedPage& page, const LogFacts& facts);

class CrawlLog {
 public:
  static constexpr size_t kBufferBytes = size_t{64} * 1024;
  static constexpr size_t kLongestBacklog = size_t{1} << 20;

  // Goes on behind the last whole line of `path`. `durable_bytes` is a size()
  // that was synced (0 if none is known): only what is behind it is looked at,
  // up to the first byte that no line has. kCorruption if the file is shorter.
  // `fs` outlives this.
  static Result<std::unique_ptr<CrawlLog>> OpenAt(FileSystem& fs,
                                                  const std::string& path,
                                                  uint64_t durable_bytes);

  // kNoSpace while the backlog is full: ask before what the line is about is
  // done, so that a line never has to be dropped.
  Status MakeRoom();
  // REQUIRES: a MakeRoom since the last one that returned no error.
  void Append(std::string_view line);
  // Forgets the lines from `size` on, the begin of one. REQUIRES: nothing was
  // appended since OpenAt.
  Status Cut(uint64_t size);
  Status Flush();
  // Flushes and makes it durable.
  Status Sync();
  // What is in the file: after Sync, a place that a checkpoint may note.
  uint64_t size() const { return end_; }

 private:
  CrawlLog(FileSystem& fs, std::string path, std::unique_ptr<File> file,
           uint64_t end);
  Unexpected<Error> Break(Error error);

  FileSystem& fs_;
  const std::string path_;
  std::unique_ptr<File> file_;
  std::string buffer_;
  uint64_t end_;             // of the last whole line in the file
  bool sync_folder_ = true;  // whoever made it may have died before
  std::optional<Error> broken_;
};

}  // namespace nephila::store
