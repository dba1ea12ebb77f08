// VerifyArchive: whether an archive is what it says: its framing, each record
// (record_check.h), and that the index beside it leads to its records.
// RepairArchive: what can be mended of it, without losing a whole record.
//
// Damage is named by its range of bytes. A tail that no record follows is what
// a crash leaves; other damage stands in the middle.
//   Threads: any; REQUIRES: nobody writes to the archive meanwhile.
//   Memory: bounded by the options.   Cost: decoding and hashing, once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "store/archive_index.h"
#include "store/record_check.h"
#include "store/warc_reader.h"

namespace nephila::store {

struct VerifyOptions {
  ReaderOptions reader = {};
  CheckOptions check = {};
  // Compares x.cdxj beside x.warc.gz, if it is there.
  bool index = true;
};

struct DamagedRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool torn = false;
  // Whole records that share the damaged member: they cannot be kept apart
  // from what is broken in it.
  uint64_t records_inside = 0;
  // Not 0: all is there but so many bytes of the line ends behind the block.
  size_t missing_end_bytes = 0;
  std::string what;
};

struct VerifyReport {
  uint64_t records = 0;  // whole ones
  uint64_t digests = 0;  // that were checked
  uint64_t errors = 0;
  uint64_t notes = 0;
  std::vector<DamagedRange> damages;  // by offset
  uint64_t size = 0;                  // of the file
  bool is_arc = false;
  bool has_index = false;
  uint64_t index_differences = 0;
  bool ok() const { return errors == 0; }
};

// Every finding goes to `sink` as it comes up. An Error is one of the disk, or
// of a file that is no archive at all.
Result<VerifyReport> VerifyArchive(FileSystem& fs, const std::string& path,
                                   const VerifyOptions& options,
                                   const FindingSink& sink);

// Mends framing and index; `say` gets a sentence for each thing done, or not
// done and why. A damaged range is first saved in <path>.cut (and .cut2, ...),
// durably, then cut off; from the middle by writing the archive anew, aside.
// Records whose digests or fields are wrong stay. The index is made again if it
// is missing, does not match, or offsets have moved.
Status RepairArchive(FileSystem& fs, const std::string& path,
                     const VerifyOptions& options,
                     const std::function<void(std::string)>& say);

// Writes the index of an archive to its place beside it.
Result<IndexCounts> RebuildIndex(FileSystem& fs, const std::string& path);

}  // namespace nephila::store
