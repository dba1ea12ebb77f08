// nephila bench coding: what it costs to undo the content coding of a page, by
// us and by the libraries that could do it.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct BenchCodingOptions {
  std::string corpus;  // a folder; see FindInCorpus
  int passes = 20;
  bool json = false;
};

// Cuts pages into pieces of 21 KB, the papers' mean page, packs each with zlib
// -6, and undoes all of them `passes` times with each decoder; the figure is
// the fastest pass, in CPU time of the thread.
Status RunBenchCoding(const BenchCodingOptions& options, std::ostream& out);

}  // namespace nephila::bench
