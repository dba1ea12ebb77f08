// nephila bench url: what the stage `url` costs per link.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::bench {

struct BenchUrlOptions {
  std::string urls_file;  // default: see bench/corpus.h
  int passes = 25;
  bool json = false;
};

// Parses, normalises and keys every URL of the corpus, shuffled with a fixed
// seed, `passes` times. Nothing is remembered between URLs. The figure is the
// fastest pass, the median stands beside it: on a shared machine noise only
// ever adds.
Status RunBenchUrl(const cli::Setup& setup, const BenchUrlOptions& options,
                   std::ostream& out);

}  // namespace nephila::bench
