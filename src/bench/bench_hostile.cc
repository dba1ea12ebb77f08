#include "bench/bench_hostile.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "bench/crawler_process.h"
#include "sim/adversaries.h"
#include "sim/page_watch.h"
#include "sim/politeness_check.h"
#include "sim/simulation.h"

namespace nephila::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
// The threads that log contacts are woken late on a busy machine.
constexpr std::chrono::milliseconds kTolerance{50};
constexpr const char* kMix = "mix";
// The wait that no crawl of this length outlives.
constexpr std::chrono::seconds kCrawlDelay{290};

// One crawl.
struct HostileRun {
  std::string adversary;
  int factor = 0;
  uint64_t hostile_hosts = 0;
  uint64_t pages = 0;
  uint64_t expected = 0;
  std::optional<double> seconds;  // until the last good page; none: a miss
  std::optional<double> ratio;    // to the crawl without adversaries
  uint64_t peak_bytes = 0;
  uint64_t early = 0;  // contacts before their time
  std::string ended;   // what a crawl said that ended too soon

  bool Keeps() const {
    return ratio.has_value() && *ratio <= kHostileRatio && early == 0;
  }
};

// What the rules of the scenario ask visitors for.
sim::AskedFor AskedForBy(const sim::Scenario& scenario, std::string_view host,
                         std::string_view path, int status) {
  sim::AskedFor asked;
  const sim::Rule* rule = scenario.Find(sim::Layer::kHttp, host, path);
  if (rule == nullptr) return asked;
  if (rule->behaviour == sim::Behaviour::kRetryAfter && status == 429) {
    // The crawler believes no server for longer than a day.
    asked.retry_after =
        std::min<std::chrono::nanoseconds>(rule->delay, std::chrono::hours(24));
  }
  // Hosts that only robots.txt of other sites leads to are not among them: what
  // they say is for those sites.
  if (rule->behaviour == sim::Behaviour::kRobots && status == 200 &&
      host.starts_with("delay")) {
    asked.crawl_delay = kCrawlDelay;
  }
  return asked;
}

class HostileBench {
 public:
  HostileBench(const BenchHostileOptions& options, std::string nephila,
               std::string folder)
      : options_(options),
        nephila_(std::move(nephila)),
        folder_(std::move(folder)),
        fs_(MakeRealFileSystem()) {}

  Result<HostileRun> Crawl(const std::string& name,
                           std::vector<const sim::Adversary*> adversaries,
                           int factor) {
    HostileRun run;
    run.adversary = name;
    run.factor = factor;
    run.hostile_hosts = static_cast<uint64_t>(factor) * TableOf(adversaries);
    run.expected = options_.good_hosts * options_.pages;
    sim::HostileWebOptions web_options;
    web_options.good_hosts = options_.good_hosts;
    web_options.pages = options_.pages;
    web_options.hostile_hosts = run.hostile_hosts;
    web_options.adversaries = std::move(adversaries);
    web_options.seed = options_.seed;
    NEPHILA_TRY(auto scenario,
                sim::ParseScenario(sim::HostileRules(web_options), name));
    sim::SimulationOptions serving;
    serving.log = folder_ + "/requests.log";
    NEPHILA_TRY(const auto web, sim::Simulation::Start(std::move(scenario),
                                                       serving, *fs_, clock_));
    NEPHILA_RETURN_IF_ERROR(WriteSeeds(web_options, web->port()));
    NEPHILA_RETURN_IF_ERROR(Watch(*web, serving.log, &run));
    NEPHILA_RETURN_IF_ERROR(web->Stop());
    NEPHILA_TRY(run.early, EarlyContacts(web->site().scenario(), serving.log));
    std::error_code ignored;
    std::filesystem::remove_all(folder_ + "/job", ignored);
    return run;
  }

 private:
  // The size of the table that the adversaries aim at; of a mix, the largest.
  uint64_t TableOf(const std::vector<const sim::Adversary*>& adversaries) {
    uint64_t size = 0;
    for (const sim::Adversary* one : adversaries) {
      switch (one->aims_at) {
        case sim::Resource::kHosts:
          size = std::max(size, options_.max_hosts);
          break;
        case sim::Resource::kTransfers:
          size = std::max(size, options_.max_transfers);
          break;
        case sim::Resource::kNames:
          size = std::max(size, options_.max_names);
          break;
      }
    }
    return size;
  }

  Status WriteSeeds(const sim::HostileWebOptions& web, uint16_t port) const {
    const std::string path = folder_ + "/seeds";
    std::ofstream file(path);
    for (const std::string& seed : sim::HostileSeeds(web, port)) {
      file << seed << '\n';
    }
    file.close();
    if (!file) return Unexpected(Error{ErrorCode::kIo, path + ": not written"});
    return {};
  }

  std::vector<std::string> Command(const sim::Simulation& web) const {
    const std::string delay = FormatDuration(options_.host_delay);
    std::vector<std::string> settings = {
        "politeness.host_delay=" + delay,
        "politeness.host_delay_floor=" + delay,
        "politeness.server_delay=0s",
        "politeness.server_delay_floor=0s",
        fmt::format("politeness.max_hosts={}", options_.max_hosts),
        fmt::format("politeness.max_urls={}", 4 * options_.max_hosts),
        fmt::format("crawl.max_transfers={}", options_.max_transfers),
        fmt::format("dns.max_in_flight={}", options_.max_names),
        "crawl.report=false",
    };
    settings.insert(settings.end(), options_.settings.begin(),
                    options_.settings.end());
    std::vector<std::string> command =
        CrawlCommand(nephila_, folder_, web, settings);
    command.insert(command.end(), {"--memory", options_.memory, "--seeds",
                                   folder_ + "/seeds"});
    return command;
  }

