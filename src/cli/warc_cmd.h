// nephila warc: list, print, check, repair and index archives.
//
// What comes out of an archive comes from the web: in tables and messages it is
// escaped for terminals, in JSON by JSON; `cat` prints bytes as they are unless
// `escape` is set.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::cli {

struct WarcLsOptions {
  std::vector<std::string> files = {};
  bool json = false;
};

// A line a record: offset, length, type, status, media type, date, URI; behind
// damage it goes on. kCorruption if there was any.
Status RunWarcLs(FileSystem& fs, const WarcLsOptions& options,
                 std::ostream& out);

struct WarcCatOptions {
  std::vector<std::string> files = {};  // one; with `cdxj` a folder, or none
  // Which record, exactly one of these.
  std::optional<uint64_t> offset = {};
  std::optional<std::string> url = {};   // the first with this sort key
  std::optional<std::string> cdxj = {};  // a line of an index
  bool payload = false;                  // transfer coding removed
  bool decode = false;                   // and content codings
  bool escape = false;                   // the output is a terminal
};

// The record, header and block, or its payload.
Status RunWarcCat(FileSystem& fs, const WarcCatOptions& options,
                  std::ostream& out);

struct WarcVerifyOptions {
  std::vector<std::string> files = {};
  bool repair = false;
  bool quiet = false;  // no notes
};

// A line a finding, then one a file. kCorruption if one is not right; with
// `repair`, if it is not right afterwards.
Status RunWarcVerify(FileSystem& fs, const WarcVerifyOptions& options,
                     std::ostream& out);

struct WarcIndexOptions {
  std::vector<std::string> files = {};  // archives, and sorted indexes (.cdxj)
  std::optional<std::string> output = {};
  bool beside = false;  // each archive's index beside it
};

// One sorted index of all, into a file or to `out`.
Status RunWarcIndex(FileSystem& fs, const WarcIndexOptions& options,
                    std::ostream& out);

}  // namespace nephila::cli
