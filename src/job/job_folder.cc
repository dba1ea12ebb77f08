#include "job/job_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "config/load.h"
#include "config/table.h"

namespace nephila::job {
namespace {

constexpr std::string_view kAsideSuffix = ".tmp";
constexpr std::string_view kFolders[] = {
    kJournalDir, kManifestsDir, kSeenDir,  kReputationDir,
    kBudgetDir,  kRobotsDir,    kReadyDir, kArchiveDir};
constexpr size_t kMostLockBytes = 64;

std::string Join(const std::string& dir, std::string_view name) {
  return dir + "/" + std::string(name);
}

bool IsFolder(std::string_view name) {
  return std::find(std::begin(kFolders), std::end(kFolders), name) !=
         std::end(kFolders);
}

// Whether the making of a job leaves this before there is a job.
Result<bool> IsLeftover(FileSystem& fs, const std::string& dir,
                        const DirEntry& entry) {
  if (entry.is_directory) {
    if (!IsFolder(entry.name)) return false;
    NEPHILA_TRY(const auto within, fs.List(Join(dir, entry.name)));
    return within.empty();
  }
  std::string_view name = entry.name;
  if (name == kLockName) return true;
  if (name.ends_with(kAsideSuffix)) {
    name.remove_suffix(kAsideSuffix.size());
    if (name == kJobFileName) return true;
  }
  return name == kSuffixListName;
}

struct Found {
  JobState state = JobState::kNone;
  std::string other;  // the first name that is none of ours
};

Result<Found> LookAt(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const bool exists, fs.Exists(dir));
  if (!exists) return Found{};
  NEPHILA_TRY(const auto entries, fs.List(dir));
  Found found;
  for (const DirEntry& entry : entries) {
    if (entry.name == kJobFileName && !entry.is_directory) {
      return Found{JobState::kJob, {}};
    }
    NEPHILA_TRY(const bool leftover, IsLeftover(fs, dir, entry));
    if (leftover || found.state == JobState::kOther) continue;
    found = {JobState::kOther, entry.name};
  }
  return found;
}

Unexpected<Error> HoldsOther(const std::string& dir, const std::string& name) {
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{}: holds {} and no job; give the folder of a job, or one "
                  "that is empty or not there",
                  dir, config::Printable(name))});
}

Unexpected<Error> NoJob(const std::string& dir) {
  return Unexpected(Error{ErrorCode::kNotFound, dir + ": there is no job"});
}

// Who holds the lock, as it says itself.
std::string Holder(FileSystem& fs, const std::string& path) {
  const auto text = ReadWholeFile(fs, path, kMostLockBytes);
  uint64_t process = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), process).ec !=
          std::errc() ||
      process == 0) {
    return "another process";
  }
  return fmt::format("process {}", process);
}

}  // namespace

JobFolder::JobFolder(FileSystem& fs, std::string dir)
    : fs_(fs), dir_(std::move(dir)) {}

Result<JobState> JobFolder::Look(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const Found found, LookAt(fs, dir));
  return found.state;
}

Result<JobFile> JobFolder::Read(FileSystem& fs, const std::string& dir) {
  const std::string path = Join(dir, kJobFileName);
  const auto text = ReadWholeFile(fs, path, config::kMaxTomlBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return NoJob(dir);
  if (!text) return Unexpected(text.error());
  return ReadJobFile(*text, path);
}

Result<std::unique_ptr<JobFolder>> JobFolder::Create(
    FileSystem& fs, const std::string& dir, const JobRequest& request) {
  NEPHILA_TRY(const Found before, LookAt(fs, dir));
  // Not even a lock is left in what is not ours.
  if (before.state == JobState::kOther) return HoldsOther(dir, before.other);
  NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, dir));
  std::unique_ptr<JobFolder> job(new JobFolder(fs, dir));
  NEPHILA_RETURN_IF_ERROR(job->TakeLock(request.process_id));
  // Another process may have been faster.
  NEPHILA_TRY(const Found found, LookAt(fs, dir));
  if (found.state == JobState::kOther) return HoldsOther(dir, found.other);
  if (found.state == JobState::kJob) {
    return Unexpected(
        Error{ErrorCode::kAlreadyExists, dir + ": there is a job already"});
  }
  NEPHILA_RETURN_IF_ERROR(job->Make(request));
  return job;
}

Result<std::unique_ptr<JobFolder>> JobFolder::Open(FileSystem& fs,
                                                   const std::string& dir,
                                                   const JobRequest& request) {
  NEPHILA_TRY(const Found found, LookAt(fs, dir));
  if (found.state == JobState::kOther) return HoldsOther(dir, found.other);
  if (found.state == JobState::kNone) return NoJob(dir);
  std::unique_ptr<JobFolder> job(new JobFolder(fs, dir));
  NEPHILA_RETURN_IF_ERROR(job->TakeLock(request.process_id));
  NEPHILA_RETURN_IF_ERROR(job->Load(request));
  return job;
}

Result<std::unique_ptr<JobFolder>> JobFolder::OpenOrCreate(
    FileSystem& fs, const std::string& dir, const JobRequest& request) {
  NEPHILA_TRY(const JobState state, Look(fs, dir));
  if (state == JobState::kJob) return Open(fs, dir, request);
  return Create(fs, dir, request);
}

