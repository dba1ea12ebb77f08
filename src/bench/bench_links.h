// nephila bench links: how fast links are found in real pages, by us and by
// others, in one run.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::bench {

struct BenchLinksOptions {
  std::string corpus;  // a folder; empty: see bench/html_corpus.h
  bool all = false;    // both archives of the corpus
  int passes = 9;      // ours; the peers, which are slow, a third of them
  bool json = false;
  bool compare = false;  // with the reference links instead of measuring
};

// Each parser reads all pages, the parsers taking turns, and counts links. The
// figure is the fastest pass by CPU time of the thread, which on a shared
// machine is what a core of one's own would take at least; the time of the
// wall stands beside it.
Status RunBenchLinks(const cli::Setup& setup, const BenchLinksOptions& options,
                     std::ostream& out);

}  // namespace nephila::bench
