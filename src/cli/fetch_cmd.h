// nephila fetch: URLs fetched politely, and what happened to each.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct FetchCmdOptions {
  std::vector<std::string> urls;
  bool from_input = false;  // lines of `in` are URLs too
  int redirects = 0;        // so many are followed
  bool links = false;       // list them, not only count them
  bool text = false;        // title and text
  std::string warc;         // folder of an archive; "": none
};

// robots.txt comes first, one request to a host is in flight at a time, and
// `politeness.host_delay` or the site's Crawl-delay is between them. A line of
// JSON for each URL: `url`, `outcome`, `robots`, and of an answer `status`,
// `type`, `address`, `protocol`, `times` (seconds since it began), `bytes`,
// `links`. An error if nothing could be begun; what happens to a URL is none.
Status RunFetch(const Setup& setup, const FetchCmdOptions& options,
                std::istream& in, std::ostream& out);

}  // namespace nephila::cli
