// nephila bench queue: what a record costs to append to queues on disk and to
// read again.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/result.h"

namespace nephila::bench {

struct BenchQueueOptions {
  uint64_t records = 2'000'000;
  std::vector<uint64_t> queues = {1, 100, 10'000};
  std::vector<Codec> codecs = {Codec::kNone, Codec::kLz4, Codec::kZstd};
  uint64_t memory_bytes = uint64_t{64} << 20;
  std::string urls_file;  // lines, plain or .zst; see LoadUrls
  std::string directory;  // default: one below the current, removed at the end
  bool json = false;
};

// Appends records of 34 bytes and a URL to queues drawn at random, commits
// every 100 000, and takes all of them, queue after queue. Times are of this
// thread's CPU, and of the clock with the commits' syncs. Fails if a record
// does not come back.
Status RunBenchQueue(const BenchQueueOptions& options, std::ostream& out);

}  // namespace nephila::bench
