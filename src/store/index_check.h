// IndexChecker: whether the CDXJ beside an archive leads to its records, every
// line to one and every record that has a line to its line.
//   In: the records of an archive in order, then its index   Out: findings
//   Threads: one.   Memory: 48 bytes a record, up to max_records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "store/cdxj.h"

namespace nephila::store {

class IndexChecker {
 public:
  explicit IndexChecker(size_t max_records) : max_records_(max_records) {}

  // A line as the archive itself gives it (archive_index.h), by offset.
  void AddRecord(const CdxjLine& line);

  // Compares the index. `say` gets a sentence for each difference, at most
  // kMostSaid of them; lines of other files in it are passed over. Returns how
  // many differences there are.
  static constexpr size_t kMostSaid = 100;
  Result<uint64_t> Compare(FileSystem& fs, const std::string& index_path,
                           std::string_view filename,
                           const std::function<void(std::string)>& say);

 private:
  struct Entry {
    uint64_t offset;
    uint64_t length;
    uint64_t url;     // hash
    uint64_t digest;  // hash
    uint64_t timestamp;
    bool seen;
  };
  // What is wrong with a line; empty if nothing is.
  std::string CompareLine(const CdxjLine& line);

  const size_t max_records_;
  bool full_ = false;
  std::vector<Entry> entries_;
};

}  // namespace nephila::store
