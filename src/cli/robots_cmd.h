// nephila robots: what a robots.txt file says about URLs, as JSON lines.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct RobotsOptions {
  std::string agent = "nephila";
  std::string file;  // "-": the input, if the URLs are not read from it
  bool check = false;
  std::vector<std::string> urls;
  bool from_input = false;  // the lines of the input as URLs
};

// With `check` first a line about the file: `file`, `agent`, `group`, `groups`,
// `lines`, `bytes`, `cut`, `rules`, `crawl_delay`, `sitemaps`, `deviations`
// (how many of each kind), `findings` (the first of them with their lines).
// Then a line for each URL: `url`, `allowed`, `rule` and `line` that decided
// (null by default), `crawl_delay` (seconds, or null); or `failure` (the
// reason). A URL without a host is a path of the site.
Status RunRobots(const Setup& setup, const RobotsOptions& options,
                 std::istream& in, std::ostream& out);

}  // namespace nephila::cli