  // Until all good pages have come, the crawl ends, or time is up.
  Status Watch(sim::Simulation& web, const std::string& log, HostileRun* run) {
    sim::PageWatch watch(log, sim::IsGoodHost);
    const auto begin = SteadyClock::now();
    NEPHILA_TRY(const auto crawler,
                CrawlerProcess::Start(Command(web), folder_ + "/output"));
    while (true) {
      const auto now = SteadyClock::now();
      NEPHILA_RETURN_IF_ERROR(web.FlushLog());
      watch.Read();
      run->pages = watch.pages().size();
      run->peak_bytes =
          std::max(run->peak_bytes, crawler->Use().peak_rss_bytes);
      if (run->pages >= run->expected) {
        run->seconds = Seconds(now - begin);
        break;
      }
      if (now - begin > options_.limit) break;
      if (crawler->EndsBefore(now + kPoll)) {
        run->ended = crawler->EndedEarly().message;
        break;
      }
    }
    crawler->Kill();
    return {};
  }

  Result<uint64_t> EarlyContacts(const sim::Scenario& scenario,
                                 const std::string& log) {
    sim::PolitenessRules rules;
    rules.host_delay = options_.host_delay;
    rules.tolerance = kTolerance;
    rules.asked_for = [&scenario](std::string_view host, std::string_view path,
                                  int status) {
      return AskedForBy(scenario, host, path, status);
    };
    NEPHILA_TRY(const auto report, sim::CheckPoliteness(*fs_, log, rules));
    return report.violations;
  }

  const BenchHostileOptions& options_;
  const std::string nephila_;
  const std::string folder_;
  const std::unique_ptr<FileSystem> fs_;
  const RealClock clock_;
};

void Print(const HostileRun& run, bool json, std::ostream& out) {
  if (json) {
    nlohmann::ordered_json line;
    line["bench"] = "hostile";
    line["adversary"] = run.adversary;
    line["factor"] = run.factor;
    line["hostile_hosts"] = run.hostile_hosts;
    line["pages"] = run.pages;
    line["expected"] = run.expected;
    line["seconds"] = nullptr;
    if (run.seconds) line["seconds"] = *run.seconds;
    line["ratio"] = nullptr;
    if (run.ratio) line["ratio"] = *run.ratio;
    line["rss_bytes"] = run.peak_bytes;
    line["early_contacts"] = run.early;
    line["holds"] = run.Keeps();
    if (!run.ended.empty()) line["ended"] = run.ended;
    out << line.dump() << '\n';
  } else {
    const std::string time =
        run.seconds ? fmt::format("{:6.1f} s, {:4.1f} times", *run.seconds,
                                  run.ratio.value_or(0))
                    : std::string("  never within the limit");
    out << fmt::format(
        "{:<14} {:>6} hostile hosts: {:>4} of {} good pages, {:<20}; {:4.0f} "
        "MB peak, {} early: {}\n",
        run.adversary, run.hostile_hosts, run.pages, run.expected, time,
        static_cast<double>(run.peak_bytes) / 1e6, run.early,
        run.Keeps() ? "holds" : "MISS");
    if (!run.ended.empty()) out << "  " << run.ended << '\n';
  }
  out.flush();
}

Result<std::vector<const sim::Adversary*>> KindsOf(const std::string& name) {
  std::vector<const sim::Adversary*> kinds;
  if (name == kMix) {
    for (const sim::Adversary& one : sim::Adversaries()) kinds.push_back(&one);
    return kinds;
  }
  const sim::Adversary* one = sim::FindAdversary(name);
  if (one == nullptr) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              EscapeForTerminal(name) + ": no such adversary (docs/sim.md)"});
  }
  kinds.push_back(one);
  return kinds;
}

}  // namespace

Status RunBenchHostile(const BenchHostileOptions& options, std::ostream& out) {
  std::vector<std::string> names = options.adversaries;
  if (names.empty()) {
    for (const sim::Adversary& one : sim::Adversaries()) {
      names.emplace_back(one.name);
    }
    names.emplace_back(kMix);
  }
  for (const std::string& name : names) {
    NEPHILA_RETURN_IF_ERROR(KindsOf(name));
  }
  NEPHILA_TRY(const std::string nephila, NephilaBeside());
  NEPHILA_TRY(const auto folder, MakeWorkFolder(options.directory));
  HostileBench bench(options, nephila, folder->path());
  NEPHILA_TRY(HostileRun alone, bench.Crawl("none", {}, 0));
  if (!alone.seconds) {
    return Unexpected(
        Error{ErrorCode::kIo,
              fmt::format("without adversaries {} of {} pages came; {}",
                          alone.pages, alone.expected, alone.ended)});
  }
  alone.ratio = 1;
  Print(alone, options.json, out);
  uint64_t misses = 0;
  for (const std::string& name : names) {
    NEPHILA_TRY(const auto kinds, KindsOf(name));
    for (const int factor : options.factors) {
      NEPHILA_TRY(HostileRun run, bench.Crawl(name, kinds, factor));
      if (run.seconds) run.ratio = *run.seconds / *alone.seconds;
      Print(run, options.json, out);
      misses += run.Keeps() ? 0 : 1;
    }
  }
  if (!options.json) {
    out << fmt::format(
        "{} of {} runs missed the promise: all pages in {} "
        "times the time, nobody early\n",
        misses, names.size() * options.factors.size(), kHostileRatio);
  }
  return {};
}

}  // namespace nephila::bench
