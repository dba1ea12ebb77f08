#include "report/job_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/profile.h"
#include "drum/drum.h"
#include "item/budget_function.h"
#include "item/stage_commit.h"
#include "job/history.h"
#include "job/job_folder.h"
#include "job/manifest.h"
#include "report/domain_join.h"
#include "report/limits.h"
#include "report/log_figures.h"
#include "report/status_reader.h"
#include "reputation/reputation.h"
#include "url/public_suffix.h"

namespace nephila::report {
namespace {

// A crawl that runs may take two checkpoints while one is read.
constexpr int kTries = 5;

// Shown whatever they are.
constexpr std::string_view kShownSettings[] = {
    "agent.name",
    "agent.contact",
    "crawl.memory",
    "crawl.disk",
    "crawl.max_pages",
    "crawl.max_bytes",
    "crawl.max_time",
    "crawl.budgets",
    "scope.bounds",
    "scope.max_depth",
    "politeness.host_delay",
    "politeness.host_delay_floor",
    "politeness.server_delay",
    "politeness.server_delay_floor",
    "reputation.policy",
    "reputation.base",
    "reputation.most",
    "reputation.top_k",
    "fetch.max_body_size",
    "fetch.timeout",
    "url.max_length",
};

class JobReader {
 public:
  JobReader(FileSystem& fs, const ReportOptions& options)
      : fs_(fs), options_(options), settings_(options.settings) {}

  Result<Figures> Run() {
    figures_.dir = options_.dir;
    NEPHILA_TRY(file_, job::JobFolder::Read(fs_, options_.dir));
    figures_.made = file_.made;
    figures_.version = file_.version;
    figures_.profile =
        file_.profile == config::Profile::kSite ? "site" : "broad";
    NEPHILA_RETURN_IF_ERROR(ReadCheckpoint());
    ReadSettings();
    ReadHistory();
    NEPHILA_RETURN_IF_ERROR(ReadSuffixes());
    NEPHILA_RETURN_IF_ERROR(ReadLogs());
    ListFiles();
    return std::move(figures_);
  }

 private:
  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", options_.dir, name);
  }

  // The newest manifest, its counters, and the store of domains as it names
  // it.
  Status ReadCheckpoint() {
    Status opened;
    Status found;
    std::vector<Error> damaged;
    for (int i = 0; i < kTries; ++i) {
      auto stored =
          job::ReadManifests(fs_, Path(job::kManifestsDir), file_.key_seed);
      if (!stored.has_value()) {
        // Removed by a crawl between a look at the folder and at its files.
        found = Unexpected(std::move(stored).error());
        if (found.error().code == ErrorCode::kNotFound) continue;
        return found;
      }
      if (!stored->newest) {
        figures_.notes.emplace_back(
            "No checkpoint yet: counters, in-degrees and budgets are not "
            "known.");
        return {};
      }
      damaged = std::move(stored->damaged);
      manifest_ = *std::move(stored->newest);
      opened = OpenDomains();
      if (opened.has_value() || opened.error().code != ErrorCode::kNotFound) {
        break;
      }
    }
    if (!manifest_) return found;
    if (!opened.has_value()) Damaged(opened.error().message);
    for (const Error& error : damaged) Damaged(error.message);
    return ReadCounters();
  }

  Status ReadCounters() {
    const auto part = manifest_->parts.find("status");
    auto status = part == manifest_->parts.end() ? std::nullopt
                                                 : ParseStatus(part->second);
    if (!status) {
      return Unexpected(
          Error{ErrorCode::kCorruption,
                options_.dir + ": the checkpoint has no counters"});
    }
    figures_.status = *std::move(status);
    return {};
  }

  // Without budgets there is none.
  Status OpenDomains() {
    figures_.has_budgets = manifest_->parts.contains("reputation");
    const auto budget = manifest_->parts.find("budget");
    if (!figures_.has_budgets || budget == manifest_->parts.end()) return {};
    const auto generations = item::ReadGenerations(budget->second, 1);
    if (!generations) return item::DamagedCommit("budget");
    NEPHILA_TRY(scan_, drum::ScanCommit(fs_, Path("budget/domains"),
                                        generations->front(), {}));
    return {};
  }

