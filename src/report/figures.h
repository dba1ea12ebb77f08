// Figures: all that a report says of a job, as numbers and names; the reports
// (text_report.h, html_report.h, json_report.h) only write them down.
//   Threads: a value.   Memory: flat, whatever the size of the crawl: lists
//   are cut to their first so many, points of time to those of the history.
//
// Texts are as the web or the disk had them: who writes them escapes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "crawl/crawl_status.h"

namespace nephila::report {

struct NamedCount {
  std::string name;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

// Of the history.
struct TimePoint {
  uint64_t run = 0;
  WallTime when{};
  double elapsed_s = 0;  // of crawling: stops do not count
  uint64_t pages = 0;
  uint64_t bytes = 0;
  uint64_t links = 0;   // of which `seen` has said whether they are new
  uint64_t unique = 0;  // of them, those that were
  uint64_t in_flight = 0;
  uint64_t waiting = 0;
  uint64_t memory_bytes = 0;
};

struct DomainRow {
  uint64_t key = 0;
  std::string name;  // "": no page of it was asked for, so nobody knows it
  uint64_t in_degree = 0;
  uint64_t budget = 0;  // 0 without budgets
  uint64_t pages = 0;
  uint64_t bytes = 0;
};

struct HostRow {
  uint64_t key = 0;
  std::string name;
  uint64_t pages = 0;
  uint64_t bytes = 0;
  uint64_t failures = 0;  // attempts without a response
  double mean_s = 0;      // of a page's fetch
};

// Domains whose in-degree is in [from, to] (IRLbot fig. 6b).
struct DegreeBin {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t domains = 0;
  uint64_t visited = 0;  // of them, with a page
  uint64_t pages = 0;
  double median_pages = 0;  // of those visited

  double Mean() const;         // pages a domain
  double VisitedMean() const;  // pages a domain with any
};

// What ended at a bound (VN table VI).
struct LimitRow {
  std::string what;
  std::string setting;  // its name, "" if it has none
  std::string limit;    // its value
  uint64_t count = 0;
  uint64_t of = 0;   // out of so many
  std::string unit;  // "URLs", "pages", "links", "attempts"
};

struct Figures {
  std::string dir;
  std::string made;     // 2026-01-02T03:04:05.678Z
  std::string version;  // of the nephila that made the job
  std::string profile;
  bool has_budgets = false;
  // Name and value, of those that matter or differ from the profile's.
  std::vector<std::pair<std::string, std::string>> settings;

  // As of the last checkpoint; nothing before the first.
  std::optional<crawl::CrawlStatus> status;

  std::vector<TimePoint> history;
  uint64_t runs = 0;
  std::optional<WallTime> began;  // of the first record, and of the last
  std::optional<WallTime> last;
  double elapsed_s = 0;  // of crawling

  // Of crawl.log: pages are responses, robots.txt apart.
  std::vector<NamedCount> seeds;  // the first of them; count: their status
  uint64_t seed_count = 0;
  uint64_t log_lines = 0;
  uint64_t pages = 0;
  uint64_t page_bytes = 0;
  uint64_t attempts = 0;  // pages and failures
  uint64_t names_resolved = 0;
  uint64_t revisits = 0;
  uint64_t hosts = 0;  // with a page
  uint64_t domains = 0;
  double median_s = 0;  // of a fetch
  double p95_s = 0;
  uint64_t median_bytes = 0;            // of a page
  std::vector<NamedCount> statuses;     // "200", by count
  std::vector<NamedCount> failures;     // by outcome
  std::vector<NamedCount> robots;       // "200", "timeout", by count
  std::vector<NamedCount> media_types;  // of pages with status 200
  uint64_t media_type_count = 0;        // different ones
  std::vector<NamedCount> depths;       // hops from a seed; bytes unused

  std::vector<HostRow> largest_hosts;
  std::vector<HostRow> slowest_hosts;
  std::vector<DomainRow> top_by_degree;
  std::vector<DomainRow> top_by_pages;
  std::vector<DegreeBin> degrees;
  uint64_t known_domains = 0;  // linked to from another, or asked for

  std::vector<LimitRow> limits;
  // Files of the job that hold something for people; relative to it.
  std::vector<std::pair<std::string, std::string>> files;

  // What is not as it should be, or not known: a line each.
  std::vector<std::string> notes;
  // What of it is damage.
  std::vector<std::string> damages;

  double PagesPerSecond() const;
  uint64_t LinksFound() const;  // by `parse`
};

}  // namespace nephila::report
