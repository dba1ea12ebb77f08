// UnitReader: an archive of ours, unit by unit: what was fetched, and what its
// records say of it, for those who compare an archive with what else is known
// of a crawl (journal, crawl.log).
//
// A unit is the records of one fetch, an answer of the DNS, or the warcinfo
// (unit_maker.h, docs/formats/archive.md). Damage ends a unit and is skipped:
// VerifyArchive (verify.h) names it.
//   In: an archive   Out: units, in order   Threads: one.
//   Memory: heads, and a metadata record.   Cost: decoding it once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "store/warc_reader.h"

namespace nephila::store {

enum class UnitKind : uint8_t {
  kInfo,
  kName,     // an answer of the DNS
  kFetch,    // a response or revisit, whole with its metadata
  kPartial,  // records without a metadata behind them: a write was cut off
};

struct Unit {
  UnitKind kind = UnitKind::kPartial;
  uint64_t offset = 0;
  uint64_t end = 0;
  std::string url;
  std::string date;  // WARC-Date: when it was begun, in microseconds
  std::string
      info;  // kInfo: the fields of the warcinfo, lines of "name: value"
  // kFetch.
  bool revisit = false;
  int status = 0;                         // 0: the block has no head of HTTP
  std::optional<uint64_t> payload_bytes;  // not of a revisit
  std::string payload_digest;
  std::string retry_after;  // the field of the head, if any
  uint32_t attempt = 1;
  std::string hop_path;  // "P": a robots.txt
  std::string fetch_ms;  // how long it took

  bool is_robots() const { return hop_path == "P"; }
};

class UnitReader {
 public:
  static Result<std::unique_ptr<UnitReader>> Open(FileSystem& fs,
                                                  const std::string& path);

  // The next one into *unit; false behind the last. An Error is one of the
  // disk.
  Result<bool> Next(Unit* unit);

 private:
  explicit UnitReader(std::unique_ptr<WarcReader> reader)
      : reader_(std::move(reader)) {}

  // Reads the record in hand; false if it is damaged.
  Result<bool> TakeRecord(Unit* unit, bool* is_over);
  Result<ReadState> TakeResponse(Unit* unit);
  Result<ReadState> TakeMetadata(Unit* unit);
  Result<std::string> ReadFields();

  std::unique_ptr<WarcReader> reader_;
};

}  // namespace nephila::store
