#include "bench/bench_recovery.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "bench/crawler_process.h"
#include "bench/process.h"
#include "cli/status_cmd.h"
#include "sim/simulation.h"

namespace nephila::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kPagesOfAHost = 50;
// The first process takes the seeds before it asks for anything.
constexpr std::chrono::hours kMostForSeeds{6};
constexpr std::chrono::milliseconds kPoll{2};

// What was seen of one process.
struct Life {
  int number = 0;
  double first_request_s = 0;
  double run_s = 0;  // from then on
  uint64_t requests = 0;
  uint64_t rss_bytes = 0;
  uint64_t job_bytes = 0;
  uint64_t seen = 0;     // URLs, at its end
  uint64_t waiting = 0;  // of those
};

Status WriteSeeds(const sim::Web& web, uint64_t count,
                  const std::string& path) {
  std::ofstream file(path);
  std::string url;
  uint64_t written = 0;
  for (uint64_t pld = 0; pld < web.pld_count() && written < count; ++pld) {
    const uint64_t hosts = web.HostsOf(pld);
    for (uint64_t host = 0; host < hosts && written < count; ++host) {
      const uint64_t pages = std::min(web.PagesOf({pld, host}), kPagesOfAHost);
      for (uint64_t page = 0; page < pages && written < count; ++page) {
        url.clear();
        web.AppendUrl({{pld, host}, page}, &url);
        file << url << '\n';
        ++written;
      }
    }
  }
  file.close();
  if (!file) return Unexpected(Error{ErrorCode::kIo, path + ": not written"});
  if (written < count) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            fmt::format("this web has but {} pages", written)});
  }
  return {};
}

class KilledCrawl {
 public:
  KilledCrawl(const BenchRecoveryOptions& options, std::string nephila,
              const std::string& folder, FileSystem& fs,
              const sim::Simulation& web)
      : options_(options),
        nephila_(std::move(nephila)),
        folder_(folder),
        fs_(fs),
        web_(web) {}

  // One process from its start to its end by SIGKILL.
  Result<Life> Live(int number) {
    std::vector<std::string> command =
        CrawlCommand(nephila_, folder_, web_, options_.settings);
    command.insert(command.end(),
                   {"--memory", options_.memory, "--disk", options_.disk});
    if (number == 0) {
      command.insert(command.end(), {"--seeds", folder_ + "/seeds"});
    }
    const uint64_t before = web_.counts().requests;
    const auto begin = SteadyClock::now();
    NEPHILA_TRY(const auto crawler,
                CrawlerProcess::Start(command, folder_ + "/output"));
    const auto limit =
        number == 0 ? SteadyClock::duration(kMostForSeeds) : options_.limit;
    while (web_.counts().requests == before) {
      const auto now = SteadyClock::now();
      if (crawler->EndsBefore(now + kPoll)) {
        return Unexpected(crawler->EndedEarly());
      }
      if (now - begin > limit) {
        return Unexpected(Error{ErrorCode::kIo, "it asked for nothing"});
      }
    }
    const auto first = SteadyClock::now();
    if (crawler->EndsBefore(first + options_.run)) {
      return Unexpected(crawler->EndedEarly());
    }
    Life life;
    life.number = number;
    life.first_request_s = Seconds(first - begin);
    NEPHILA_RETURN_IF_ERROR(AskStatus(&life));
    life.rss_bytes = crawler->Use().rss_bytes;
    life.run_s = Seconds(SteadyClock::now() - first);
    life.requests = web_.counts().requests - before;
    crawler->Kill();
    life.job_bytes = FolderBytes(folder_ + "/job");
    sync();
    ForgetFiles(folder_ + "/job");
    return life;
  }

 private:
  Status AskStatus(Life* life) {
    std::ostringstream text;
    NEPHILA_RETURN_IF_ERROR(
        cli::RunStatus(fs_, {folder_ + "/job", /*json=*/true}, text));
    const auto status = nlohmann::json::parse(text.str(), nullptr, false);
    if (!status.is_object()) {
      return Unexpected(Error{ErrorCode::kIo, "no status: " + text.str()});
    }
    life->seen = status.value("seen", uint64_t{0});
    life->waiting = status.value("waiting", uint64_t{0});
    return {};
  }

  const BenchRecoveryOptions& options_;
  const std::string nephila_;
  const std::string& folder_;
  FileSystem& fs_;
  const sim::Simulation& web_;
};

void Print(const Life& life, bool json, std::ostream& out) {
  const double rate = static_cast<double>(life.requests) / life.run_s;
  if (json) {
    nlohmann::ordered_json line;
    line["bench"] = life.number == 0 ? "recovery-begin" : "recovery";
    line["kills_before"] = life.number;
    line["first_request_s"] = life.first_request_s;
    line["requests"] = life.requests;
    line["requests_per_s"] = rate;
    line["seen"] = life.seen;
    line["waiting"] = life.waiting;
    line["rss_bytes"] = life.rss_bytes;
    line["job_bytes"] = life.job_bytes;
    out << line.dump() << '\n';
  } else {
    out << fmt::format(
        "{}: first request after {:.2f} s, then {} in {:.0f} s ({:.0f}/s); "
        "{:.2f} M URLs known, {:.2f} M wait; {:.0f} MB resident, {:.2f} GB of "
        "files; killed\n",
        life.number == 0 ? std::string("with all seeds")
                         : fmt::format("after kill {}", life.number),
        life.first_request_s, life.requests, life.run_s, rate,
        static_cast<double>(life.seen) / 1e6,
        static_cast<double>(life.waiting) / 1e6,
        static_cast<double>(life.rss_bytes) / 1e6,
        static_cast<double>(life.job_bytes) / 1e9);
  }
  out.flush();
}

}  // namespace

Status RunBenchRecovery(const BenchRecoveryOptions& options,
                        std::ostream& out) {
  NEPHILA_TRY(const std::string nephila, NephilaBeside());
  NEPHILA_TRY(const auto folder, MakeWorkFolder(options.directory));
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  sim::Scenario scenario;
  // Most hosts have less than kPagesOfAHost.
  scenario.shape.hosts = static_cast<int64_t>(
      std::max<uint64_t>(options.known / (kPagesOfAHost / 5), 100));
  scenario.shape.addresses = options.addresses;
  NEPHILA_TRY(const auto web,
              sim::Simulation::Start(std::move(scenario), {}, *fs, clock));
  const std::string seeds = folder->path() + "/seeds";
  NEPHILA_RETURN_IF_ERROR(WriteSeeds(web->site().web(), options.known, seeds));
  KilledCrawl crawl(options, nephila, folder->path(), *fs, *web);
  for (int number = 0; number <= options.kills; ++number) {
    NEPHILA_TRY(const Life life, crawl.Live(number));
    Print(life, options.json, out);
    std::error_code ignored;
    if (number == 0) std::filesystem::remove(seeds, ignored);
  }
  return web->Stop();
}

}  // namespace nephila::bench
