#include "drum/store_scan.h"

#include <utility>
#include <vector>

#include "drum/run_merger.h"

namespace nephila::drum {
namespace {

class StoreScan final : public Scan {
 public:
  StoreScan(std::vector<std::unique_ptr<RecordSource>> sources,
            const ScanRange& range)
      : merged_(std::move(sources)), shards_(range.shards) {}

  Status Start(uint64_t first) {
    NEPHILA_RETURN_IF_ERROR(merged_.SeekTo(first));
    return SkipHidden();
  }

  bool AtEnd() const override { return merged_.AtEnd(); }
  uint64_t key() const override { return merged_.key(); }
  std::string_view value() const override { return merged_.value(); }
  Status Next() override {
    NEPHILA_RETURN_IF_ERROR(merged_.Next());
    return SkipHidden();
  }

 private:
  bool IsHidden() const {
    if (merged_.is_tombstone()) return true;
    constexpr uint64_t kShardMask = (uint64_t{1} << kScanShardBits) - 1;
    return shards_ && !shards_->test(merged_.key() & kShardMask);
  }
  Status SkipHidden() {
    while (!merged_.AtEnd() && IsHidden()) {
      NEPHILA_RETURN_IF_ERROR(merged_.Next());
    }
    return {};
  }

  RunMerger merged_;
  const std::optional<ShardSet> shards_;
};

}  // namespace

Result<std::unique_ptr<Scan>> MakeScan(const Records& records,
                                       const ScanRange& range) {
  auto sources = MemoryCursors(records.memory, range.first, range.last);
  for (const auto& run : records.runs) {
    sources.push_back(
        std::make_unique<RunCursor>(run, range.first, range.last));
  }
  auto scan = std::make_unique<StoreScan>(std::move(sources), range);
  NEPHILA_RETURN_IF_ERROR(scan->Start(range.first));
  return std::unique_ptr<Scan>(std::move(scan));
}

}  // namespace nephila::drum
