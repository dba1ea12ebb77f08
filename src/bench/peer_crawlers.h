// The crawlers of `bench crawl`: how each is called for the same work, a site
// from its first page with one request in flight, robots.txt obeyed, nothing
// waited for between requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct CrawlTask {
  std::string url;
  std::string folder;                 // to work in; empty
  std::string nephila;                // our program
  std::string certificate;            // PEM of the server's, with https
  std::vector<std::string> settings;  // of ours, besides
};

struct PeerCrawler {
  std::string_view name;
  std::string_view keeps;  // what is left on disk of a page
  // Writes what the crawler needs into the folder, and returns the command.
  std::vector<std::string> (*command)(const CrawlTask& task);
};

const std::vector<PeerCrawler>& PeerCrawlers();

}  // namespace nephila::bench
