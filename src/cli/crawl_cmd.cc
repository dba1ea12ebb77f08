#include "cli/crawl_cmd.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <istream>
#include <ostream>
#include <utility>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/agent.h"
#include "cli/crawl_sandbox.h"
#include "cli/file_limit.h"
#include "cli/job_files.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/report_cmd.h"
#include "cli/seed_watch.h"
#include "config/table.h"
#include "control/crawl_control.h"
#include "crawl/crawl.h"
#include "crawl/descriptor_plan.h"
#include "crawl/memory_plan.h"
#include "crawl/real_web.h"
#include "fetch/connection_budget.h"
#include "fetch/fetch_options.h"
#include "job/commands.h"
#include "job/job_folder.h"
#include "job/kept_settings.h"
#include "store/store.h"

namespace nephila::cli {
namespace {

using config::Profile;
using job::JobFolder;

// Who finds no descriptor for a file looks again after this, at the latest, and
// so many idle connections are closed each time.
constexpr std::chrono::milliseconds kDescriptorWait{50};
constexpr size_t kClosedForFile = 8;
// How often it is said.
constexpr std::chrono::minutes kShortageSaid{1};

Unexpected<Error> Wrong(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Result<Profile> ProfileNamed(const std::string& name) {
  if (name == "site") return Profile::kSite;
  if (name == "broad") return Profile::kBroad;
  return Wrong("--profile " + EscapeForTerminal(name) + ": site or broad");
}

// The crawl that SIGINT and SIGTERM stop.
std::atomic<crawl::Crawl*> running{nullptr};

void OnSignal(int /*signal*/) {
  if (crawl::Crawl* crawl = running.load()) crawl->Stop();
}

// While it lives, both signals end the crawl as it should end.
class StopOnSignal {
 public:
  explicit StopOnSignal(crawl::Crawl* crawl) {
    running = crawl;
    before_int_ = std::signal(SIGINT, OnSignal);
    before_term_ = std::signal(SIGTERM, OnSignal);
  }
  ~StopOnSignal() {
    std::signal(SIGINT, before_int_);
    std::signal(SIGTERM, before_term_);
    running = nullptr;
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  void (*before_int_)(int);
  void (*before_term_)(int);
};

// As many transfers as memory and open files allow.
Result<crawl::DescriptorPlan> SizeTransfers(const CrawlCmdOptions& options,
                                            config::Settings* settings,
                                            std::ostream& err) {
  const size_t wanted = crawl::PlanMemory(*settings).transfers;
  size_t limit = RaiseFileLimit();
  if (options.max_descriptors > 0) {
    limit = std::min(limit, options.max_descriptors);
  }
  NEPHILA_TRY(const auto plan, crawl::PlanDescriptors(*settings, limit));
  if (wanted > plan.transfers) {
    err << fmt::format(
        "nephila: {} requests at once instead of {}: the limit of open files "
        "is {} (ulimit -n)\n",
        plan.transfers, wanted, limit);
  }
  settings->crawl.max_transfers = static_cast<int64_t>(plan.transfers);
  return plan;
}

// A file cannot be opened for want of a descriptor. The plan leaves enough, but
// other processes may have used up those of the system, or the plan is wrong:
// idle connections give way, and the thread waits.
class FileShortage {
 public:
  FileShortage(fetch::ConnectionBudget& connections, const Clock& clock,
               std::ostream& err)
      : connections_(connections), clock_(clock), err_(err) {}

  void Wait(const Error& error) NEPHILA_EXCLUDES(mutex_) {
    const MonoTime now = clock_.Now();
    {
      MutexLock lock(mutex_);
      if (now >= next_) {
        next_ = now + kShortageSaid;
        err_ << "nephila: waiting for a free descriptor: "
             << EscapeForTerminal(error.message)
             << "; raise the limit of open files (docs/tuning.md)" << std::endl;
      }
    }
    connections_.Squeeze(nullptr, kClosedForFile);
    connections_.WaitForGive(clock_, now + kDescriptorWait);
  }

 private:
  fetch::ConnectionBudget& connections_;
  const Clock& clock_;
  std::ostream& err_;
  Mutex mutex_;
  MonoTime next_ NEPHILA_GUARDED_BY(mutex_){};
};

// Whether the scope takes it though it is a seed; else it is said and left out.
bool IsTaken(std::string_view url, crawl::Crawl* crawl, std::ostream& err) {
  const auto why = crawl->RefusesSeed(url);
  if (why) err << "nephila: " << *why << "; left out\n";
  return !why;
}

// A line that is no URL is said and left out: files are long, and come from
// elsewhere.
Status AddSeedLines(std::istream& in, const std::string& name,
                    crawl::Crawl* crawl, Progress* progress, std::ostream& err,
                    size_t* count) {
  Status added;
  size_t number = 0;
  NEPHILA_RETURN_IF_ERROR(ForEachLine(in, [&](const std::string& line) {
    ++number;
    const std::string_view url = TrimSpaces(line);
    if (!added.has_value() || url.empty() || url.starts_with('#')) return;
    if (!IsTaken(url, crawl, err)) return;
    Status one = crawl->AddSeed(url);
    if (one.has_value()) {
      progress->ShowSeeds(++*count);
      return;
    }
    if (one.error().code == ErrorCode::kInvalidArgument) {
      err << "nephila: " << name << ":" << number << ": " << one.error().message
          << '\n';
    } else {
      added = std::move(one);
    }
  }));
  return added;
}

Status AddSeeds(const CrawlCmdOptions& options, std::istream& in,
                crawl::Crawl* crawl, Progress* progress, std::ostream& err,
                bool is_new) {
  size_t count = 0;
  for (const std::string& url : options.seeds) {
    if (!IsTaken(url, crawl, err)) continue;
    NEPHILA_RETURN_IF_ERROR(crawl->AddSeed(url));
    ++count;
  }
  for (const std::string& url : options.sitemaps) {
    if (!IsTaken(url, crawl, err)) continue;
    NEPHILA_RETURN_IF_ERROR(crawl->AddSeed(url, /*is_sitemap=*/true));
    ++count;
  }
  for (const std::string& path : options.seed_files) {
    if (path == "-") {
      NEPHILA_RETURN_IF_ERROR(
          AddSeedLines(in, "standard input", crawl, progress, err, &count));
      continue;
    }
    std::ifstream file(path);
    if (!file) {
      return Unexpected(
          Error{ErrorCode::kNotFound,
                "--seeds " + EscapeForTerminal(path) + ": cannot be read"});
    }
    NEPHILA_RETURN_IF_ERROR(AddSeedLines(file, EscapeForTerminal(path), crawl,
                                         progress, err, &count));
  }
  if (count == 0 && is_new) return Wrong("no seed can be crawled");
  return {};
}

bool HasSeeds(const CrawlCmdOptions& options) {
  return !options.seeds.empty() || !options.seed_files.empty() ||
         !options.sitemaps.empty();
}

// The text that the user names, or that a new job is made with.
Result<std::string> SuffixList(FileSystem& fs,
                               const config::UrlSettings& settings,
                               job::JobState state) {
  if (!settings.public_suffix_list.empty()) {
    return ReadWholeFile(fs, settings.public_suffix_list,
                         job::kMostSuffixListBytes);
  }
  if (state == job::JobState::kJob) return std::string();
  return std::string(url::PublicSuffixList::BuiltInText());
}

// What differs from the defaults of a setting.
void LogStart(const config::Settings& settings, const std::string& job,
              Logger* log) {
  log->Info("nephila {} starts: process {}, job {}", NEPHILA_VERSION, getpid(),
            job);
  for (const config::Row& row : config::AllRows()) {
    const config::Value value = row.get(&settings);
    if (value == row.default_value) continue;
    log->Info("setting {} = {}", row.name, config::FormatValue(row, value));
  }
}

void LogEnd(const Result<crawl::CrawlEnd>& end,
            const crawl::CrawlStatus& status, Logger* log) {
  if (!end.has_value()) {
    log->Error("ends: {}", end.error().message);
    return;
  }
  log->Info("ends: {}, {} pages, {} of this run", crawl::CrawlEndName(*end),
            status.pages, status.pages - status.pages_before);
}

// What was asked of the next run, while none ran. A process that ends between
// the two steps does it twice, which asks for nothing twice: what failed before
// the first is not there for the second.
Status TakeCommands(FileSystem& fs, const std::string& dir, crawl::Crawl* crawl,
                    Logger* log) {
  NEPHILA_TRY(const std::vector<std::string> commands,
              job::ReadCommands(fs, dir));
  if (commands.empty()) return {};
  for (const std::string& command : commands) {
    Status taken = crawl->Command(command);
    if (taken.has_value()) {
      log->Info("command: {}", command);
    } else if (taken.error().code == ErrorCode::kInvalidArgument) {
      log->Warn("refused: {}", taken.error().message);
    } else {
      return taken;
    }
  }
  return job::RemoveCommands(fs, dir);
}

// A folder that can hold no socket (some network disks) is crawled all the
// same.
Result<std::unique_ptr<control::CrawlControl>> OpenControl(
    const control::CrawlControl::Parts& parts, std::ostream& err) {
  auto control = control::CrawlControl::Open(parts);
  if (control.has_value() ||
      control.error().code == ErrorCode::kInvalidArgument) {
    return control;
  }
  parts.log.Warn("nobody can steer this crawl: {}", control.error().message);
  err << "nephila: nobody can steer this crawl: "
      << EscapeForTerminal(control.error().message) << '\n';
  return std::unique_ptr<control::CrawlControl>();
}

}  // namespace

Status PrepareCrawl(const CrawlCmdOptions& options, SetupOptions* setup) {
  setup->profile = Profile::kSite;
  if (options.job.empty() && !options.dry_run) {
    return Wrong("--job is required (see nephila --help)");
  }
  if (!options.tries.empty() && !options.dry_run) {
    return Wrong("--try is for --dry-run (see nephila --help)");
  }
  auto fs = MakeGuardedFileSystem(options.job);
  job::JobState state = job::JobState::kNone;
  if (!options.job.empty()) {
    NEPHILA_TRY(state, JobFolder::Look(*fs, options.job));
  }
  if (state == job::JobState::kJob) {
    NEPHILA_TRY(job::JobFile file, JobFolder::Read(*fs, options.job));
    NEPHILA_TRY(job::KeptSettings kept,
                job::KeptSettings::Read(*fs, options.job));
    setup->profile = file.profile;
    const bool own_profile = options.profile.empty();
    setup->adjust = [file = std::move(file), kept = std::move(kept),
                     own_profile](config::Settings* settings) {
      if (own_profile) ApplyFixed(file, settings);
      kept.Apply(settings);
    };
  }
  if (!options.profile.empty()) {
    NEPHILA_TRY(setup->profile, ProfileNamed(options.profile));
  }
  return {};
}

Status RunCrawl(const Setup& setup, const CrawlCmdOptions& options,
                std::istream& in, std::ostream& out, std::ostream& err) {
  const JobUmask mask(setup.settings.job.group_readable);
  NEPHILA_RETURN_IF_ERROR(CheckOwnFolder(options.job));
  const RealClock clock;
  config::Settings settings = setup.settings;
  NEPHILA_TRY(const auto descriptors, SizeTransfers(options, &settings, err));
  fetch::ConnectionBudget connections(descriptors.connections,
                                      descriptors.max_descriptor);
  FileShortage shortage(connections, clock, err);
  const auto fs =
      OpenJobFiles(options.job, setup.settings,
                   [&shortage](const Error& error) { shortage.Wait(error); });
  settings = crawl::WithPlan(crawl::PlanMemory(settings), settings);

  job::JobRequest request;
  request.settings = setup.settings;
  request.process_id = static_cast<uint64_t>(getpid());
  request.profile =
      options.profile == "broad" ? Profile::kBroad : Profile::kSite;
  request.key_seed = RandomSeed();
  request.now = clock.WallNow();
  request.version = NEPHILA_VERSION;
  NEPHILA_TRY(const job::JobState state, JobFolder::Look(*fs, options.job));
  if (state == job::JobState::kNone && !HasSeeds(options)) {
    return Wrong("a new crawl needs seeds: URLs, --seeds FILE or --sitemap");
  }
  // A job keeps its list, so that a newer nephila finds the same domains.
  NEPHILA_TRY(const std::string list,
              SuffixList(*fs, setup.settings.url, state));
  request.suffix_list = list;
  NEPHILA_TRY(const auto folder,
              JobFolder::OpenOrCreate(*fs, options.job, request));
  NEPHILA_TRY(const url::PublicSuffixList suffixes,
              url::PublicSuffixList::Parse(folder->suffix_list()));
  NEPHILA_TRY(const auto web,
              crawl::RealWeb::Make(settings, suffixes, clock, &connections));
  NEPHILA_TRY(Logger log, Logger::ToFile(folder->Path(job::kLogName), clock,
                                         control::LevelOf(settings.log.level)));
  LogStart(setup.settings, options.job, &log);
  crawl::Crawl::Parts parts{*fs, clock, *web, settings, suffixes, *folder};
  parts.log = &log;
  parts.record_seed = RandomSeed();
  parts.archive_info = ArchiveInfo(setup.settings);
  Progress progress(options.quiet, err);
  SeedWatch watch(settings,
                  [&](const std::string& line) { progress.Say(line); });
  parts.on_warning = [&progress, &log](std::string_view line) {
    log.Warn("{}", line);
    progress.Say(std::string(line));
  };
  parts.on_quarantine = [&progress, &log](std::string_view url) {
    log.Warn("quarantined, as reading it ended the process twice: {}", url);
    progress.Say("quarantined, as reading it ended the process twice: " +
                 EscapeForTerminal(url));
  };
  parts.on_finished = [&](const crawl::FinishedVisit& visit) {
    watch.See(visit);
    if (options.on_finished) options.on_finished(visit);
  };
  parts.on_archive_folders = [&fs](const std::vector<std::string>& paths) {
    for (const std::string& path : paths) fs->Guard(path);
  };
  parts.on_read = options.on_read;
  parts.resident_bytes = ResidentBytes;
  // What is opened so far reads nothing from the web and starts no thread.
  if (options.sandbox) {
    Status confined =
        EnterSandbox(*fs, *folder, settings, options.seed_files, &log);
    if (!confined) {
      log.Error("cannot go on: {}", confined.error().message);
      return confined;
    }
  }
  auto opened = crawl::Crawl::Open(parts);
  if (!opened.has_value()) {
    log.Error("cannot go on: {}", opened.error().message);
    return Unexpected(opened.error());
  }
  const auto crawl = *std::move(opened);
  NEPHILA_RETURN_IF_ERROR(
      AddSeeds(options, in, crawl.get(), &progress, err, folder->is_new()));
  NEPHILA_RETURN_IF_ERROR(TakeCommands(*fs, options.job, crawl.get(), &log));
  NEPHILA_TRY(const auto control,
              OpenControl({*crawl, *fs, clock, log, suffixes, options.job,
                           NEPHILA_VERSION, descriptors.connections},
                          err));
  if (options.warning) {
    log.Warn("{}", *options.warning);
    progress.Say(*options.warning);
  }
  const StopOnSignal stop(crawl.get());
  const auto end = crawl->Run([&](const crawl::CrawlStatus& status) {
    watch.See(status);
    progress.Show(status, crawl->settings().crawl);
  });
  progress.End();
  LogEnd(end, crawl->status(), &log);
  if (!end.has_value()) return Unexpected(end.error());
  const crawl::CrawlStatus status = crawl->status();
  PrintSummary(status, options.job, settings.store.folders, out);
  ReportAtEnd(*fs, options.job, settings, out, err);
  return watch.Verdict(status, options.seeds.empty() ? "" : options.seeds[0],
                       options.job);
}

Status WithAdvice(Status status, const std::string& job) {
  if (status || status.error().code != ErrorCode::kCorruption) return status;
  Error error = status.error();
  error.message += fmt::format(
      "; `nephila check --job {}` lists what is damaged, docs/resuming.md what "
      "to do",
      job);
  return Unexpected(std::move(error));
}

}  // namespace nephila::cli
