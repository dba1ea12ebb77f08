#include "bench/bench_fetch.h"

#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/real_file_system.h"
#include "bench/fetch_memory.h"
#include "bench/fetch_target.h"
#include "bench/page_chain.h"
#include "bench/plain_curl.h"
#include "bench/process.h"
#include "bench/wrk.h"
#include "fetch/curl_fetcher.h"

namespace nephila::bench {
namespace {

constexpr uint64_t kHosts = 100'000;
constexpr size_t kMaxAuthorities = size_t{16} << 20;

struct Mode {
  std::string_view name;
  bool https;
  bool keep;
};
constexpr Mode kModes[] = {{"http-fresh", false, false},
                           {"http-kept", false, true},
                           {"https-fresh", true, false},
                           {"https-kept", true, true}};

// What the process has at a moment.
struct Holding {
  uint64_t resident_bytes = 0;
  uint64_t descriptors = 0;
};

Holding HoldingNow() { return {ResidentBytes(), OpenDescriptors()}; }

struct Measure {
  uint64_t pages = 0;
  uint64_t errors = 0;
  uint64_t bytes = 0;
  uint64_t links = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  uint64_t peak_bytes = 0;
  // With a tenth of the pages, and at the end.
  Holding early;
  Holding late;
  // CPU in a second of the slow transfers, with nothing beside them.
  double slow_cpu_per_s = 0;
};

// Keeps a number of transfers in flight, and gives what comes to a chain.
class Driver final : public fetch::FetchHandler {
 public:
  Driver(const std::vector<FetchTarget>& targets,
         const BenchFetchOptions& options, bool keep, PageChain* chain)
      : targets_(targets), options_(options), keep_(keep), chain_(chain) {}

  // Begins them, and waits until all have some of their body.
  void HoldSlow(fetch::CurlFetcher* fetcher, net::EventLoop* loop,
                const fetch::BodyShare& share,
                const std::vector<FetchTarget>& targets) {
    fetcher_ = fetcher;
    for (size_t i = 0; i < targets.size(); ++i) {
      Start(kSlowIds + i, targets[i], false);
    }
    const uint64_t wanted =
        targets.size() * uint64_t{fetch::BodyPool::kBlockBytes};
    while (share.held_bytes() < wanted && slow_ended_ == 0) RunOnce(loop);
    if (!targets.empty()) MeasureSlow(loop);
  }

  void Run(fetch::CurlFetcher* fetcher, net::EventLoop* loop) {
    fetcher_ = fetcher;
    for (size_t slot = 0; slot < options_.transfers; ++slot) Begin(slot);
    while (measure_.pages < options_.pages) RunOnce(loop);
  }

  void OnFetched(std::unique_ptr<fetch::FetchResult> result) override {
    if (result->id >= kSlowIds) {
      ++slow_ended_;
      return;
    }
    ++measure_.pages;
    if (measure_.pages == (options_.pages + 9) / 10) {
      measure_.early = HoldingNow();
    }
    measure_.bytes += result->body.size_bytes();
    if (result->outcome != item::FetchOutcome::kResponse ||
        result->status != 200 ||
        result->truncation != item::Truncation::kNone) {
      ++measure_.errors;
      if (failure_.empty()) failure_ = result->error;
    } else if (chain_ != nullptr && status_.has_value()) {
      status_ = chain_->Take(*result);
    }
    const uint64_t next = result->id + (keep_ ? 0 : options_.transfers);
    fetcher_->Recycle(std::move(result));
    Begin(next);
  }

  const Measure& measure() const { return measure_; }
  const std::string& failure() const { return failure_; }
  size_t slow_ended() const { return slow_ended_; }
  Status status() && { return std::move(status_); }

 private:
  static constexpr uint64_t kSlowIds = uint64_t{1} << 48;

  static void RunOnce(net::EventLoop* loop) {
    loop->RunOnce(loop->clock().Now() + std::chrono::seconds(1));
  }

  // Their CPU in a second, alone.
  void MeasureSlow(net::EventLoop* loop) {
    constexpr std::chrono::seconds kLength(3);
    const double cpu = CpuSeconds();
    const MonoTime end = loop->clock().Now() + kLength;
    while (loop->clock().Now() < end) loop->RunOnce(end);
    measure_.slow_cpu_per_s =
        (CpuSeconds() - cpu) / std::chrono::duration<double>(kLength).count();
  }

