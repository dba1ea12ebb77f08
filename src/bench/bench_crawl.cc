#include "bench/bench_crawl.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "bench/child_process.h"
#include "bench/crawler_process.h"
#include "bench/nginx_site.h"
#include "bench/peer_crawlers.h"

namespace nephila::bench {
namespace {

struct Row {
  std::string_view crawler;
  std::string_view keeps;
  uint64_t pages = 0;
  uint64_t requests = 0;
  ChildUse use;

  double PerSecond() const { return static_cast<double>(pages) / use.seconds; }
  double PerCpuSecond() const {
    return static_cast<double>(pages) / use.cpu_seconds;
  }
};

Result<std::string> SubFolder(const std::string& folder,
                              const std::string& name) {
  std::error_code error;
  std::filesystem::create_directory(folder + "/" + name, error);
  if (error) {
    return Unexpected(Error{ErrorCode::kIo, folder + ": " + error.message()});
  }
  return folder + "/" + name;
}

void Print(const Row& row, const Row* wget, bool json, std::ostream& out) {
  if (json) {
    nlohmann::ordered_json line;
    line["crawler"] = row.crawler;
    line["work"] = "site";
    line["pages"] = row.pages;
    line["requests"] = row.requests;
    line["seconds"] = row.use.seconds;
    line["pages_per_s"] = row.PerSecond();
    line["pages_per_cpu_s"] = row.PerCpuSecond();
    line["cpu_us_per_page"] = 1e6 / row.PerCpuSecond();
    line["rss_bytes"] = row.use.rss_bytes;
    line["keeps"] = row.keeps;
    line["timed_out"] = row.use.timed_out;
    out << line.dump() << '\n';
  } else {
    out << fmt::format(
        "{:10} {:6} pages {:8.2f} s {:8.0f}/s {:8.0f} a CPU-second {:6.0f} MB",
        row.crawler, row.pages, row.use.seconds, row.PerSecond(),
        row.PerCpuSecond(), static_cast<double>(row.use.rss_bytes) / 1e6);
    if (wget != nullptr && wget != &row) {
      out << fmt::format("  {:5.2f} and {:5.2f} times wget",
                         row.PerSecond() / wget->PerSecond(),
                         row.PerCpuSecond() / wget->PerCpuSecond());
    }
    out << "  keeps " << row.keeps << (row.use.timed_out ? "; cut off" : "")
        << '\n';
  }
  out.flush();
}

// Nothing where it is not installed.
Result<std::optional<Row>> RunOne(const PeerCrawler& crawler,
                                  const CrawlTask& task, NginxSite* site,
                                  const BenchCrawlOptions& options) {
  NEPHILA_RETURN_IF_ERROR(site->TakeAsked());
  auto use = RunChild(crawler.command(task), task.folder, options.limit);
  if (!use.has_value()) {
    if (use.error().code != ErrorCode::kNotFound) {
      return Unexpected(use.error());
    }
    return std::optional<Row>();
  }
  NEPHILA_TRY(const NginxSite::Asked asked, site->TakeAsked());
  Row row;
  row.crawler = crawler.name;
  row.keeps = crawler.keeps;
  row.pages = asked.pages;
  row.requests = asked.requests;
  row.use = std::move(*use);
  if (row.pages == 0) {
    return Unexpected(Error{ErrorCode::kIo, std::string(crawler.name) + ": " +
                                                row.use.last_of_output});
  }
  return std::optional<Row>(std::move(row));
}

Status RunSite(const BenchCrawlOptions& options, const std::string& nephila,
               const std::string& folder, std::ostream& out) {
  NginxSiteOptions of_site;
  of_site.pages = options.pages;
  of_site.https = options.https;
  NEPHILA_TRY(const std::string site_folder, SubFolder(folder, "site"));
  NEPHILA_TRY(const auto site, NginxSite::Start(site_folder, of_site));
  std::optional<Row> wget;
  std::vector<Row> rows;
  for (const PeerCrawler& crawler : PeerCrawlers()) {
    if (!options.crawlers.empty() &&
        std::find(options.crawlers.begin(), options.crawlers.end(),
                  crawler.name) == options.crawlers.end()) {
      continue;
    }
    std::optional<Row> best;
    for (int round = 0; round < options.rounds; ++round) {
      CrawlTask task;
      task.url = site->url();
      task.nephila = nephila;
      task.settings = options.settings;
      if (options.https) task.certificate = site->certificate();
      NEPHILA_TRY(task.folder,
                  SubFolder(folder, fmt::format("{}-{}", crawler.name, round)));
      NEPHILA_TRY(std::optional<Row> row,
                  RunOne(crawler, task, site.get(), options));
      std::error_code ignored;
      std::filesystem::remove_all(task.folder, ignored);
      if (!row) break;
      if (!best || row->use.seconds < best->use.seconds) best = std::move(row);
    }
    if (!best) {
      if (!options.json) {
        out << crawler.name << " is not installed: ./nephila packages peers\n";
      }
      continue;
    }
    if (crawler.name == "wget") wget = best;
    rows.push_back(std::move(*best));
  }
  for (const Row& row : rows) {
    Print(row, wget ? &*wget : nullptr, options.json, out);
  }
  return {};
}

}  // namespace

Status RunBenchCrawl(const BenchCrawlOptions& options, std::ostream& out) {
  NEPHILA_TRY(const std::string nephila, NephilaBeside());
  NEPHILA_TRY(const auto folder, MakeWorkFolder(options.directory));
  if (!options.broad) return RunSite(options, nephila, folder->path(), out);
  BroadCrawlOptions broad = options.broad_options;
  broad.settings = options.settings;
  return RunBroadCrawl(broad, nephila, folder->path(), options.json, out);
}

}  // namespace nephila::bench
