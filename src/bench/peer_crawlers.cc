#include "bench/peer_crawlers.h"

#include <fstream>

namespace nephila::bench {
namespace {

using Words = std::vector<std::string>;

Words Nephila(const CrawlTask& task) {
  Words words = {task.nephila, "crawl", "--job", task.folder + "/job",
                 "--quiet"};
  for (const char* const setting :
       {"agent.contact=https://example.org/bench", "guard.allow=127.0.0.0/8",
        "politeness.host_delay=0s", "politeness.host_delay_floor=0s",
        "politeness.server_delay=0s", "politeness.server_delay_floor=0s",
        "politeness.domain_delay=0s", "disk.floor=0"}) {
    words.insert(words.end(), {"--set", setting});
  }
  if (!task.certificate.empty()) {
    words.insert(words.end(), {"--set", "fetch.ca_file=" + task.certificate});
  }
  for (const std::string& setting : task.settings) {
    words.insert(words.end(), {"--set", setting});
  }
  words.push_back(task.url);
  return words;
}

Words WgetWith(const CrawlTask& task, const Words& more) {
  Words words = {"wget", "--recursive", "--level=inf", "--no-verbose",
                 "--output-file=log"};
  words.insert(words.end(), more.begin(), more.end());
  if (!task.certificate.empty()) {
    words.push_back("--ca-certificate=" + task.certificate);
  }
  words.push_back(task.url);
  return words;
}

Words Wget(const CrawlTask& task) { return WgetWith(task, {}); }

Words WgetWarc(const CrawlTask& task) {
  return WgetWith(task, {"--warc-file=site", "--delete-after"});
}

Words Wget2(const CrawlTask& task) {
  Words words = {"wget2",        "--recursive",     "--level=0",
                 "--no-verbose", "--max-threads=1", "--output-file=log"};
  if (!task.certificate.empty()) {
    words.push_back("--ca-certificate=" + task.certificate);
  }
  words.push_back(task.url);
  return words;
}

Words Httrack(const CrawlTask& task) {
  return {"httrack",
          task.url,
          "--path",
          task.folder + "/site",
          "--quiet",
          "--sockets=1",
          "--disable-security-limits",
          "--connection-per-second=0",
          "--max-rate=0",
          "--robots=2",
          "--depth=10000"};
}

constexpr std::string_view kSpider = R"(import scrapy
from scrapy.linkextractors import LinkExtractor


class Site(scrapy.Spider):
    name = "site"
    links = LinkExtractor()
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }

    def parse(self, response):
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
)";

Words Scrapy(const CrawlTask& task) {
  const std::string path = task.folder + "/site_spider.py";
  std::ofstream(path) << kSpider
                      << "\n    def start_requests(self):\n"
                         "        yield scrapy.Request(\""
                      << task.url << "\")\n";
  return {"/usr/bin/python3", "-m", "scrapy", "runspider", path};
}

}  // namespace

const std::vector<PeerCrawler>& PeerCrawlers() {
  static const auto* const all = new std::vector<PeerCrawler>{
      {"nephila", "WARC with digests, CDXJ, crawl.log, journal", Nephila},
      {"wget", "a file", Wget},
      {"wget-warc", "WARC", WgetWarc},
      {"wget2", "a file", Wget2},
      {"httrack", "a file, links rewritten", Httrack},
      {"scrapy", "nothing", Scrapy},
  };
  return *all;
}

}  // namespace nephila::bench