  void ReadSettings() {
    if (manifest_) {
      if (auto of_run = job::SettingsOf(*manifest_)) settings_ = *of_run;
    }
    ApplyFixed(file_, &settings_);
    for (const std::string_view name : kShownSettings) {
      std::string value = SettingText(settings_, name);
      figures_.settings.emplace_back(name, std::move(value));
    }
  }

  void Damaged(std::string what) {
    const std::string dir = options_.dir + "/";
    for (size_t at = what.find(dir); at != std::string::npos;
         at = what.find(dir, at)) {
      what.erase(at, dir.size());
    }
    figures_.damages.push_back(std::move(what));
  }

  void ReadHistory() {
    auto reader = job::HistoryReader::Open(fs_, options_.dir, file_.key_seed);
    if (!reader.has_value()) {
      if (reader.error().code != ErrorCode::kNotFound) {
        Damaged(reader.error().message);
      }
      return;
    }
    job::HistoryRecord record;
    while (reader->Next(&record)) {
      TimePoint point;
      point.run = record.run;
      point.when = record.when;
      point.elapsed_s = Seconds(record.elapsed);
      point.pages = record.Get("pages");
      point.bytes = record.Get("bytes");
      // Those that were decided.
      point.links =
          record.Get("seen.out") + record.Get("seen.dropped.duplicate");
      point.unique = record.Get("seen.out");
      point.in_flight = record.Get("in_flight");
      point.waiting = record.Get("waiting");
      point.memory_bytes = record.Get("memory");
      if (figures_.history.empty() ||
          figures_.history.back().run != point.run) {
        ++figures_.runs;
      }
      figures_.history.push_back(point);
    }
    if (!reader->damaged().empty()) {
      Damaged(
          fmt::format("history: damaged at {} places, the first at offset "
                      "{}; what is there is left out",
                      reader->damaged().size(), reader->damaged().front()));
    }
    if (figures_.history.empty()) return;
    figures_.began = figures_.history.front().when;
    figures_.last = figures_.history.back().when;
    figures_.elapsed_s = figures_.history.back().elapsed_s;
  }

  Status ReadSuffixes() {
    NEPHILA_TRY(const std::string text,
                job::JobFolder::ReadSuffixList(fs_, options_.dir, file_));
    if (text.empty()) {
      suffixes_ = url::PublicSuffixList::BuiltIn();
      return {};
    }
    NEPHILA_TRY(suffixes_, url::PublicSuffixList::Parse(text));
    return {};
  }

  Status ReadLogs() {
    url::Canonicalizer canonicalizer(settings_.url, *suffixes_, file_.key_seed);
    SumTable hosts(fs_, options_.scratch, "hosts", options_.memory_bytes);
    SumTable domains(fs_, options_.scratch, "domains", options_.memory_bytes);
    LogFigures log(fs_, canonicalizer, &hosts, &domains);
    NEPHILA_TRY(const auto paths, LogFiles(fs_, Path(job::kArchiveDir)));
    for (const std::string& path : paths) {
      if (Status read = log.Read(path); !read.has_value()) {
        if (read.error().code != ErrorCode::kCorruption) return read;
        Damaged(read.error().message);
      }
    }
    log.Fill(&figures_);
    figures_.limits = ListLimits(
        figures_, settings_,
        [&](std::string_view annotation) { return log.Annotated(annotation); });
    NEPHILA_RETURN_IF_ERROR(RankHosts(&hosts));
    NEPHILA_RETURN_IF_ERROR(RankDomains(&domains));
    return NameRows(paths, canonicalizer);
  }

