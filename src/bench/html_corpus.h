// Real pages for benchmarks, from the corpus (bench/corpus.h), or made up.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "parse/charset.h"

namespace nephila::bench {

struct HtmlFile {
  std::string path;  // in the archive
  std::string url;
  std::string bytes;
  parse::Charset charset;  // as sniffed, without a header
};

struct HtmlCorpus {
  std::string source;
  std::vector<HtmlFile> pages;
  uint64_t bytes = 0;
};

// The archive pages-core.tar.zst of the corpus (FindInCorpus) and, if `all`,
// pages-more.tar.zst; pages that are made up where there is none.
Result<HtmlCorpus> LoadHtml(const std::string& folder, bool all);

// `count` pages of 6 to 60 kB with 10 to 100 links, made from `seed`.
HtmlCorpus GenerateHtml(size_t count, uint64_t seed);

}  // namespace nephila::bench
