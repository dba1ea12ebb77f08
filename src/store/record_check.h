// RecordChecker: what is wrong with the records of an archive, one at a time.
//
// Checks of each whole record: the fields that ISO 28500:2017 s5 wants of its
// type, its date, its end, the digests of block and payload (transfer coding
// removed, content coding kept; a digest over the chunked bytes, as older tools
// wrote, is taken with a word), and across records: that no two have the same
// id, and that WARC-Concurrent-To names one that is there.
//   Threads: one.   Memory: 8 bytes a record id and 16 a reference that is
//   open, up to Options::max_ids.   Cost: a hash of each block and payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "base/table_hash.h"
#include "store/warc_reader.h"

namespace nephila::store {

enum class Severity : uint8_t {
  kNote,   // odd, but readers cope
  kError,  // the archive is not what it says
};

struct Finding {
  Severity severity = Severity::kError;
  uint64_t offset = 0;
  std::string what;
};
using FindingSink = std::function<void(const Finding&)>;

struct CheckOptions {
  // Ids that are remembered, to find one that comes twice; an archive of a
  // gigabyte has about 200 000.
  size_t max_ids = 4'000'000;
};

class RecordChecker {
 public:
  RecordChecker(const CheckOptions& options, FindingSink sink)
      : options_(options), sink_(std::move(sink)) {}

  // Reads the record in hand to its end and checks it. What Finish gives.
  Result<ReadState> Check(WarcReader& reader);
  // After the last record: references that led nowhere.
  void Finish();

  uint64_t digests() const { return digests_; }

 private:
  void Error(uint64_t offset, std::string what);
  void Note(uint64_t offset, std::string what);
  void CheckFields(const WarcReader& reader);
  void CheckRevisit(const WarcReader& reader);
  void CheckIds(const WarcReader& reader);
  void TakeReferences(const WarcReader& reader);
  Result<ReadState> CheckDigests(WarcReader& reader);

  const CheckOptions options_;
  const FindingSink sink_;
  uint64_t digests_ = 0;
  bool full_ = false;  // ids_ is
  TableHash id_hash_;
  std::unordered_set<uint64_t> ids_;
  // References to ids not seen yet, and the offset of the first of each.
  std::unordered_map<uint64_t, uint64_t> open_;
};

}  // namespace nephila::store
