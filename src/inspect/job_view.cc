#include "inspect/job_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/commit_file.h"
#include "crawl/accounts.h"
#include "crawl/archived_page.h"
#include "crawl/frontier.h"
#include "job/job_folder.h"
#include "job/journal_file.h"
#include "job/journal_reader.h"
#include "reputation/reputation.h"
#include "scope/block_files.h"
#include "store/archive_name.h"

namespace nephila::inspect {
namespace {

constexpr std::string_view kManifestPrefix = "manifest-";
// A crawl that makes so many checkpoints while one looks is too fast for it.
constexpr int kMostTries = 8;

Unexpected<Error> NoPart(std::string_view name) {
  return Unexpected(
      Error{ErrorCode::kCorruption,
            fmt::format("the manifest's part {} is damaged", name)});
}

Result<std::string_view> Part(const job::Manifest& manifest,
                              std::string_view name) {
  const auto part = manifest.parts.find(name);
  if (part == manifest.parts.end()) return NoPart(name);
  return std::string_view(part->second);
}

// 0: none.
uint64_t NewestManifest(FileSystem& fs, const std::string& dir) {
  const auto numbers = ListCommitFiles(
      fs, fmt::format("{}/{}", dir, job::kManifestsDir), kManifestPrefix);
  return numbers.has_value() && !numbers->empty() ? numbers->back() : 0;
}

}  // namespace

JobView::JobView(FileSystem& fs, const JobOptions& options)
    : fs_(fs), dir_(options.dir), settings_(options.settings) {}

std::string JobView::Path(std::string_view name) const {
  return fmt::format("{}/{}", dir_, name);
}

Result<std::unique_ptr<JobView>> JobView::Open(FileSystem& fs,
                                               const JobOptions& options) {
  std::unique_ptr<JobView> job(new JobView(fs, options));
  NEPHILA_RETURN_IF_ERROR(job->Load());
  return job;
}

Status JobView::Load() {
  auto file = job::JobFolder::Read(fs_, dir_);
  if (!file.has_value()) {
    if (file.error().code != ErrorCode::kNotFound) {
      return Unexpected(std::move(file).error());
    }
    return Unexpected(Error{ErrorCode::kNotFound, dir_ + ": no job is there"});
  }
  file_ = *std::move(file);
  ApplyFixed(file_, &settings_);
  NEPHILA_RETURN_IF_ERROR(LoadSuffixes());
  canonicalizer_.emplace(settings_.url, suffixes_, file_.key_seed);
  NEPHILA_RETURN_IF_ERROR(LoadScope());
  NEPHILA_TRY(
      const job::StoredManifests stored,
      job::ReadManifests(fs_, Path(job::kManifestsDir), file_.key_seed));
  if (stored.newest) {
    NEPHILA_RETURN_IF_ERROR(LoadStages(*stored.newest));
  }
  archives_ =
      crawl::ArchivePaths(dir_, settings_.store.folders, archive_.folders);
  return FindStreams();
}

Status JobView::LoadScope() {
  NEPHILA_TRY(scope_, scope::Scope::Make(settings_.scope, suffixes_));
  NEPHILA_TRY(const auto blocks,
              scope::BlockFiles::Open(
                  {fs_, settings_, suffixes_, Path(job::kBlockedFile)}));
  scope_->SetBlocks(blocks->lists());
  return {};
}

Status JobView::LoadSuffixes() {
  NEPHILA_TRY(const std::string text,
              job::JobFolder::ReadSuffixList(fs_, dir_, file_));
  if (text.empty()) {
    suffixes_ = url::PublicSuffixList::BuiltIn();
    return {};
  }
  NEPHILA_TRY(suffixes_, url::PublicSuffixList::Parse(text));
  return {};
}

Status JobView::LoadStages(const job::Manifest& manifest) {
  manifest_ = manifest.number;
  // Without budgets the part `budget` is counters alone.
  settings_.crawl.budgets = manifest.parts.contains("reputation");
  Stages& stages = stages_.emplace();
  NEPHILA_TRY(const std::string_view seen, Part(manifest, "seen"));
  NEPHILA_TRY(stages.seen,
              seen::SeenView::Open(fs_, Path(job::kSeenDir), seen));
  if (const auto part = manifest.parts.find("caps");
      part != manifest.parts.end()) {
    NEPHILA_TRY(stages.caps,
                caps::CapsView::Open(fs_, Path(job::kCapsDir), settings_.scope,
                                     file_.key_seed, part->second));
  }
  if (settings_.crawl.budgets) {
    NEPHILA_TRY(const std::string_view budget, Part(manifest, "budget"));
    NEPHILA_TRY(stages.budget,
                budget::BudgetView::Open(fs_, Path(job::kBudgetDir), budget));
    NEPHILA_TRY(const std::string_view commit, Part(manifest, "reputation"));
    NEPHILA_TRY(stages.budget_function, reputation::Reputation::FunctionOf(
                                            settings_.reputation, commit));
  }
  NEPHILA_TRY(const std::string_view robots, Part(manifest, "robots"));
  NEPHILA_TRY(stages.robots,
              robots::RobotsView::Open(fs_, Path(job::kRobotsDir), robots));
  NEPHILA_TRY(const std::string_view archive, Part(manifest, "archive"));
  NEPHILA_TRY(archive_, crawl::ReadArchivePart(archive));
  const auto waits = manifest.parts.find("waits");
  if (waits != manifest.parts.end()) waits_ = waits->second;
  return LoadFrontier(manifest, &stages);
}

Status JobView::LoadFrontier(const job::Manifest& manifest, Stages* stages) {
  NEPHILA_RETURN_IF_ERROR(crawl::Frontier::NextEntry(manifest.parts));
  NEPHILA_TRY(const std::string_view bytes, Part(manifest, "frontier"));
  ByteReader reader(bytes);
  if (!stages->frontier.Read(reader)) return NoPart("frontier");
  NEPHILA_RETURN_IF_ERROR(scope_->Read(reader));
  NEPHILA_TRY(const std::string_view ready, Part(manifest, "ready"));
  ByteReader ready_reader(ready);
  const auto generation = ready_reader.Varint();
  if (!generation.has_value()) return NoPart("ready");
  NEPHILA_TRY(stages->ready, disk_queue::SetScan::Open(
                                 fs_, Path(job::kReadyDir), *generation));
  return {};
}

Status JobView::FindStreams() {
  streams_ = archive_.streams.size();
  while (streams_ < crawl::kMostStreams) {
    NEPHILA_TRY(const bool exists,
                fs_.Exists(fmt::format("{}/{}", Path(job::kArchiveDir),
                                       crawl::LogName(streams_))));
    if (!exists) break;
    ++streams_;
  }
  return {};
}

Status JobView::ForEachEntry(
    const std::function<Result<bool>(const JournalEntry&)>& take) const {
  const std::string dir = Path(job::kJournalDir);
  const uint64_t next = stages_ ? stages_->frontier.next_entry : 1;
  NEPHILA_TRY(const auto files, job::ListJournal(fs_, dir));
  // What the manifest does not cover has to be there, the rest may.
  uint64_t from = next;
  if (!files.empty()) from = std::min(from, files.front());
  NEPHILA_TRY(job::JournalReader reader,
              job::JournalReader::Open(fs_, dir, from));
  while (true) {
    NEPHILA_TRY(const auto numbered, reader.Next());
    if (!numbered) return {};
    const auto entry = job::ReadEntry(numbered->bytes);
    if (!entry.has_value()) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              fmt::format("{}: entry {}: {}", dir,
                                          numbered->number, entry.error())});
    }
    NEPHILA_TRY(const bool more,
                take({numbered->number, numbered->number < next, *entry}));
    if (!more) return {};
  }
}

Status LookAt(FileSystem& fs, const JobOptions& options,
              const std::function<Status(JobView& job)>& look) {
  for (int i = 1;; ++i) {
    const uint64_t before = NewestManifest(fs, options.dir);
    auto job = JobView::Open(fs, options);
    Status status =
        job.has_value() ? look(**job) : Unexpected(std::move(job).error());
    if (status.has_value()) return {};
    const ErrorCode code = status.error().code;
    const bool may_be_gone =
        code == ErrorCode::kNotFound || code == ErrorCode::kCorruption;
    if (!may_be_gone || NewestManifest(fs, options.dir) == before) {
      return status;
    }
    if (i == kMostTries) {
      return Unexpected(Error{
          ErrorCode::kBusy,
          options.dir +
              ": the crawl makes checkpoints faster than this can be read; "
              "pause or stop it, or look without --scan"});
    }
  }
}

}  // namespace nephila::inspect
