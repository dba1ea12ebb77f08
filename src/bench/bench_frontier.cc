#include "bench/bench_frontier.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "base/workers.h"
#include "bench/process.h"
#include "config/settings.h"
#include "crawl/frontier.h"
#include "crawl/memory_plan.h"
#include "robots/rules.h"
#include "url/public_suffix.h"

namespace nephila::bench {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kSeed = 5;
constexpr uint64_t kSeedPages = 1000;
// What a dispatcher would hold.
constexpr size_t kWanted = 10'000;
// Visits that came back and were not taken yet: a turn of the frontier takes
// the links of some twenty pages.
constexpr uint64_t kMostFinished = 64;
constexpr uint64_t kLines = 20;
constexpr milliseconds kPassPoll{1};
constexpr double kReopenLimitS = 600;

// What had happened at a moment.
struct Mark {
  double seconds = 0;
  double cpu_s = 0;       // of all threads
  double frontier_s = 0;  // of its own, without the web's
  double web_s = 0;
  double checkpoint_s = 0;  // that the frontier stood still, by the clock
  double idle_s = 0;        // that it waited for passes of Drums
  uint64_t seen = 0;        // distinct URLs
  uint64_t waiting = 0;
  uint64_t in_seen = 0;  // links that wait for a pass of `seen`
  uint64_t links = 0;
  uint64_t visits = 0;
  uint64_t robots = 0;
  uint64_t resident = 0;
  uint64_t peak = 0;
  uint64_t disk = 0;
};

// How long a restart takes.
struct Reopened {
  double open_s = 0;
  double first_visit_s = 0;  // with that
};

config::Settings SettingsFor(const BenchFrontierOptions& options) {
  config::Settings settings;
  settings.crawl.memory_bytes = options.memory_bytes;
  settings.crawl.disk_bytes = options.disk_bytes;
  settings.crawl.merge_threads = options.merge_threads;
  settings.crawl.budgets = true;
  settings.scope.bounds = config::ScopeBounds::kAll;
  // Servers answer at once, so a budget is not cut to what one of them could
  // send while a queue is read.
  settings.politeness.host_delay = milliseconds(0);
  settings.politeness.host_delay_floor = milliseconds(0);
  return settings;
}

// What the plan gives the stages of the frontier.
uint64_t PlannedBytes(const config::Settings& settings) {
  const crawl::MemoryPlan plan = crawl::PlanMemory(settings);
  return plan.seen + plan.reputation + plan.budget_drum + plan.budget_queues +
         plan.robots + plan.ready;
}

class GrowingFrontier {
 public:
  GrowingFrontier(const BenchFrontierOptions& options, FileSystem& fs,
                  const std::string& folder)
      : options_(options),
        fs_(fs),
        folder_(folder),
        settings_(SettingsFor(options)),
        workers_(options.merge_threads),
        web_(options.web, kSeed) {}

  // Tells `report` of each twentieth, with the mark before it; returns the
  // marks at the begin, at four fifths and at the end.
  template <typename Report>
  Result<std::array<Mark, 3>> Run(const Report& report) {
    NEPHILA_RETURN_IF_ERROR(Begin());
    std::array<Mark, 3> marks;
    marks[0] = Now();
    marks[1] = marks[0];
    Mark last = marks[0];
    bool is_over = false;
    for (uint64_t line = 1; line <= kLines && !is_over; ++line) {
      NEPHILA_TRY(is_over, GrowTo(options_.waiting * line / kLines));
      const Mark now = Now();
      report(last, now);
      last = now;
      if (line * 5 == kLines * 4) marks[1] = now;
    }
    marks[2] = last;
    return marks;
  }

  // As a new process does it: from the last checkpoint, and past the page
  // cache, up to the first page that may be asked for.
  Result<Reopened> Reopen() {
    NEPHILA_RETURN_IF_ERROR(Checkpoint());
    frontier_.reset();
    pages_.clear();
    robots_.clear();
    ForgetFiles(folder_);
    const MonoTime begin = clock_.Now();
    NEPHILA_TRY(frontier_, crawl::Frontier::Open(Parts(), manifest_));
    Reopened reopened;
    reopened.open_s = Seconds(clock_.Now() - begin);
    frontier_->Want(kWanted);
    while (pages_.empty() && Seconds(clock_.Now() - begin) < kReopenLimitS) {
      NEPHILA_TRY(const bool moved, frontier_->Step(Receive()));
      while (!robots_.empty()) {
        FinishRobots(*robots_.front());
        robots_.pop_front();
      }
      if (moved) continue;
      NEPHILA_RETURN_IF_ERROR(frontier_->RunDry());
      std::this_thread::sleep_for(kPassPoll);
    }
    reopened.first_visit_s = Seconds(clock_.Now() - begin);
    return reopened;
  }

