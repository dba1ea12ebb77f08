// `nephila crawl`: crawls, or goes on with a job. `nephila status`: the numbers
// of a job.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/setup.h"
#include "config/profile.h"

namespace nephila::cli {

struct CrawlCmdOptions {
  std::vector<std::string> seeds;       // URLs
  std::vector<std::string> seed_files;  // a URL a line; - is the input
  std::vector<std::string> sitemaps;    // URLs of sitemaps
  std::string job;                      // the folder
  std::string profile;                  // "": the job's, or `site`
  bool quiet = false;                   // no progress
};

// What a job that is there has fixed lies under the user's settings.
Status PrepareCrawl(const CrawlCmdOptions& options, SetupOptions* setup);
Status RunCrawl(const Setup& setup, const CrawlCmdOptions& options,
                std::istream& in, std::ostream& out, std::ostream& err);

struct StatusCmdOptions {
  std::string job;
  bool json = false;
};

Status RunStatus(FileSystem& fs, const StatusCmdOptions& options,
                 std::ostream& out);

}  // namespace nephila::cli
