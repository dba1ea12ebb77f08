// IndexArchive: the CDXJ lines of an archive that is there already, made by
// reading it once.
//   In: an archive   Out: lines, in the order of its records
//   Threads: any.   Memory: that of the reader and a head of HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "store/cdxj.h"
#include "store/http_message.h"
#include "store/warc_reader.h"

namespace nephila::store {

// The head of HTTP at the front of the record's block, if it is one.
Result<std::optional<HttpHead>> ReadHttpHead(WarcReader& reader, HttpKind kind);

// Reads the record in hand, head and rest, and makes its line; none if no index
// has one for it, or if it shares its member, which no index can name.
// *state is what Finish gives; a record that is not whole has no line.
Result<std::optional<CdxjLine>> IndexRecord(WarcReader& reader,
                                            std::string_view filename,
                                            ReadState* state);

struct IndexCounts {
  uint64_t records = 0;  // whole ones
  uint64_t lines = 0;
  // Would have a line if they did not share a member.
  uint64_t sharing = 0;
  uint64_t damages = 0;  // places that were skipped
};

// Gives a line for each record that has one, with `filename` in it; goes on
// behind damage.
Result<IndexCounts> IndexArchive(
    FileSystem& fs, const std::string& path, std::string_view filename,
    const std::function<Status(const CdxjLine&)>& take);

// Where the index of an archive stands: "x.cdxj" beside "x.warc.gz".
std::string IndexPathOf(std::string_view archive_path);
// What stands behind the last slash.
std::string_view BaseName(std::string_view path);
// What an index calls an archive: its name when it is finished.
std::string_view IndexedName(std::string_view path);

}  // namespace nephila::store
