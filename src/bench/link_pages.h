// Pages with their links, what the stream of links is made of.
//
// Real ones from the corpus (html/links-parse5.jsonl.zst: the links of a and
// area elements, resolved, without fragment), else generated ones of like
// statistics: 160 links of 60 bytes a page, five of six to the page's own
// site, three of ten repeated on the page, some on every page of the site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct LinkPage {
  std::string site;                // the page's host
  std::vector<std::string> links;  // http and https, absolute; repeats too
};

struct LinkPages {
  std::string source;  // the file, or "generated"
  std::vector<LinkPage> pages;
};

// An even sample of the corpus' pages with about `text_bytes` of links in all,
// or generated pages where there is no corpus.
Result<LinkPages> LoadLinkPages(size_t text_bytes);

// Pages with about `text_bytes` of links, from `seed` alone.
LinkPages GenerateLinkPages(size_t text_bytes, uint64_t seed);

// The page of one line of links-parse5.jsonl; kCorruption if it is none.
Result<LinkPage> ParseLinkPage(std::string_view line);

// The host (and port) of an absolute URL, or all of it if there is none.
std::string_view HostOf(std::string_view url);

}  // namespace nephila::bench
