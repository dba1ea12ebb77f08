// The links that the options of `nephila-bench drum` ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/bench_drum.h"
#include "bench/link_stream.h"
#include "bench/text_ratio.h"

namespace nephila::bench {

// Of the keys of all links.
inline constexpr uint64_t kHashSeed = 0x6E657068696C61;

struct Source {
  std::string name;
  std::unique_ptr<LinkSource> links;
};

// From the first link on, each time.
Result<Source> MakeSource(const BenchDrumOptions& options);

// Of a stream of its own, and no more links than the run will have. Without a
// codec in the options, zstd: what the store mostly chooses.
Result<TextSample> SampleTextOf(const BenchDrumOptions& options);

}  // namespace nephila::bench
