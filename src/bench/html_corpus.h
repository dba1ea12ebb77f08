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

// Of `folder`, with the archives pages-core.tar.zst and, if `all`,
// pages-more.tar.zst; empty: CorpusFolder()/html, and pages that are made up
// where there is none.
Result<HtmlCorpus> LoadHtml(const std::string& folder, bool all);

// `count` pages of about 60 kB, made from `seed`.
HtmlCorpus GenerateHtml(size_t count, uint64_t seed);

// The files of a tar archive (ustar, with GNU's long names).
Result<std::vector<HtmlFile>> ReadTar(std::string_view tar);

}  // namespace nephila::bench