  const config::Settings& settings() const { return settings_; }

 private:
  crawl::Frontier::Parts Parts() {
    return {fs_, clock_, workers_, settings_, suffixes_, folder_, kSeed};
  }

  std::function<void(crawl::VisitPtr)> Receive() {
    return [this](crawl::VisitPtr visit) {
      (visit->kind == item::FetchKind::kRobots ? robots_ : pages_)
          .push_back(std::move(visit));
    };
  }

  Status Begin() {
    for (const char* stage :
         {"/seen", "/reputation", "/budget", "/robots", "/ready"}) {
      NEPHILA_RETURN_IF_ERROR(EnsureDir(fs_, folder_ + stage));
    }
    NEPHILA_TRY(frontier_, crawl::Frontier::Create(Parts()));
    began_ = clock_.Now();
    next_checkpoint_ = began_ + options_.checkpoint_interval;
    const uint64_t seeds = std::min(kSeedPages, options_.web.domains);
    for (uint64_t n = 0; n < seeds; ++n) {
      crawl::FinishedVisit seed;
      seed.entry = ++entries_;
      seed.is_seed = true;
      web_.AppendSeed(n, seed.links);
      frontier_->Take(std::move(seed));
    }
    frontier_->Want(kWanted);
    return {};
  }

  // Returns whether the time is over.
  Result<bool> GrowTo(uint64_t waiting) {
    while (Waiting() < waiting) {
      NEPHILA_RETURN_IF_ERROR(Turn());
      const std::chrono::duration<double> time = clock_.Now() - began_;
      if (options_.time_limit_s > 0 && time.count() > options_.time_limit_s) {
        return true;
      }
    }
    return false;
  }

  // As Crawl::Turn has it.
  Status Turn() {
    NEPHILA_TRY(const bool moved, frontier_->Step(Receive()));
    NEPHILA_TRY(const bool finished, FinishVisits());
    if (!moved && !finished) {
      NEPHILA_TRY(const bool will_come, frontier_->RunDry());
      static_cast<void>(will_come);
      if (workers_.threads() > 0) {
        const MonoTime before = clock_.Now();
        std::this_thread::sleep_for(kPassPoll);
        idle_s_ += std::chrono::duration<double>(clock_.Now() - before).count();
      }
    }
    if (clock_.Now() < next_checkpoint_) return {};
    return Checkpoint();
  }

  // All that the frontier has room for; of robots.txt all.
  Result<bool> FinishVisits() {
    bool any = false;
    while (!robots_.empty()) {
      FinishRobots(*robots_.front());
      robots_.pop_front();
      any = true;
    }
    while (!pages_.empty() && entries_ - frontier_->entry() < kMostFinished) {
      NEPHILA_RETURN_IF_ERROR(FinishPage(*pages_.front()));
      pages_.pop_front();
      frontier_->Want(1);
      any = true;
    }
    return any;
  }

  crawl::FinishedVisit Finished(const crawl::Visit& visit) {
    crawl::FinishedVisit finished;
    finished.entry = ++entries_;
    finished.kind = visit.kind;
    finished.record = visit.record;
    finished.place = visit.place;
    finished.attempt = visit.attempt;
    finished.budget = visit.budget;
    finished.outcome = item::FetchOutcome::kResponse;
    finished.status = 200;
    finished.archived = true;
    finished.when = std::chrono::floor<milliseconds>(clock_.WallNow());
    return finished;
  }

  void FinishRobots(const crawl::Visit& visit) {
    crawl::FinishedVisit finished = Finished(visit);
    finished.robots_end = item::RobotsFetchEnd::kAnswer;
    finished.robots_status = 200;
    finished.rules = rules_;
    frontier_->Take(std::move(finished));
  }

