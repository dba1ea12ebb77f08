#include "check/job_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/commit_file.h"
#include "base/text.h"
#include "check/archive_check.h"
#include "check/journal_check.h"
#include "check/stages_check.h"
#include "crawl/archive_folders.h"
#include "crawl/contact_log.h"
#include "crawl/frontier.h"
#include "job/history.h"
#include "job/job_folder.h"
#include "job/manifest.h"
#include "job/quarantine.h"
#include "politeness/saved_waits.h"
#include "url/public_suffix.h"

namespace nephila::check {
namespace {

constexpr std::string_view kManifestPrefix = "manifest-";
// Allocated blocks that mean nothing.
constexpr std::string_view kReserve = "reserve";
constexpr size_t kMostStatusBytes = 64;
constexpr int kMostDepth = 8;

// Beside the state of the crawl: what people say to it and read of it.
bool IsOfPeople(std::string_view name) {
  return name == job::kControlName || name == job::kLogName ||
         name == job::kSettingsName || name == job::kHistoryName ||
         name == job::kCommandsName;
}

class JobCheck {
 public:
  JobCheck(FileSystem& fs, const Clock& clock, const JobCheckOptions& options)
      : fs_(fs),
        clock_(clock),
        options_(options),
        findings_(options.dir, options.most_damages) {}

  Result<CheckReport> Run() {
    NEPHILA_TRY(const bool has_file, fs_.Exists(Path(job::kJobFileName)));
    NEPHILA_TRY(const bool has_journal, fs_.Exists(Path(job::kJournalDir)));
    if (!has_file && !has_journal) {
      return Unexpected(
          Error{ErrorCode::kNotFound, options_.dir + ": no job is there"});
    }
    NEPHILA_RETURN_IF_ERROR(TakeLock());
    NEPHILA_TRY(const bool go_on, CheckJobFile());
    if (!go_on) return findings_.Take();
    CheckManifests();
    CheckHistory();
    CheckRest();
    CheckStrays();
    return findings_.Take();
  }

 private:
  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", options_.dir, name);
  }
  std::string ManifestPath(uint64_t number) const {
    return Path(job::kManifestsDir) + "/" +
           CommitFileName(kManifestPrefix, number);
  }

  // Without writing our number into it, as one who works on the job does.
  Status TakeLock() {
    const std::string path = Path(job::kLockName);
    files_.insert(path);
    NEPHILA_TRY(const bool exists, fs_.Exists(path));
    if (!exists) {
      findings_.Note(path, std::nullopt,
                     "missing: the next start makes it anew");
      return {};
    }
    auto lock = fs_.Lock(path);
    if (lock.has_value()) {
      lock_ = *std::move(lock);
      return {};
    }
    if (lock.error().code != ErrorCode::kBusy) {
      return Unexpected(std::move(lock).error());
    }
    const auto holder = ReadWholeFile(fs_, path, kMostStatusBytes);
    const std::string number =
        holder.has_value() ? holder->substr(0, holder->find('\n')) : "";
    return Unexpected(
        Error{ErrorCode::kBusy,
              fmt::format("{}: process {} is working on this job; stop it "
                          "first",
                          options_.dir, EscapeForTerminal(number))});
  }

  // False if nothing else can be looked at.
  Result<bool> CheckJobFile() {
    const std::string path = Path(job::kJobFileName);
    files_.insert(path);
    files_.insert(Path("report.html"));
    auto file = job::JobFolder::Read(fs_, options_.dir);
    if (!file.has_value()) {
      if (file.error().code == ErrorCode::kUnsupported) {
        return Unexpected(std::move(file).error());
      }
      findings_.Report(path, std::nullopt, file.error().message);
      findings_.EndPart("job", "cannot be read");
      return false;
    }
    file_ = *std::move(file);
    NEPHILA_RETURN_IF_ERROR(CheckFixed(file_, options_.settings, options_.dir));
    CheckSuffixList();
    CheckQuarantine();
    CheckContacts();
    files_.insert(Path(job::kBlockedFile));
    for (const std::string_view name :
         {job::kJournalDir, job::kManifestsDir, job::kSeenDir,
          job::kReputationDir, job::kBudgetDir, job::kRobotsDir, job::kReadyDir,
          job::kArchiveDir}) {
      NEPHILA_TRY(const bool exists, fs_.Exists(Path(name)));
      if (!exists) {
        findings_.Report(Path(name), std::nullopt, "this folder is gone");
      }
    }
    findings_.EndPart(
        "job", fmt::format("format {}, made {} by nephila {}", job::kJobFormat,
                           file_.made, file_.version));
    return true;
  }

  // Damaged ones cost the next start the time to leave everyone alone.
  void CheckContacts() {
    const std::string dir = Path(job::kContactsDir);
    const auto entries = fs_.List(dir);
    if (!entries.has_value()) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = dir + "/" + entry.name;
      files_.insert(path);
      const Status sound = crawl::ContactLog::Check(fs_, path, file_.key_seed);
      if (!sound.has_value()) {
        findings_.Note(path, std::nullopt,
                       "damaged: a start would take everyone for contacted");
      }
    }
  }

