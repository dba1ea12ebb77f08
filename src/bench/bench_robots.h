// nephila bench robots: what robots.txt files cost to read and to match.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::bench {

struct BenchRobotsOptions {
  std::string corpus;  // a folder with robots/ in it; default: bench/corpus.h
  std::string agent = "nephila";
  int passes = 5;
  bool json = false;
};

struct RobotsCorpus {
  std::string source;
  std::vector<std::string> files;
};

// Real files of `folder` (empty: CorpusFolder(), and generated ones where there
// is no corpus).
Result<RobotsCorpus> LoadRobots(const std::string& folder);

// `count` files of the usual kind, made from `seed`.
RobotsCorpus GenerateRobots(size_t count, uint64_t seed);

// Parses and compiles every file, opens it, and matches it against paths of
// links and against its own rules. Fails if rules do not open or the two ways
// of matching differ: this is also the long check on real files. Times are
// of this thread alone, in the fastest pass: noise only ever adds.
Status RunBenchRobots(const cli::Setup& setup,
                      const BenchRobotsOptions& options, std::ostream& out);

}  // namespace nephila::bench
