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
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/agent.h"
#include "cli/file_limit.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "crawl/crawl.h"
#include "crawl/memory_plan.h"
#include "crawl/real_web.h"
#include "fetch/fetch_options.h"
#include "job/job_folder.h"
#include "store/store.h"

namespace nephila::cli {
namespace {

using config::Profile;
using job::JobFolder;

// Files that are open besides a connection for each transfer: those of stages,
// archives and libraries.
constexpr size_t kOtherFiles = 256;

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
void SizeTransfers(config::Settings* settings, std::ostream& err) {
  const size_t wanted = crawl::PlanMemory(*settings).transfers;
  const size_t files = RaiseFileLimit();
  const size_t most = files > 2 * kOtherFiles ? files - kOtherFiles : 16;
  if (wanted > most) {
    err << fmt::format(
        "nephila: {} requests at once instead of {}: the limit of open files "
        "is {} (ulimit -n)\n",
        most, wanted, files);
  }
  settings->crawl.max_transfers = static_cast<int64_t>(std::min(wanted, most));
}

// A line of a file that is no URL is said and left out: files are long, and
// come from elsewhere.
Status AddSeedLines(std::istream& in, const std::string& name,
                    crawl::Crawl* crawl, std::ostream& err, size_t* count) {
  Status added;
  size_t number = 0;
  NEPHILA_RETURN_IF_ERROR(ForEachLine(in, [&](const std::string& line) {
    ++number;
    const std::string_view url = TrimSpaces(line);
    if (!added.has_value() || url.empty() || url.starts_with('#')) return;
    Status one = crawl->AddSeed(url);
    if (one.has_value()) {
      ++*count;
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
                crawl::Crawl* crawl, std::ostream& err, bool is_new) {
  size_t count = options.seeds.size() + options.sitemaps.size();
  for (const std::string& url : options.seeds) {
    NEPHILA_RETURN_IF_ERROR(crawl->AddSeed(url));
  }
  for (const std::string& url : options.sitemaps) {
    NEPHILA_RETURN_IF_ERROR(crawl->AddSeed(url, /*is_sitemap=*/true));
  }
  for (const std::string& path : options.seed_files) {
    if (path == "-") {
      NEPHILA_RETURN_IF_ERROR(
          AddSeedLines(in, "standard input", crawl, err, &count));
      continue;
    }
    std::ifstream file(path);
    if (!file) {
      return Unexpected(
          Error{ErrorCode::kNotFound,
                "--seeds " + EscapeForTerminal(path) + ": cannot be read"});
    }
    NEPHILA_RETURN_IF_ERROR(
        AddSeedLines(file, EscapeForTerminal(path), crawl, err, &count));
  }
  if (count == 0 && is_new) return Wrong("no seed can be crawled");
  return {};
}

bool HasSeeds(const CrawlCmdOptions& options) {
  return !options.seeds.empty() || !options.seed_files.empty() ||
         !options.sitemaps.empty();
}

// For tests of what a restart does: the process ends when it reads a page whose
// URL has this in it.
std::function<void(std::string_view)> CrashHook() {
  const char* part = std::getenv("NEPHILA_TEST_CRASH_ON");
  if (part == nullptr || *part == '\0') return nullptr;
  return [text = std::string(part)](std::string_view url) {
    if (url.find(text) != std::string_view::npos) std::abort();
  };
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

}  // namespace

Status PrepareCrawl(const CrawlCmdOptions& options, SetupOptions* setup) {
  setup->profile = Profile::kSite;
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const job::JobState state, JobFolder::Look(*fs, options.job));
  if (state == job::JobState::kJob) {
    NEPHILA_TRY(job::JobFile file, JobFolder::Read(*fs, options.job));
    setup->profile = file.profile;
    setup->adjust = [file = std::move(file)](config::Settings* settings) {
      ApplyFixed(file, settings);
    };
  }
  if (!options.profile.empty()) {
    NEPHILA_TRY(setup->profile, ProfileNamed(options.profile));
    if (state == job::JobState::kJob) setup->adjust = nullptr;
  }
  return {};
}

Status RunCrawl(const Setup& setup, const CrawlCmdOptions& options,
                std::istream& in, std::ostream& out, std::ostream& err) {
  NEPHILA_RETURN_IF_ERROR(CheckAgent(setup.settings.agent));
  auto fs = MakeRealFileSystem();
  const RealClock clock;
  config::Settings settings = setup.settings;
  SizeTransfers(&settings, err);
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
  NEPHILA_TRY(const auto web, crawl::RealWeb::Make(settings, suffixes, clock));
  crawl::Crawl::Parts parts{*fs, clock, *web, settings, suffixes, *folder};
  parts.record_seed = RandomSeed();
  parts.archive_info = ArchiveInfo(setup.settings);
  parts.on_quarantine = [&err](std::string_view url) {
    err << "nephila: quarantined, as reading it ended the process twice: "
        << EscapeForTerminal(url) << '\n';
  };
  parts.on_read = CrashHook();
  NEPHILA_TRY(const auto crawl, crawl::Crawl::Open(parts));
  NEPHILA_RETURN_IF_ERROR(
      AddSeeds(options, in, crawl.get(), err, folder->is_new()));

  const StopOnSignal stop(crawl.get());
  Progress progress(options.quiet, setup.settings.crawl, err);
  const auto end = crawl->Run(
      [&](const crawl::CrawlStatus& status) { progress.Show(status); });
  progress.End();
  if (!end.has_value()) return Unexpected(end.error());
  PrintSummary(crawl->status(), options.job, settings.store.folders, out);
  return {};
}

Status RunStatus(FileSystem& fs, const StatusCmdOptions& options,
                 std::ostream& out) {
  NEPHILA_TRY(const job::JobFile file, JobFolder::Read(fs, options.job));
  NEPHILA_TRY(const job::StoredManifests stored,
              job::ReadManifests(
                  fs, options.job + "/" + std::string(job::kManifestsDir),
                  file.key_seed));
  if (!stored.newest) {
    return Unexpected(
        Error{ErrorCode::kNotFound,
              EscapeForTerminal(options.job) + ": no checkpoint yet"});
  }
  const auto status = stored.newest->parts.find("status");
  if (status == stored.newest->parts.end()) {
    return Unexpected(Error{
        ErrorCode::kCorruption,
        EscapeForTerminal(options.job) + ": the checkpoint has no counters"});
  }
  if (options.json) {
    out << status->second << '\n';
    return {};
  }
  return PrintStatus(status->second, out);
}

}  // namespace nephila::cli