  void Begin(uint64_t id) {
    if (begun_ >= options_.pages) return;
    ++begun_;
    if (begun_ == options_.pages) measure_.late = HoldingNow();
    Start(id, targets_[id % targets_.size()], keep_);
  }

  void Start(uint64_t id, const FetchTarget& target, bool keep) {
    fetch::FetchRequest request;
    request.id = id;
    request.url = target.url;
    request.host = target.host;
    request.port = target.port;
    request.https = target.https;
    request.address = target.address;
    request.keep_connection = keep;
    fetcher_->Start(std::move(request), this);
  }

  const std::vector<FetchTarget>& targets_;
  const BenchFetchOptions& options_;
  const bool keep_;
  PageChain* const chain_;
  fetch::CurlFetcher* fetcher_ = nullptr;
  uint64_t begun_ = 0;
  size_t slow_ended_ = 0;
  Measure measure_;
  std::string failure_;
  Status status_;
};

// A stopwatch around a run.
class Watch {
 public:
  Watch() { ResetPeak(); }
  void Fill(Measure* measure) const {
    measure->seconds =
        std::chrono::duration<double>(clock_.Now() - begin_).count();
    measure->cpu_seconds = CpuSeconds() - cpu_;
    measure->peak_bytes = PeakResidentBytes();
  }

 private:
  RealClock clock_;
  MonoTime begin_ = clock_.Now();
  double cpu_ = CpuSeconds();
};

class Bench {
 public:
  Bench(const cli::Setup& setup, const BenchFetchOptions& options,
        std::ostream& out)
      : setup_(setup), options_(options), out_(out) {
    // Pages as the papers' cost is told: not compressed; and no revisits,
    // since nginx has one page for all.
    setup_.settings.fetch.accept_encoding = "";
    setup_.settings.store.revisit_memory_bytes = 0;
    setup_.settings.agent.contact = "https://example.org/bot";
  }

  Status Run() {
    // Before all else: it forks.
    NEPHILA_TRY(auto sim, SimProcess::Start(kHosts));
    const fetch::TestNginx nginx;
    if (!nginx.running()) {
      return Unexpected(Error{ErrorCode::kNotFound,
                              "nginx or openssl did not start; install "
                              "nginx-light and openssl"});
    }
    const size_t count = std::max<size_t>(options_.transfers, 4000);
    NEPHILA_TRY(const auto plain, sim->Targets(count));
    const auto secure = NginxTargets(nginx, count);
    NEPHILA_RETURN_IF_ERROR(MakeFolder());
    NEPHILA_RETURN_IF_ERROR(JoinAuthorities(nginx));
    if (options_.memory) return RunMemory(nginx);
    slow_ = SlowTargets(nginx, options_.slow);
    for (const Mode& mode : kModes) {
      if (!options_.mode.empty() && options_.mode != mode.name) continue;
      NEPHILA_RETURN_IF_ERROR(RunMode(mode, mode.https ? secure : plain));
    }
    return {};
  }

  Status RemoveFolder() {
    if (folder_.empty()) return {};
    return RemoveAll(*fs_, folder_);
  }

 private:
  Status RunMemory(const fetch::TestNginx& nginx) {
    for (const bool https : {false, true}) {
      NEPHILA_TRY(const HeldMemory held,
                  HoldTransfers(setup_, nginx, options_.transfers, https));
      const double each = static_cast<double>(held.engine_bytes) /
                          static_cast<double>(options_.transfers);
      if (options_.json) {
        nlohmann::ordered_json line;
        line["bench"] = "fetch";
        line["mode"] = https ? "https-memory" : "http-memory";
        line["transfers"] = options_.transfers;
        line["engine_bytes"] = held.engine_bytes;
        line["body_bytes"] = held.body_bytes;
        line["bytes_per_transfer"] = each;
        out_ << line.dump() << '\n';
      } else {
        out_ << fmt::format(
            "{:<6} {:>6} transfers take {:.0f} MB, {:.1f} KB each, besides "
            "{:.0f} MB of bodies\n",
            https ? "https" : "http", options_.transfers,
            static_cast<double>(held.engine_bytes) / 1e6, each / 1e3,
            static_cast<double>(held.body_bytes) / 1e6);
      }
      out_.flush();
    }
    return {};
  }

