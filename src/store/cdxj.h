// CDXJ: the index of an archive, a line for each record that a reader may ask
// for, sorted by bytes:
//
//   org,iana)/ 20140126200624 {"url": "http://www.iana.org/", "mime":
//   "text/html", "status": "200", "digest": "OSSA...", "length": "2258",
//   "offset": "334", "filename": "iana.warc.gz"}
//
// (on one line). As pywb, OpenWayback and Common Crawl read and write it: all
// values are JSON strings, numbers too; what was read may have numbers.
//   Threads: any.   Cost: linear in the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nephila::store {

struct CdxjLine {
  bool operator==(const CdxjLine&) const = default;

  std::string key;        // SurtKey(url)
  std::string timestamp;  // 14 digits, UTC
  std::string url;
  std::string mime;    // of the payload; "warc/revisit" for a revisit
  std::string status;  // "200"; may be empty
  std::string digest;  // of the payload: base32 of SHA-1, or "sha256:..."
  std::optional<uint64_t> length;  // of the member, compressed
  std::optional<uint64_t> offset;  // of the member in its file
  std::string filename;
  // Others ("truncated", "redirect", ...), by name when read. Values that were
  // no strings are kept as their JSON text, and written as strings.
  std::vector<std::pair<std::string, std::string>> others;
};

enum class CdxjError : uint8_t {
  kNoFields,   // not "key timestamp {...}"
  kTimestamp,  // not 14 digits
  kJson,       // not an object, or a value that does not fit its name
  kTooLong,    // over kLongestCdxjLine
};
std::string_view CdxjErrorText(CdxjError error);

// URLs may have a megabyte in a data: page, an index of them has no use.
inline constexpr size_t kLongestCdxjLine = size_t{1} << 20;

// Without the end of the line. Fields that are empty are left out.
std::string FormatCdxj(const CdxjLine& line);
// `text` without the end of the line.
Result<CdxjLine, CdxjError> ParseCdxj(std::string_view text);

// The header line that some tools write first, " CDX ...", "!meta {...}": they
// sort before every key and are no lines of the index.
bool IsCdxjHeader(std::string_view text);

// As an index has it: SHA-1 without its name, others with it.
std::string CdxjDigest(std::string_view warc_digest);

}  // namespace nephila::store
