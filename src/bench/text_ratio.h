// What compression makes of the text of links, by the order they come in.
//
// Both orders are taken as a batch has them. In arrival order that is the
// stream itself. A bucket has one link of 512, so its blocks reach far over the
// stream: a small sample put in order of buckets would bring links together
// that lie far apart in a batch of gigabytes. So the stream is followed on, and
// of 512 buckets eight are kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/codec.h"
#include "base/result.h"
#include "bench/link_stream.h"

namespace nephila::bench {

struct TextSampleOptions {
  Codec codec = Codec::kZstd;
  size_t block_bytes = size_t{1} << 20;
  size_t arrival_bytes = size_t{64} << 20;  // of the sample in arrival order
  uint64_t max_links = 12'000'000;          // to look at, for either order
  uint64_t hash_seed = 0;
};

struct TextCosts {
  // Bytes of links over packed bytes. A byte a link that keeps them apart
  // counts as packed, so without a codec this is a bit below 1.
  double ratio = 0;
  double pack_ns_per_link = 0;
  double unpack_ns_per_link = 0;
};

struct TextSample {
  double link_bytes = 0;
  TextCosts arrival_order;
  TextCosts bucket_order;  // by the top 9 bits of the key, then as they came
};

// Of the next links of a stream, up to a block of each of the eight buckets;
// those that have none after `max_links` are packed as they are. Memory: some
// 12 blocks.
Result<TextSample> SampleText(LinkSource* source,
                              const TextSampleOptions& options);

}  // namespace nephila::bench
