// Real-world data for benchmarks, which is not ours to publish.
//
// It is looked for in the folder that NEPHILA_CORPUS names, else in
// ../shared/corpus beside the checkout. Where there is none, a benchmark
// makes data of like statistics and says so in its output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct UrlCorpus {
  std::string source;  // the file, or "generated"
  std::vector<std::string> urls;
};

// The lines of `file` (plain, or .zst); without a file the corpus' page links,
// else generated ones.
Result<UrlCorpus> LoadUrls(const std::string& file);

// `count` URLs made from `seed`: lengths, depths, queries and hosts in the
// proportions of links on real pages.
UrlCorpus GenerateUrls(size_t count, uint64_t seed);

// Where the corpus lies if there is one.
std::string CorpusFolder();

// Where the file `name` of the part `part` lies: in `folder`, which may be the
// corpus or that part of it; without a folder in that of the environment, or
// nowhere ("").
Result<std::string> FindInCorpus(const std::string& folder,
                                 std::string_view part, std::string_view name);

// The contents of a file, unpacked if its name ends in .zst.
Result<std::string> ReadMaybeCompressed(const std::string& path);

}  // namespace nephila::bench
