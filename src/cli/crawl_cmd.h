// `nephila crawl`: crawls, or goes on with a job.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"
#include "config/profile.h"
#include "crawl/visit.h"

namespace nephila::cli {

struct CrawlCmdOptions {
  std::vector<std::string> seeds;       // URLs
  std::vector<std::string> seed_files;  // a URL a line; - is the input
  std::vector<std::string> sitemaps;    // URLs of sitemaps
  std::string job;                      // the folder
  std::string profile;                  // "": the job's, or `site`
  bool quiet = false;                   // no progress
  bool sandbox = false;                 // confine this process: crawl_sandbox.h
  bool dry_run = false;                 // no crawl: cli/dry_run.h
  std::vector<std::string> tries;       // with it: files of URLs to judge
  // Of the limit of open files; 0 is all of it.
  size_t max_descriptors = 0;
  // An attempt that is over, on the frontier's thread; may be null.
  std::function<void(const crawl::FinishedVisit& visit)> on_finished = nullptr;
  // A line for the user that is said when the crawl starts.
  std::optional<std::string> warning = std::nullopt;
  // For tests: before a page is read, on the thread that reads it.
  std::function<void(std::string_view url)> on_read = nullptr;
};

// What a job that is there has fixed lies under the user's settings.
Status PrepareCrawl(const CrawlCmdOptions& options, SetupOptions* setup);
Status RunCrawl(const Setup& setup, const CrawlCmdOptions& options,
                std::istream& in, std::ostream& out, std::ostream& err);

// With a word on what to do, where a file of the job is damaged.
Status WithAdvice(Status status, const std::string& job);

}  // namespace nephila::cli
