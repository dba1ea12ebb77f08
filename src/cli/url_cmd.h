// nephila url: what the stage `url` makes of a URL, as JSON lines.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct UrlOptions {
  std::optional<std::string> base;
  std::vector<std::string> urls;
  bool from_input = false;  // the lines of the input instead
};

// One line of JSON per URL: `input`, then `href` or `failure` (the reason),
// and if the crawl would take it `canonical`, `host`, `pld`, `site`, `key`,
// `host_key`, `pld_key`, `shard`, else `dropped` (the reason).
Status RunUrl(const Setup& setup, const UrlOptions& options, std::istream& in,
              std::ostream& out);

}  // namespace nephila::cli
