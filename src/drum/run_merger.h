// RunMerger: several sources as one, in which the newest record of a key wins.
//
// Tombstones come out as records: only who knows that nothing older is left
// may drop them. Made for up to some 16 sources: it looks at the key of each
// per record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "drum/record_source.h"

namespace nephila::drum {

class RunMerger final : public RecordSource {
 public:
  // Newest first. None may have been sought yet, or all stand where the merge
  // is to begin; SeekTo comes first in either case.
  explicit RunMerger(std::vector<std::unique_ptr<RecordSource>> sources);

  Status SeekTo(uint64_t key) override;
  bool AtEnd() const override { return at_end_; }
  uint64_t key() const override { return key_; }
  std::string_view value() const override { return sources_[best_]->value(); }
  bool is_tombstone() const override { return sources_[best_]->is_tombstone(); }
  Status Next() override;

 private:
  void Remember(size_t source);
  void Choose();

  const std::vector<std::unique_ptr<RecordSource>> sources_;
  // The key that each source stands on; at its end the largest, which a record
  // may have as well: `ended_` tells them apart.
  std::vector<uint64_t> keys_;
  std::vector<bool> ended_;
  size_t best_ = 0;
  uint64_t key_ = 0;
  bool at_end_ = true;
};

}  // namespace nephila::drum
