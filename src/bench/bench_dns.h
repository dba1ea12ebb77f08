// nephila bench dns: what it costs to resolve names, asked for and remembered.
#pragma once

#include <iosfwd>

#include "base/result.h"

namespace nephila::bench {

struct BenchDnsOptions {
  int names = 20'000;
  // As many questions as the socket of a server surely holds while the machine
  // is busy with something else.
  int in_flight = 200;
  int passes = 5;
  bool json = false;
};

// Resolves the names of as many hosts of the simulated web, by its own name
// server on another thread, all different; then the same names again, from the
// cache. The figures are the fastest pass, in CPU time of the resolver's
// thread; names a second are of the clock on the wall. Fails if one is not
// found.
Status RunBenchDns(const BenchDnsOptions& options, std::ostream& out);

}  // namespace nephila::bench