  Status RankHosts(SumTable* hosts) {
    // A host with one slow page says little.
    constexpr uint64_t kEnough = 3;
    TopRows<HostRow> largest(options_.top,
                             [](const HostRow& row) { return row.pages; });
    TopRows<HostRow> slowest(options_.top, [](const HostRow& row) {
      if (row.pages < kEnough) return uint64_t{0};
      return static_cast<uint64_t>(row.mean_s * 1e6);
    });
    NEPHILA_RETURN_IF_ERROR(
        hosts->Merge([&](uint64_t key, const Sums& sums) -> Status {
          if (sums.pages == 0) return {};
          ++figures_.hosts;
          HostRow row;
          row.key = key;
          row.pages = sums.pages;
          row.bytes = sums.bytes;
          row.failures = sums.failures;
          row.mean_s = static_cast<double>(sums.millis) / 1e3 /
                       static_cast<double>(sums.pages);
          largest.Add(row);
          slowest.Add(row);
          return {};
        }));
    figures_.largest_hosts = largest.rows();
    figures_.slowest_hosts = slowest.rows();
    return {};
  }

  Status RankDomains(SumTable* domains) {
    std::string bytes;
    std::optional<item::BudgetFunction> function;
    if (scan_ != nullptr) {
      auto made = reputation::Reputation::FunctionOf(
          settings_.reputation, manifest_->parts.find("reputation")->second);
      if (made.has_value()) {
        bytes = *std::move(made);
        function = item::BudgetFunction::Read(bytes);
      } else {
        Damaged(made.error().message);
      }
    }
    DomainJoin join(scan_.get(), function ? &*function : nullptr, options_.top);
    Status joined = domains->Merge(
        [&](uint64_t key, const Sums& sums) { return join.Take(key, sums); });
    if (joined.has_value()) joined = join.Finish();
    if (!joined.has_value()) Damaged(joined.error().message);
    join.Fill(&figures_);
    return {};
  }

  Status NameRows(const std::vector<std::string>& paths,
                  url::Canonicalizer& canonicalizer) {
    std::unordered_map<uint64_t, std::string> hosts;
    std::unordered_map<uint64_t, std::string> domains;
    for (auto* rows : {&figures_.largest_hosts, &figures_.slowest_hosts}) {
      for (const HostRow& row : *rows) hosts[row.key];
    }
    for (auto* rows : {&figures_.top_by_degree, &figures_.top_by_pages}) {
      for (const DomainRow& row : *rows) {
        // Those that are in no log would have all of it read.
        if (row.pages > 0) domains[row.key];
      }
    }
    NEPHILA_RETURN_IF_ERROR(
        FindNames(fs_, paths, canonicalizer, &hosts, &domains));
    for (auto* rows : {&figures_.largest_hosts, &figures_.slowest_hosts}) {
      for (HostRow& row : *rows) row.name = hosts[row.key];
    }
    for (auto* rows : {&figures_.top_by_degree, &figures_.top_by_pages}) {
      for (DomainRow& row : *rows) row.name = domains[row.key];
    }
    return {};
  }

  void ListFiles() {
    figures_.files = {
        {"archive/", "the pages: WARC files, each with its index (.cdxj)"},
        {"archive/crawl.log", "a line for each attempt, in Heritrix's columns"},
        {"history", "the counters over time"},
        {"job.toml", "what was fixed when the job was made"}};
  }

  FileSystem& fs_;
  const ReportOptions& options_;
  config::Settings settings_;
  job::JobFile file_;
  std::optional<job::Manifest> manifest_;
  std::unique_ptr<drum::Scan> scan_;
  std::optional<url::PublicSuffixList> suffixes_;
  Figures figures_;
};

}  // namespace

Result<Figures> ReadFigures(FileSystem& fs, const ReportOptions& options) {
  return JobReader(fs, options).Run();
}

Result<uint64_t> LogBytes(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const auto paths,
              LogFiles(fs, dir + "/" + std::string(job::kArchiveDir)));
  uint64_t bytes = 0;
  for (const std::string& path : paths) {
    NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kRead));
    NEPHILA_TRY(const uint64_t size, file->Size());
    bytes += size;
  }
  return bytes;
}

}  // namespace nephila::report
