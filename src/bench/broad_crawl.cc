#include "bench/broad_crawl.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "bench/crawler_process.h"
#include "sim/simulation.h"

namespace nephila::bench {
namespace {

constexpr int kLines = 10;
constexpr const char* kSeedFile = "/seeds";

// What the crawler has used and fetched up to a moment.
struct Sample {
  double seconds = 0;
  uint64_t pages = 0;
  uint64_t robots = 0;
  ProcessUse use;
};

Sample Look(const CrawlerProcess& crawler, const sim::Simulation& web,
            double seconds) {
  Sample sample;
  sample.seconds = seconds;
  const sim::HttpCounts counts = web.counts();
  sample.robots = counts.robots;
  sample.pages = counts.requests - counts.robots;
  sample.use = crawler.Use();
  return sample;
}

std::vector<std::string> Command(const BroadCrawlOptions& options,
                                 const std::string& nephila,
                                 const std::string& folder,
                                 const sim::Simulation& web) {
  std::vector<std::string> words =
      CrawlCommand(nephila, folder, web, options.settings);
  words.insert(words.end(),
               {"--seeds", folder + kSeedFile, "--memory", options.memory,
                "--max-time", fmt::format("{}s", options.time.count())});
  return words;
}

Status WriteSeeds(const sim::Web& web, uint64_t count,
                  const std::string& path) {
  std::ofstream file(path);
  std::string url;
  for (uint64_t pld = 0; pld < std::min(count, web.pld_count()); ++pld) {
    url.clear();
    web.AppendUrl({{pld, 0}, 0}, &url);
    file << url << '\n';
  }
  file.close();
  if (!file) return Unexpected(Error{ErrorCode::kIo, path + ": not written"});
  return {};
}

void Print(const Sample& from, const Sample& to, bool json, bool is_whole,
           std::ostream& out) {
  const double seconds = to.seconds - from.seconds;
  const double cpu = to.use.CpuSeconds() - from.use.CpuSeconds();
  const auto pages = static_cast<double>(to.pages - from.pages);
  if (json) {
    nlohmann::ordered_json line;
    line["crawler"] = "nephila";
    line["work"] = is_whole ? "broad" : "broad-part";
    line["seconds"] = seconds;
    line["pages"] = to.pages - from.pages;
    line["robots"] = to.robots - from.robots;
    line["pages_per_s"] = pages / seconds;
    line["pages_per_cpu_s"] = pages / cpu;
    line["cpu_us_per_page"] = cpu / pages * 1e6;
    line["rss_bytes"] = to.use.rss_bytes;
    for (const auto& [name, of] : to.use.cpu) {
      const auto before = from.use.cpu.find(name);
      line["cpu_share"][name] =
          (of - (before == from.use.cpu.end() ? 0 : before->second)) / cpu;
    }
    out << line.dump() << '\n';
    return;
  }
  out << fmt::format(
      "{}{:6.0f} to {:4.0f} s: {:8.0f} pages, {:6.0f} robots.txt; {:6.0f} "
      "pages/s, {:6.0f} a CPU-second ({:.0f} us); {:.0f} MB resident;",
      is_whole ? "second half " : "", from.seconds, to.seconds, pages,
      static_cast<double>(to.robots - from.robots), pages / seconds,
      pages / cpu, cpu / pages * 1e6,
      static_cast<double>(to.use.rss_bytes) / 1e6);
  for (const auto& [name, of] : to.use.cpu) {
    const auto before = from.use.cpu.find(name);
    out << fmt::format(
        " {} {:.0f}%", name,
        100 * (of - (before == from.use.cpu.end() ? 0 : before->second)) / cpu);
  }
  out << '\n';
  out.flush();
}

}  // namespace

Status RunBroadCrawl(const BroadCrawlOptions& options,
                     const std::string& nephila, const std::string& folder,
                     bool json, std::ostream& out) {
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  sim::Scenario scenario;
  scenario.shape.hosts = options.hosts;
  scenario.shape.addresses = options.addresses;
  NEPHILA_TRY(const auto web,
              sim::Simulation::Start(std::move(scenario), {}, *fs, clock));
  const std::vector<std::string> command =
      Command(options, nephila, folder, *web);
  NEPHILA_RETURN_IF_ERROR(
      WriteSeeds(web->site().web(), options.seeds, folder + kSeedFile));
  const std::string output = folder + "/output";
  const auto begin = std::chrono::steady_clock::now();
  NEPHILA_TRY(const auto crawler, CrawlerProcess::Start(command, output));
  std::vector<Sample> samples(1);
  const double part = static_cast<double>(options.time.count()) / kLines;
  for (int line = 1; line <= kLines; ++line) {
    // The last look is a little before the crawl ends by itself.
    const std::chrono::duration<double> at(part * line -
                                           (line < kLines ? 0 : 1));
    if (crawler->EndsBefore(
            begin +
            std::chrono::duration_cast<std::chrono::milliseconds>(at))) {
      return Unexpected(crawler->EndedEarly());
    }
    const std::chrono::duration<double> now =
        std::chrono::steady_clock::now() - begin;
    samples.push_back(Look(*crawler, *web, now.count()));
    Print(samples[samples.size() - 2], samples.back(), json, false, out);
  }
  NEPHILA_RETURN_IF_ERROR(crawler->Wait());
  Print(samples[kLines / 2], samples[kLines], json, true, out);
  if (!json) out << std::ifstream(output).rdbuf();
  return web->Stop();
}

}  // namespace nephila::bench
