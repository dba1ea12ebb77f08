// ScanArchive: reads an archive of ours from its beginning, to go on with it or
// to make its index again.
//
// Out: how far it consists of whole units, its warcinfo, and the lines of its
// index. A unit ends with a metadata record, or is a single warcinfo or
// resource (unit_maker.h); records behind the last whole unit belong to a fetch
// whose write was cut off.
//   Threads: one. Memory: the index. Cost: that of decompressing it all, about
//   3 s for 1 GB of file.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "store/index_builder.h"

namespace nephila::store {

struct ArchiveScan {
  uint64_t end = 0;  // behind the last whole unit
  // What is wrong there, in words; empty if the file ends with a whole unit.
  std::string damage;
  std::string warcinfo_id;  // "urn:uuid:..."; empty: it has none
  IndexBuilder index;       // of the whole units
};

// `filename` is what the index calls it. Units that end behind `limit` are as
// if they were not there. An error is one of the disk.
Result<ArchiveScan> ScanArchive(FileSystem& fs, const std::string& path,
                                const std::string& filename,
                                uint64_t limit = UINT64_MAX);

// Makes sure that the CDXJ of a finished archive is what the archive says: if
// it does not match, it is made anew, durably, and true is returned.
// kCorruption if the archive is damaged.
Result<bool> EnsureIndex(FileSystem& fs, const std::string& archive_path,
                         const std::string& index_path);

}  // namespace nephila::store