std::string JobFolder::Path(std::string_view name) const {
  return Join(dir_, name);
}

Status JobFolder::TakeLock(uint64_t process_id) {
  const std::string path = Path(kLockName);
  auto lock = fs_.Lock(path);
  if (!lock) {
    if (lock.error().code != ErrorCode::kBusy) {
      return Unexpected(std::move(lock).error());
    }
    return Unexpected(Error{
        ErrorCode::kBusy, fmt::format("{}: {} is working on this job; stop it "
                                      "first, or give another folder",
                                      dir_, Holder(fs_, path))});
  }
  lock_ = *std::move(lock);
  const std::string text = fmt::format("{}\n", process_id);
  if (const auto file = fs_.Open(path, OpenMode::kReadWrite)) {
    IgnoreError((*file)->Truncate(0), "it is only for a message");
    IgnoreError((*file)->Write(0, std::as_bytes(std::span(text))),
                "it is only for a message");
  }
  return {};
}

// What an earlier attempt left is made anew: it may be there and yet never
// become durable (base/file.h). The job's file is last.
Status JobFolder::Make(const JobRequest& request) {
  if (request.suffix_list.size() > kMostSuffixListBytes) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "the public suffix list is larger than 16 MiB"});
  }
  NEPHILA_RETURN_IF_ERROR(MakeFolders());
  file_.key_seed = request.key_seed;
  file_.made = FormatUtc(request.now);
  file_.version = request.version;
  file_.profile = request.profile;
  JobFile asked;
  asked.fixed = request.settings;
  ApplyFixed(asked, &file_.fixed);
  if (!request.suffix_list.empty()) {
    suffix_list_ = request.suffix_list;
    file_.suffix_list_crc = Crc32c(suffix_list_);
    file_.suffix_list_bytes = suffix_list_.size();
    NEPHILA_RETURN_IF_ERROR(
        PublishFile(fs_, Path(kSuffixListName), suffix_list_));
  }
  NEPHILA_RETURN_IF_ERROR(
      PublishFile(fs_, Path(kJobFileName), FormatJobFile(file_)));
  is_new_ = true;
  return {};
}

Status JobFolder::MakeFolders() {
  NEPHILA_TRY(const auto entries, fs_.List(dir_));
  for (const DirEntry& entry : entries) {
    if (entry.name == kLockName) continue;
    NEPHILA_TRY(const bool leftover, IsLeftover(fs_, dir_, entry));
    if (!leftover) return HoldsOther(dir_, entry.name);
    const std::string path = Path(entry.name);
    NEPHILA_RETURN_IF_ERROR(entry.is_directory ? fs_.RemoveDir(path)
                                               : fs_.Remove(path));
  }
  for (const std::string_view name : kFolders) {
    NEPHILA_RETURN_IF_ERROR(fs_.MakeDir(Path(name)));
  }
  return fs_.SyncDir(dir_);
}

Status JobFolder::Load(const JobRequest& request) {
  NEPHILA_TRY(file_, Read(fs_, dir_));
  NEPHILA_RETURN_IF_ERROR(CheckFixed(file_, request.settings, dir_));
  NEPHILA_RETURN_IF_ERROR(LoadSuffixList(request.suffix_list));
  for (const std::string_view name : kFolders) {
    NEPHILA_TRY(const bool exists, fs_.Exists(Path(name)));
    if (exists) continue;
    return Unexpected(
        Error{ErrorCode::kCorruption, Path(name) + ": this folder is gone"});
  }
  NEPHILA_TRY(const auto manifests, fs_.List(Path(kManifestsDir)));
  if (manifests.empty()) {
    // Who made it may have died before it was durable, or because a sync
    // failed: then a name is seen that no later sync keeps. It is given anew.
    NEPHILA_RETURN_IF_ERROR(
        PublishFile(fs_, Path(kJobFileName), FormatJobFile(file_)));
  }
  return EnsureDir(fs_, dir_);
}

Result<std::string> JobFolder::ReadSuffixList(FileSystem& fs,
                                              const std::string& dir,
                                              const JobFile& file) {
  if (file.suffix_list_bytes == 0) return std::string();
  const std::string path = dir + "/" + std::string(kSuffixListName);
  NEPHILA_TRY(std::string text, ReadWholeFile(fs, path, kMostSuffixListBytes));
  if (text.size() != file.suffix_list_bytes ||
      Crc32c(text) != file.suffix_list_crc) {
    return Unexpected(
        Error{ErrorCode::kCorruption, path + ": its checksum does not fit"});
  }
  return text;
}

Status JobFolder::LoadSuffixList(std::string_view asked) {
  NEPHILA_TRY(suffix_list_, ReadSuffixList(fs_, dir_, file_));
  if (asked.empty() || asked == suffix_list_) return {};
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      dir_ + ": url.public_suffix_list is not the list that the job was made "
             "with: keys of the job depend on it, so leave it out or begin a "
             "new job"});
}

}  // namespace nephila::job
