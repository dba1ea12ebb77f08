// LinkParser: something that finds the links of pages, to be measured.
//
// Each counts what it finds, so that all do the work: href of a, area and link,
// src of img, script, iframe and frame, action of form. Ours finds more kinds
// besides, and counts all.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/html_corpus.h"
#include "cli/setup.h"

namespace nephila::bench {

class LinkParser {
 public:
  LinkParser() = default;
  LinkParser(const LinkParser&) = delete;
  LinkParser& operator=(const LinkParser&) = delete;
  virtual ~LinkParser() = default;

  virtual std::string_view name() const = 0;
  // Returns the number of links.
  virtual uint64_t Parse(const HtmlFile& page) = 0;
};

std::unique_ptr<LinkParser> MakeLibxml2Parser();
std::unique_ptr<LinkParser> MakeGumboParser();

// Ours: "nephila" (links), "nephila+urls" (resolved, normalised, hashed),
// "nephila+text" (links, title and text), and the peers.
std::vector<std::unique_ptr<LinkParser>> MakeLinkParsers(
    const cli::Setup& setup);

}  // namespace nephila::bench
