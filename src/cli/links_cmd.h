// nephila links: what parse finds in a page, as JSON lines.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct LinksOptions {
  std::string base;     // the page's URL
  std::string charset;  // of HTML, as its Content-Type says; empty: not at all
  std::vector<std::string> headers;  // "Name: value" of the response
  std::string file;                  // empty: standard input
  bool text = false;                 // title and text
  bool meta = false;                 // meta elements
};

// What parse makes of a response with this body and these headers; without a
// type in them text is read as HTML, unless it is a sitemap or a feed.
// One line of JSON per link: `link` (absolute) or `raw` and `failure`, `tag`,
// `attr`, `rel`, and `header`, `svg` or `template` where it stands in one.
// Then, if asked, a line for each meta element and one with `title` and `text`.
// If links were left out, a last line says how many and why: `dropped`.
Status RunLinks(const Setup& setup, const LinksOptions& options,
                std::istream& in, std::ostream& out);

}  // namespace nephila::cli
