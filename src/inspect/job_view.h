// JobView: a job as its last manifest has it, for those who look and do not
// touch: no lock is taken and nothing is written, so it works beside a crawl
// that runs.
//   In: a job's folder   Out: views of its stages, its scope, its keys
//   Threads: one   Memory: a commit of each store
//   Cost: commits and manifests are read, nothing else
//
// What a manifest names stays until two newer ones are durable. Where a crawl
// is faster than a reader, something of it is gone or used again: that is
// kNotFound or kCorruption, never a wrong answer, and LookAt begins again with
// the newest manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "budget/budget_view.h"
#include "caps/caps_view.h"
#include "config/settings.h"
#include "crawl/archive_folders.h"
#include "crawl/frontier_state.h"
#include "disk_queue/set_scan.h"
#include "job/entry.h"
#include "job/job_file.h"
#include "job/manifest.h"
#include "robots/robots_view.h"
#include "scope/scope.h"
#include "seen/seen_view.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::inspect {

struct JobOptions {
  std::string dir;
  // As a crawl would take them.
  config::Settings settings;
};

class JobView {
 public:
  // The stages, as the manifest has them. A job that was stopped before its
  // first one has none, only a journal.
  struct Stages {
    crawl::FrontierState frontier;
    std::optional<seen::SeenView> seen;
    std::optional<caps::CapsView> caps;        // with a cap
    std::optional<budget::BudgetView> budget;  // with budgets
    std::string budget_function;               // with budgets
    std::optional<robots::RobotsView> robots;
    std::optional<disk_queue::SetScan> ready;
  };

  // kNotFound if there is no job. `fs` outlives this.
  static Result<std::unique_ptr<JobView>> Open(FileSystem& fs,
                                               const JobOptions& options);
  JobView(const JobView&) = delete;
  JobView& operator=(const JobView&) = delete;

  FileSystem& fs() const { return fs_; }
  const std::string& dir() const { return dir_; }
  std::string Path(std::string_view name) const;
  const config::Settings& settings() const { return settings_; }
  const url::PublicSuffixList& suffixes() const { return suffixes_; }
  url::Canonicalizer& canonicalizer() { return *canonicalizer_; }
  uint64_t seed() const { return file_.key_seed; }
  uint64_t manifest() const { return manifest_; }  // its number; 0: none
  const std::optional<Stages>& stages() const { return stages_; }
  const scope::Scope& scope() const { return *scope_; }
  const std::string& waits() const { return waits_; }  // of `politeness`
  // Folders of archives, and how many streams there are.
  const std::vector<std::string>& archives() const { return archives_; }
  size_t streams() const { return streams_; }

  // Entries of the journal, all that are there: those that the manifest does
  // not cover, and some before. False ends it.
  struct JournalEntry {
    uint64_t number = 0;
    bool is_covered = false;  // by the manifest
    job::Entry entry;
  };
  Status ForEachEntry(
      const std::function<Result<bool>(const JournalEntry&)>& take) const;

 private:
  JobView(FileSystem& fs, const JobOptions& options);
  Status Load();
  Status LoadSuffixes();
  Status LoadScope();
  Status LoadStages(const job::Manifest& manifest);
  Status LoadFrontier(const job::Manifest& manifest, Stages* stages);
  Status FindStreams();

  FileSystem& fs_;
  const std::string dir_;
  config::Settings settings_;
  job::JobFile file_;
  url::PublicSuffixList suffixes_;
  std::optional<url::Canonicalizer> canonicalizer_;
  std::optional<scope::Scope> scope_;
  uint64_t manifest_ = 0;
  std::optional<Stages> stages_;
  std::string waits_;
  crawl::ArchivePart archive_;
  std::vector<std::string> archives_;
  size_t streams_ = 0;
};

// Opens a job and looks at it; again while what it looked at has gone and a
// newer manifest is there, some times. An error otherwise is that of `look`.
Status LookAt(FileSystem& fs, const JobOptions& options,
              const std::function<Status(JobView& job)>& look);

}  // namespace nephila::inspect
