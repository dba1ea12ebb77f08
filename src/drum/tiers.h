// RunsToFold: when runs are merged.
//
// A pass reads every run anyway, so folding runs into the one it writes costs
// their bytes once more as writes, and, as they are swept before they are
// merged, once more as reads. Runs that are never folded grow in number, and
// each costs a pass a cursor and a few instructions a tuple. The policy: a run
// is folded when what the pass writes is about as large, newest first. So each
// key is rewritten at most once for every doubling of what is newer, and a
// store of N keys with batches of n new ones has about log2(N/n) runs.
// docs/drum-model.md compares it with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nephila::drum {

// More are not kept, whatever their sizes.
inline constexpr size_t kMostRuns = 12;

// `run_bytes` newest first; `new_bytes` is what the pass will write beside
// them. How many of the newest to fold.
size_t RunsToFold(std::span<const uint64_t> run_bytes, uint64_t new_bytes);

}  // namespace nephila::drum
