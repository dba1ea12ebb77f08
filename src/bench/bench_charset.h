// nephila bench charset: how often the guess of an encoding is right, and how
// fast pages are decoded.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct BenchCharsetOptions {
  std::string corpus;  // a folder; see FindInCorpus
  bool json = false;
};

// Takes the pages that are UTF-8 and not ASCII, writes each in the legacy
// encodings that pages of its script are written in, takes its declarations
// away by not looking at them, and lets the encoding be guessed. A guess is
// right if it gives the same text. Then decodes all of them again, timed.
Status RunBenchCharset(const BenchCharsetOptions& options, std::ostream& out);

}  // namespace nephila::bench