  // The slots say what the last process read, and nothing when it has ended:
  // what is no slot the next start makes anew.
  void CheckQuarantine() {
    const std::string path = Path(job::kQuarantineName);
    files_.insert(path);
    files_.insert(Path(job::kSlotsName));
    const Status sound = job::Quarantine::Check(fs_, options_.dir);
    if (!sound.has_value()) {
      findings_.Report(path, std::nullopt, sound.error().message);
    }
  }

  // Below what a manifest has seen, all of it is records; behind, a crash may
  // have torn it.
  void CheckHistory() {
    const std::string path = Path(job::kHistoryName);
    files_.insert(path);
    std::optional<job::HistoryMark> mark;
    if (manifests_.newest) {
      const auto part = manifests_.newest->parts.find("history");
      if (part != manifests_.newest->parts.end()) {
        mark = job::ReadHistoryMark(part->second);
      }
    }
    auto reader = job::HistoryReader::Open(fs_, options_.dir, file_.key_seed);
    if (!reader.has_value()) {
      if (reader.error().code != ErrorCode::kNotFound ||
          (mark && mark->bytes > 0)) {
        findings_.Report(path, std::nullopt, reader.error().message);
      }
      findings_.EndPart("history", "none");
      return;
    }
    job::HistoryRecord record;
    uint64_t records = 0;
    while (reader->Next(&record)) ++records;
    for (const uint64_t offset : reader->damaged()) {
      findings_.Report(path, offset, "no record of the history is here");
    }
    const bool is_same = mark && mark->rewrites == reader->rewrites();
    if (is_same && reader->end() < mark->bytes) {
      findings_.Report(
          path, reader->end(),
          fmt::format("the last record ends here, and a checkpoint has seen "
                      "{} bytes",
                      mark->bytes));
    } else if (reader->torn_bytes() > 0) {
      findings_.Note(path, reader->end(),
                     "no whole record: a crash left it, the next start cuts "
                     "it");
    }
    findings_.EndPart("history", fmt::format("{} records of {} runs", records,
                                             records == 0 ? 0 : record.run));
  }

  void CheckSuffixList() {
    if (file_.suffix_list_bytes == 0) {
      suffixes_ = url::PublicSuffixList::BuiltIn();
      return;
    }
    const std::string path = Path(job::kSuffixListName);
    files_.insert(path);
    const auto text = ReadWholeFile(fs_, path, job::kMostSuffixListBytes);
    if (!text.has_value()) {
      findings_.Report(path, std::nullopt, text.error().message);
      return;
    }
    if (text->size() != file_.suffix_list_bytes ||
        Crc32c(*text) != file_.suffix_list_crc) {
      findings_.Report(path, std::nullopt, "its checksum does not fit");
      return;
    }
    auto list = url::PublicSuffixList::Parse(*text);
    if (!list.has_value()) {
      findings_.Report(path, std::nullopt, list.error().message);
      return;
    }
    suffixes_ = *std::move(list);
  }

  void CheckManifests() {
    const std::string dir = Path(job::kManifestsDir);
    const auto numbers = ListCommitFiles(fs_, dir, kManifestPrefix);
    if (numbers.has_value()) {
      for (const uint64_t number : *numbers) {
        files_.insert(ManifestPath(number));
      }
    }
    auto stored = job::ReadManifests(fs_, dir, file_.key_seed);
    if (stored.has_value()) {
      manifests_ = *std::move(stored);
    } else {
      // None is whole: each is named by itself.
      const bool any = numbers.has_value() && !numbers->empty();
      findings_.Report(any ? ManifestPath(numbers->back()) : dir, std::nullopt,
                       stored.error().message);
      is_readable_ = false;
    }
    for (const Error& error : manifests_.damaged) {
      findings_.Report(FileIn(error.message), std::nullopt, error.message);
    }
    if (manifests_.newest && !manifests_.before && manifests_.damaged.empty() &&
        manifests_.newest->number > 1) {
      findings_.Report(dir, std::nullopt,
                       fmt::format("the manifest before {} is missing",
                                   manifests_.newest->number));
    }
    for (const auto* manifest : {&manifests_.newest, &manifests_.before}) {
      if (*manifest) CheckParts(**manifest);
    }
    EndManifests();
  }

  // Of a message that names one of the manifests.
  std::string FileIn(const std::string& message) const {
    for (const std::string& path : files_) {
      if (path.find(kManifestPrefix) != std::string::npos &&
          message.find(path) != std::string::npos) {
        return path;
      }
    }
    return Path(job::kManifestsDir);
  }

