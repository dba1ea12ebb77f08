// nephila links: what parse finds in a page, as JSON lines.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct LinksOptions {
  std::string base;     // the page's URL
  std::string charset;  // as its Content-Type says; empty: not at all
  std::string file;     // empty: standard input
  bool text = false;    // title and text
  bool meta = false;    // meta elements
};

// One line of JSON per link: `link` (absolute) or `raw` and `failure`, `tag`,
// `attr`, `rel`, and `svg` or `template` where it stands in one. Then, if
// asked, a line for each meta element and one with `title` and `text`. If links
// were left out, a last line says how many and why: `dropped`.
Status RunLinks(const Setup& setup, const LinksOptions& options,
                std::istream& in, std::ostream& out);

}  // namespace nephila::cli
