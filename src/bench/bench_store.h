// nephila bench store: what the archive costs per page.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct BenchStoreOptions {
  std::string corpus;  // a folder; see FindInCorpus
  int passes = 5;
  bool json = false;
};

// Makes a response record of every page of 10 to 48 KB: both digests, the
// header, one member or frame. Each compressor goes through all pages `passes`
// times, all of them in turn, so that a noisy minute falls on all; the figure
// is the fastest pass, in CPU time of the thread. Sizes are relative to zlib 6.
Status RunBenchStore(const BenchStoreOptions& options, std::ostream& out);

}  // namespace nephila::bench
