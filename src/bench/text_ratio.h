// What compression makes of the text of links, by the order they come in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "bench/link_stream.h"

namespace nephila::bench {

struct TextRatios {
  double arrival_order = 0;
  double bucket_order = 0;  // by the top 9 bits of the key, else as they came
};

// Of the next `sample_bytes` of a stream, a line a link, in blocks of 1 MiB by
// zstd at level 1: packed bytes over bytes. Takes three times the sample.
Result<TextRatios> MeasureTextRatios(LinkSource* source, size_t sample_bytes,
                                     uint64_t hash_seed);

}  // namespace nephila::bench