  Status MakeFolder() {
    std::string pattern =
        (options_.folder.empty() ? std::filesystem::temp_directory_path()
                                 : std::filesystem::path(options_.folder)) /
        "nephila-bench-fetch-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      return Unexpected(Error::FromErrno(pattern, errno));
    }
    folder_ = pattern;
    return {};
  }

  // The system's authorities, whose number is what reading them costs, and the
  // server's.
  Status JoinAuthorities(const fetch::TestNginx& nginx) {
    const std::string path = folder_ + "/authorities.pem";
    std::ofstream joined(path, std::ios::binary);
    for (const std::string& file :
         {setup_.settings.fetch.ca_file, nginx.ca_file()}) {
      NEPHILA_TRY(const std::string text,
                  ReadWholeFile(*fs_, file, kMaxAuthorities));
      joined << text;
    }
    joined.close();
    if (!joined) return Unexpected(Error::FromErrno(path, errno));
    setup_.settings.fetch.ca_file = path;
    return {};
  }

  Status RunMode(const Mode& mode, const std::vector<FetchTarget>& targets) {
    if (options_.wrk) NEPHILA_RETURN_IF_ERROR(RunPeer(mode, targets));
    if (Wants("libcurl")) {
      NEPHILA_RETURN_IF_ERROR(RunPlain(mode, targets));
    }
    if (Wants("engine")) {
      NEPHILA_RETURN_IF_ERROR(RunEngine(mode, targets, nullptr, {}));
      if (!slow_.empty()) {
        NEPHILA_RETURN_IF_ERROR(RunEngine(mode, targets, nullptr, slow_));
      }
    }
    return Wants("chain") ? RunChain(mode, targets) : Status();
  }

  bool Wants(std::string_view row) const {
    return options_.rows.empty() ||
           std::find(options_.rows.begin(), options_.rows.end(), row) !=
               options_.rows.end();
  }

  Status RunChain(const Mode& mode, const std::vector<FetchTarget>& targets) {
    const std::string folder = folder_ + "/" + std::string(mode.name);
    NEPHILA_RETURN_IF_ERROR(fs_->MakeDir(folder));
    NEPHILA_TRY(auto chain, PageChain::Make(setup_, *fs_, clock_, folder));
    NEPHILA_RETURN_IF_ERROR(RunEngine(mode, targets, chain.get(), {}));
    NEPHILA_RETURN_IF_ERROR(chain->Finish());
    chain.reset();
    return RemoveAll(*fs_, folder);
  }

  Status RunPeer(const Mode& mode, const std::vector<FetchTarget>& targets) {
    constexpr int kSeconds = 3;
    const FetchTarget& target = targets.front();
    const std::string url =
        std::string(mode.https ? "https" : "http") + "://" +
        net::Endpoint{target.address, target.port}.ToString() +
        target.url.substr(target.url.find('/', target.url.find("//") + 2));
    NEPHILA_TRY(const auto result, RunWrk(url, target.host, options_.transfers,
                                          mode.keep, kSeconds));
    if (!result.has_value()) return {};  // it is not installed
    Measure measure;
    measure.pages = result->pages;
    measure.seconds = result->seconds;
    measure.cpu_seconds = result->cpu_seconds;
    Print(mode, "wrk", measure);
    return {};
  }

  Status RunPlain(const Mode& mode, const std::vector<FetchTarget>& targets) {
    const Watch watch;
    NEPHILA_TRY(
        const PlainCurlResult result,
        RunPlainCurl(targets, {.transfers = options_.transfers,
                               .pages = options_.pages,
                               .keep = mode.keep,
                               .ca_file = setup_.settings.fetch.ca_file}));
    Measure measure;
    measure.pages = result.pages;
    measure.errors = result.errors;
    measure.bytes = result.bytes;
    watch.Fill(&measure);
    Print(mode, "libcurl", measure);
    return {};
  }

