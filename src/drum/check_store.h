// StoreCheck: whether a store on disk is what its commits say, read to the last
// block and without changing anything: frames of the journal, every block of
// every run and the order of its keys, every chunk of a bucket and every block
// of the aux log, and that all of them hold as many records as the commit has.
//
//   In: a folder that no process works on, generations.   Out: counts, and a
//   Damage for each thing that is wrong; the rest is still looked at.
//   Not seen: padding behind blocks, and what stands behind the commit.
//   Threads: one.   Memory: what LoadState takes, and a block.
//   Cost: each file is read once, in its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/damage.h"
#include "base/file.h"
#include "base/result.h"
#include "drum/aux_block.h"
#include "drum/batch.h"
#include "drum/block_file.h"
#include "drum/journal.h"

namespace nephila::drum {

struct StoreCounts {
  uint64_t runs = 0;
  uint64_t records = 0;  // in runs and in memory, shadowed ones too
  uint64_t tuples = 0;   // of batches
  uint64_t results = 0;  // of them, that are yet to be delivered
  uint64_t bytes = 0;    // that were read, journals apart
};

class StoreCheck {
 public:
  // `fs` outlives this.
  StoreCheck(FileSystem& fs, std::string dir, DamageSink sink);

  // The aux of a result that is yet to be delivered.
  using AuxSink = std::function<void(std::string_view aux)>;
  // Looks at a generation. What one before had as well is not read again.
  // Nothing if its commit cannot be read.
  std::optional<StoreCounts> Check(uint64_t generation,
                                   const AuxSink& aux = nullptr);

  // Paths of all files that the generations name.
  const std::set<std::string>& files() const { return files_; }

 private:
  void Report(const std::string& path, std::optional<uint64_t> offset,
              std::string what);
  void Report(const std::string& path, const Error& error);
  void NoteNames(const StoreState& state);
  void CheckRun(const StoreState& state, const RunInfo& info,
                StoreCounts* counts);
  void CheckBatch(const StoreState& state, const BatchState& batch,
                  const AuxSink& aux, StoreCounts* counts);
  // Both give how many results they hold.
  uint64_t CheckBuckets(const StoreState& state, const BatchState& batch,
                        StoreCounts* counts);
  uint64_t CountResults(const BatchState& batch, uint32_t bucket,
                        std::string_view tuples, uint64_t expected,
                        const std::string& path,
                        std::optional<uint64_t> offset);
  uint64_t CheckAux(const StoreState& state, const BatchState& batch,
                    const AuxSink& aux, StoreCounts* counts);

  FileSystem& fs_;
  const std::string dir_;
  const DamageSink sink_;
  std::set<std::string> files_;
  std::set<uint64_t> checked_;  // numbers of files
  bool is_all_read_ = true;     // of the batches of this generation
  IoCounts io_;
  BlockBuffer buffer_;
  Decompressor decompressor_;
};

}  // namespace nephila::drum