  Status FinishPage(const crawl::Visit& visit) {
    const auto page = item::ReadUrl(visit.record);
    if (!page.has_value()) {
      return Unexpected(
          Error{ErrorCode::kCorruption, std::string(page.error())});
    }
    const double before = ThreadCpuSeconds();
    crawl::FinishedVisit finished = Finished(visit);
    web_.AddLinks(*page, finished);
    web_s_ += ThreadCpuSeconds() - before;
    frontier_->Take(std::move(finished));
    return {};
  }

  Status Checkpoint() {
    const MonoTime before = clock_.Now();
    NEPHILA_TRY(manifest_, frontier_->BeginCheckpoint());
    NEPHILA_RETURN_IF_ERROR(frontier_->FinishCheckpoint());
    const MonoTime after = clock_.Now();
    checkpoint_s_ += std::chrono::duration<double>(after - before).count();
    next_checkpoint_ = after + options_.checkpoint_interval;
    return {};
  }

  // Behind `seen`: before that they are links, some of them known.
  uint64_t Waiting() const {
    const int64_t held = frontier_->budget()->account().Totals().held +
                         frontier_->robots().account().Totals().held +
                         frontier_->accounts().politeness.Totals().held;
    return static_cast<uint64_t>(std::max<int64_t>(held, 0));
  }

  Mark Now() const {
    Mark mark;
    mark.seconds = std::chrono::duration<double>(clock_.Now() - began_).count();
    mark.cpu_s = CpuSeconds();
    mark.web_s = web_s_;
    mark.frontier_s = ThreadCpuSeconds() - web_s_;
    mark.checkpoint_s = checkpoint_s_;
    mark.idle_s = idle_s_;
    mark.seen = frontier_->seen().account().Totals().out;
    mark.waiting = Waiting();
    mark.in_seen = static_cast<uint64_t>(
        std::max<int64_t>(frontier_->seen().account().Totals().held, 0));
    mark.links = frontier_->accounts().scope.Totals().in;
    mark.visits = frontier_->accounts().pages.value();
    mark.robots = frontier_->accounts().robots.value();
    mark.resident = ResidentBytes();
    mark.peak = PeakResidentBytes();
    mark.disk = FolderBytes(folder_);
    return mark;
  }