  void CheckParts(const job::Manifest& manifest) {
    const std::string path = ManifestPath(manifest.number);
    const auto archive = manifest.parts.find("archive");
    if (archive == manifest.parts.end()) {
      findings_.Report(path, std::nullopt, "it has no part archive");
    } else if (const auto part = crawl::ReadArchivePart(archive->second);
               !part.has_value()) {
      findings_.Report(path, std::nullopt, part.error().message);
    } else if (&manifest == &*manifests_.newest) {
      archive_ = *part;
    }
    const auto waits = manifest.parts.find("waits");
    if (waits != manifest.parts.end() &&
        !politeness::ParseWaits(waits->second)) {
      findings_.Report(path, std::nullopt, "its part waits cannot be read");
    }
    if (const auto entry = crawl::Frontier::NextEntry(manifest.parts);
        !entry.has_value()) {
      findings_.Report(path, std::nullopt, entry.error().message);
    }
  }

  void EndManifests() {
    std::string text = "none: stopped before its first checkpoint";
    if (manifests_.newest) {
      text = fmt::format("{}", manifests_.newest->number);
      if (manifests_.before) {
        text += fmt::format(" and {}", manifests_.before->number);
      }
      text += fmt::format(", {} parts", manifests_.newest->parts.size());
    }
    findings_.EndPart("manifests", text);
  }

  void CheckRest() {
    JournalNeeds needs;
    needs.key_seed = file_.key_seed;
    if (manifests_.newest) {
      needs.covered = NextEntry(*manifests_.newest) - 1;
      needs.from = NextEntry(manifests_.before ? *manifests_.before
                                               : *manifests_.newest);
      // Between two entries nothing of the older one is left to take.
    }
    const JournalFacts journal =
        CheckJournal(fs_, Path(job::kJournalDir), needs, &findings_, &files_);
    CheckStages();
    CheckArchive(journal);
  }

  static uint64_t NextEntry(const job::Manifest& manifest) {
    const auto next = crawl::Frontier::NextEntry(manifest.parts);
    return next.has_value() && *next > 0 ? *next : 1;
  }

  void CheckStages() {
    if (!suffixes_ || !manifests_.newest) return;
    config::Settings settings = options_.settings;
    settings.crawl.memory_bytes =
        std::min(settings.crawl.memory_bytes, options_.memory_bytes);
    StagesCheck::Parts parts{fs_,        clock_,       settings,
                             *suffixes_, options_.dir, file_.key_seed};
    StagesCheck stages(std::move(parts), &findings_);
    for (const auto& manifest : {manifests_.newest, manifests_.before}) {
      if (manifest) stages.Check(*manifest, ManifestPath(manifest->number));
    }
    files_.insert(stages.files().begin(), stages.files().end());
  }

  void CheckArchive(const JournalFacts& journal) {
    ArchiveCheck::Parts parts{
        fs_,
        Path(job::kArchiveDir),
        crawl::ArchivePaths(options_.dir, options_.settings.store.folders,
                            archive_.folders),
        options_.settings.store.prefix,
        options_.scratch,
        options_.memory_bytes,
        archive_.streams,
        journal};
    std::optional<url::Canonicalizer> canonicalizer;
    if (suffixes_) {
      canonicalizer.emplace(options_.settings.url, *suffixes_, file_.key_seed);
      parts.canonicalizer = &*canonicalizer;
    }
    ArchiveCheck archive(parts, &findings_);
    archive.Run();
    files_.insert(archive.files().begin(), archive.files().end());
  }

  void CheckStrays() {
    uint64_t strays = 0;
    Walk(options_.dir, 0, &strays);
    findings_.EndPart("strays", fmt::format("{} files", strays));
  }

  void Walk(const std::string& dir, int depth, uint64_t* strays) {
    const auto entries = fs_.List(dir);
    if (!entries.has_value() || depth > kMostDepth) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = dir + "/" + entry.name;
      if (entry.is_directory) {
        Walk(path, depth + 1, strays);
        continue;
      }
      if (files_.contains(path) || entry.name == kReserve) continue;
      if (depth == 0 && IsOfPeople(entry.name)) continue;
      // Without a manifest that can be read nothing names the stores.
      if (!is_readable_) continue;
      ++*strays;
      findings_.Note(path, std::nullopt, "stray: nothing names this file");
    }
  }

  FileSystem& fs_;
  const Clock& clock_;
  const JobCheckOptions& options_;
  Findings findings_;
  std::unique_ptr<FileLock> lock_;
  job::JobFile file_;
  std::optional<url::PublicSuffixList> suffixes_;
  job::StoredManifests manifests_;
  crawl::ArchivePart archive_;  // of the newest
  bool is_readable_ = true;
  std::set<std::string> files_;
};

}  // namespace

Result<CheckReport> CheckJob(FileSystem& fs, const Clock& clock,
                             const JobCheckOptions& options) {
  return JobCheck(fs, clock, options).Run();
}

}  // namespace nephila::check