  Status RunEngine(const Mode& mode, const std::vector<FetchTarget>& targets,
                   PageChain* chain, const std::vector<FetchTarget>& slow) {
    config::FetchSettings settings = setup_.settings.fetch;
    // They are to stay while it runs.
    if (!slow.empty()) settings.min_speed_bytes = 0;
    NEPHILA_TRY(const fetch::FetchOptions fetch_options,
                fetch::FetchOptions::Make(setup_.settings.agent, settings));
    NEPHILA_TRY(const net::Network loopback,
                net::Network::Parse("127.0.0.0/8"));
    const net::AddressGuard guard({loopback});
    NEPHILA_TRY(auto loop, net::EventLoop::Make(clock_));
    NEPHILA_TRY(auto pool,
                fetch::BodyPool::Make(setup_.settings.fetch.body_memory_bytes));
    fetch::BodyShare share(*pool);
    Driver driver(targets, options_, mode.keep, chain);
    Measure measure;
    {
      NEPHILA_TRY(auto fetcher, fetch::CurlFetcher::Make(
                                    {*loop, fetch_options, guard, share}));
      driver.HoldSlow(fetcher.get(), loop.get(), share, slow);
      const Watch watch;
      driver.Run(fetcher.get(), loop.get());
      measure = driver.measure();
      watch.Fill(&measure);
    }
    if (chain != nullptr) measure.links = chain->links();
    Print(mode,
          chain != nullptr ? "chain"
          : slow.empty()   ? "engine"
                           : "engine+slow",
          measure);
    if (driver.slow_ended() > 0) {
      return Unexpected(Error{ErrorCode::kIo, "slow transfers did not stay"});
    }
    if (measure.errors > 0) {
      out_ << fmt::format("  {} pages failed, the first: {}\n", measure.errors,
                          driver.failure());
    }
    return std::move(driver).status();
  }

  void Print(const Mode& mode, std::string_view what, const Measure& measure) {
    const auto pages = static_cast<double>(measure.pages);
    const double per_s = pages / measure.seconds;
    const double per_cpu_s = pages / measure.cpu_seconds;
    const double us = 1e6 * measure.cpu_seconds / pages;
    if (options_.json) {
      nlohmann::ordered_json line;
      line["bench"] = "fetch";
      line["mode"] = mode.name;
      line["what"] = what;
      line["transfers"] = options_.transfers;
      line["pages"] = measure.pages;
      line["errors"] = measure.errors;
      line["bytes_per_page"] = static_cast<double>(measure.bytes) / pages;
      line["links"] = measure.links;
      line["pages_per_s"] = per_s;
      line["pages_per_cpu_s"] = per_cpu_s;
      line["cpu_us_per_page"] = us;
      line["peak_rss_bytes"] = measure.peak_bytes;
      line["early_rss_bytes"] = measure.early.resident_bytes;
      line["early_descriptors"] = measure.early.descriptors;
      line["late_rss_bytes"] = measure.late.resident_bytes;
      line["late_descriptors"] = measure.late.descriptors;
      line["slow_cpu_per_s"] = measure.slow_cpu_per_s;
      out_ << line.dump() << '\n';
    } else {
      out_ << fmt::format(
          "{:<12} {:<11} {:>6} transfers {:>8.0f} pages/s {:>8.0f} pages/CPU-s "
          "{:>7.1f} us a page, {:.0f} MB\n",
          mode.name, what, options_.transfers, per_s, per_cpu_s, us,
          static_cast<double>(measure.peak_bytes) / 1e6);
      PrintBesides(measure);
    }
    out_.flush();
  }

  void PrintBesides(const Measure& measure) {
    if (measure.slow_cpu_per_s > 0) {
      const double slow = measure.slow_cpu_per_s * measure.seconds;
      out_ << fmt::format(
          "  the slow ones alone take {:.1f} % of a CPU; without that {:.1f} "
          "us a page\n",
          100 * measure.slow_cpu_per_s,
          1e6 * (measure.cpu_seconds - slow) /
              static_cast<double>(measure.pages));
    }
    if (measure.early.descriptors == 0) return;
    out_ << fmt::format(
        "  after a tenth {:.1f} MB and {} descriptors, at the end {:.1f} MB "
        "and {}\n",
        static_cast<double>(measure.early.resident_bytes) / 1e6,
        measure.early.descriptors,
        static_cast<double>(measure.late.resident_bytes) / 1e6,
        measure.late.descriptors);
  }

  cli::Setup setup_;
  const BenchFetchOptions& options_;
  std::ostream& out_;
  RealClock clock_;
  std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
  std::string folder_;
  std::vector<FetchTarget> slow_;
};

}  // namespace

Status RunBenchFetch(const cli::Setup& setup, const BenchFetchOptions& options,
                     std::ostream& out) {
  Bench bench(setup, options, out);
  Status status = bench.Run();
  Status removed = bench.RemoveFolder();
  return status.has_value() ? std::move(removed) : std::move(status);
}

}  // namespace nephila::bench