  const BenchFrontierOptions& options_;
  FileSystem& fs_;
  const std::string folder_;
  const config::Settings settings_;
  RealClock clock_;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  const std::string rules_ = robots::CompileAllowAll();
  Workers workers_;
  FrontierWeb web_;
  std::unique_ptr<crawl::Frontier> frontier_;
  crawl::ManifestParts manifest_;      // the last
  std::deque<crawl::VisitPtr> pages_;  // given out
  std::deque<crawl::VisitPtr> robots_;
  uint64_t entries_ = 0;
  MonoTime began_;
  MonoTime next_checkpoint_;
  double web_s_ = 0;
  double checkpoint_s_ = 0;
  double idle_s_ = 0;
};

double PerSecond(uint64_t before, uint64_t after, double seconds) {
  return seconds > 0 ? static_cast<double>(after - before) / seconds : 0;
}

// What happened between two marks, and how it was at the second.
nlohmann::ordered_json LineOf(const Mark& from, const Mark& to) {
  nlohmann::ordered_json line;
  const double seconds = to.seconds - from.seconds;
  const auto links =
      static_cast<double>(std::max<uint64_t>(to.links - from.links, 1));
  const auto micros = [links](double time) { return time / links * 1e6; };
  line["seconds"] = to.seconds;
  line["waiting"] = to.waiting;
  line["in_seen"] = to.in_seen;
  line["seen"] = to.seen;
  line["links"] = to.links;
  line["visits"] = to.visits;
  line["robots"] = to.robots;
  line["links_per_s"] = PerSecond(from.links, to.links, seconds);
  line["visits_per_s"] = PerSecond(from.visits, to.visits, seconds);
  line["resident_bytes"] = to.resident;
  line["peak_resident_bytes"] = to.peak;
  line["disk_bytes"] = to.disk;
  line["frontier_cpu_us"] = micros(to.frontier_s - from.frontier_s);
  line["merge_cpu_us"] = micros((to.cpu_s - to.frontier_s - to.web_s) -
                                (from.cpu_s - from.frontier_s - from.web_s));
  line["web_cpu_us"] = micros(to.web_s - from.web_s);
  line["checkpoint_s"] = to.checkpoint_s - from.checkpoint_s;
  line["idle_s"] = to.idle_s - from.idle_s;
  return line;
}

double Mega(const nlohmann::ordered_json& value) {
  return value.get<double>() / 1e6;
}

void PrintLine(const nlohmann::ordered_json& line, std::ostream& out) {
  out << fmt::format(
             "{:7.1f} s: {:.2f} M wait, {:.2f} M in seen, {:.2f} M seen, {} "
             "visits, {:.0f} "
             "links/s, {:.0f} visits/s, {:.0f} MB resident (most {:.0f}), "
             "{:.2f} GB disk; us a link: frontier {:.2f}, merges {:.2f}, web "
             "{:.2f}; checkpoints {:.1f} s, idle {:.1f} s\n",
             line["seconds"].get<double>(), Mega(line["waiting"]),
             Mega(line["in_seen"]), Mega(line["seen"]),
             line["visits"].get<uint64_t>(), line["links_per_s"].get<double>(),
             line["visits_per_s"].get<double>(), Mega(line["resident_bytes"]),
             Mega(line["peak_resident_bytes"]), Mega(line["disk_bytes"]) / 1000,
             line["frontier_cpu_us"].get<double>(),
             line["merge_cpu_us"].get<double>(),
             line["web_cpu_us"].get<double>(),
             line["checkpoint_s"].get<double>(), line["idle_s"].get<double>())
      << std::flush;
}

void PrintEnd(const nlohmann::ordered_json& line, std::ostream& out) {
  out << "whole run:\n";
  PrintLine(line, out);
  out << fmt::format(
      "last fifth: {:.0f} links/s, {:.0f} visits/s\n"
      "resident at most {:.1f} MB ({:.1f} MB before the frontier was made); "
      "--memory {:.1f} MB, of which the frontier's stages may have {:.1f} "
      "MB\n"
      "opened again in {:.2f} s; the first page may be asked for after {:.2f} "
      "s\n",
      line["last_fifth_links_per_s"].get<double>(),
      line["last_fifth_visits_per_s"].get<double>(),
      Mega(line["peak_resident_bytes"]), Mega(line["resident_before_bytes"]),
      Mega(line["memory_bytes"]), Mega(line["planned_bytes"]),
      line["reopen_s"].get<double>(), line["first_visit_s"].get<double>());
}

}  // namespace

Status RunBenchFrontier(const BenchFrontierOptions& options,
                        std::ostream& out) {
  const auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const uint64_t unique, RandomSeed());
  const std::string folder = fmt::format(
      "{}/nephila-bench-frontier-{:08x}",
      options.directory.empty() ? "." : options.directory, unique & 0xFFFFFFFF);
  const auto run = [&]() -> Status {
    NEPHILA_RETURN_IF_ERROR(EnsureDir(*fs, folder));
    ResetPeak();
    const uint64_t before = ResidentBytes();
    GrowingFrontier crawl(options, *fs, folder);
    NEPHILA_TRY(const auto marks,
                crawl.Run([&](const Mark& from, const Mark& to) {
                  nlohmann::ordered_json line = LineOf(from, to);
                  if (options.json) {
                    line["bench"] = "frontier";
                    out << line.dump() << '\n' << std::flush;
                  } else {
                    PrintLine(line, out);
                  }
                }));
    nlohmann::ordered_json end = LineOf(marks[0], marks[2]);
    const nlohmann::ordered_json fifth = LineOf(marks[1], marks[2]);
    end["last_fifth_links_per_s"] = fifth["links_per_s"];
    end["last_fifth_visits_per_s"] = fifth["visits_per_s"];
    end["resident_before_bytes"] = before;
    end["memory_bytes"] = options.memory_bytes;
    end["planned_bytes"] = PlannedBytes(crawl.settings());
    NEPHILA_TRY(const Reopened reopened, crawl.Reopen());
    end["reopen_s"] = reopened.open_s;
    end["first_visit_s"] = reopened.first_visit_s;
    end["bench"] = "frontier-end";
    if (options.json) {
      out << end.dump() << '\n';
    } else {
      PrintEnd(end, out);
    }
    return {};
  };
  Status status = run();
  IgnoreError(RemoveAll(*fs, folder), "the result is the run's");
  return status;
}

}  // namespace nephila::bench
