// Real pages for benchmarks: the tar archives of the corpus (corpus.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct PageCorpus {
  std::string source;  // the file, or "generated"
  std::vector<std::string> pages;
};

// The files of `folder`/html/pages-core.tar.zst (folder empty: CorpusFolder())
// that are at least `smallest` and at most `largest` bytes; without the file,
// generated pages.
Result<PageCorpus> LoadPages(const std::string& folder, size_t smallest,
                             size_t largest);

// Pages of words and markup, made from a seed, of sizes in the same bounds.
PageCorpus GeneratePages(size_t count, size_t smallest, size_t largest,
                         uint64_t seed);

// The contents of the plain files in a tar archive (POSIX ustar, with the long
// names of GNU and pax skipped). kCorruption if it ends inside a file.
Result<std::vector<std::string>> FilesOfTar(std::string_view tar);

}  // namespace nephila::bench
