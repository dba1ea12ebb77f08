// What waits in the batches of a commit, without the right to change anything:
// for looking at a store that another process may have open.
//
//   In: a folder, a generation.   Out: the aux of results that are yet to be
//   delivered, in the order of arrival; the tuples of a key.
//   Threads: one.   Memory: what LoadState takes, and a block.
//   Cost: ScanWaiting reads the aux log of each batch, FindTuples one bucket.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace nephila::drum {

// False ends it.
using WaitingSink = std::function<Result<bool>(std::string_view aux)>;
// kNotFound if there is no such commit, or a file of it is gone.
Status ScanWaiting(FileSystem& fs, const std::string& dir, uint64_t generation,
                   const WaitingSink& take);

// How many bytes that reads from disk.
Result<uint64_t> WaitingBytes(FileSystem& fs, const std::string& dir,
                              uint64_t generation);

// The values of the tuples of `key`; those of a pass that is being delivered
// too, though their results may have been handed on.
Status FindTuples(FileSystem& fs, const std::string& dir, uint64_t generation,
                  uint64_t key,
                  const std::function<void(std::string_view value)>& take);

}  // namespace nephila::drum
