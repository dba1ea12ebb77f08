// JobFolder: the folder of a crawl: its layout, its lock, and what was fixed
// when it was made.
//
// In: a path. Out: a locked job, or one line that says why not: another
// process has it (and which), it is of a later format, settings that keys
// depend on have changed, the folder holds something else. A job is there from
// the moment its job.toml is; whatever stops the making before leaves a folder
// that counts as empty. All paths within are relative: it can be moved.
//
// A caller that continues a job looks first (Look), takes the settings that
// are fixed (ApplyFixed), applies the user's own, and then opens: so what the
// user does not name stays as the job has it, and what he does is checked.
//   Disk: docs/formats/job.md.   Threads: one makes or opens; the rest is
//   const.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "config/profile.h"
#include "config/settings.h"
#include "job/job_file.h"

namespace nephila::job {

// What is in a job's folder.
inline constexpr std::string_view kLockName = "lock";
inline constexpr std::string_view kJobFileName = "job.toml";
inline constexpr std::string_view kSuffixListName = "public_suffix_list.dat";
inline constexpr std::string_view kControlName = "control";  // a socket
inline constexpr std::string_view kLogName = "log";
// What `nephila set` has changed.
inline constexpr std::string_view kSettingsName = "settings.toml";
// Commands for the next run, a line each.
inline constexpr std::string_view kCommandsName = "commands";
inline constexpr std::string_view kJournalDir = "journal";
inline constexpr std::string_view kManifestsDir = "manifests";
inline constexpr std::string_view kSeenDir = "seen";
inline constexpr std::string_view kReputationDir = "reputation";
inline constexpr std::string_view kBudgetDir = "budget";
inline constexpr std::string_view kRobotsDir = "robots";
inline constexpr std::string_view kReadyDir = "ready";
inline constexpr std::string_view kCapsDir = "caps";  // if there are caps
inline constexpr std::string_view kContactsDir = "contacts";
// Lines of a black list that came while it ran; need not be there.
inline constexpr std::string_view kBlockedFile = "blocked";
inline constexpr std::string_view kArchiveDir = "archive";

// A longer list is not one.
inline constexpr size_t kMostSuffixListBytes = size_t{16} << 20;

enum class JobState : uint8_t {
  kNone,   // the folder is missing, empty, or that of a job never finished
  kJob,    // a job
  kOther,  // it holds something else
};

struct JobRequest {
  config::Settings settings;  // as they are to hold now
  // The text of the public suffix list that is to be used. A new job keeps a
  // copy, if there is one; a job that is there refuses a text that is not its
  // own. Empty: the job's own.
  std::string_view suffix_list;
  uint64_t process_id = 0;  // for whoever finds the job locked

  // Of a new job.
  config::Profile profile = config::Profile::kBroad;
  uint64_t key_seed = 0;  // random
  WallTime now{};
  std::string version;  // of nephila
};

class JobFolder {
 public:
  // Without the lock, changing nothing.
  static Result<JobState> Look(FileSystem& fs, const std::string& dir);
  // What job.toml says, without the lock; kNotFound if there is no job.
  static Result<JobFile> Read(FileSystem& fs, const std::string& dir);

  // The text of the job's own list, without the lock; empty if it has none,
  // kCorruption if it is not what job.toml says.
  static Result<std::string> ReadSuffixList(FileSystem& fs,
                                            const std::string& dir,
                                            const JobFile& file);

  // A new job, opened. kAlreadyExists if there is one, kInvalidArgument if the
  // folder holds something else. `fs` outlives this.
  static Result<std::unique_ptr<JobFolder>> Create(FileSystem& fs,
                                                   const std::string& dir,
                                                   const JobRequest& request);
  // kNotFound if there is no job; kBusy, naming the process, if another has
  // it; kUnsupported for a later format; kInvalidArgument for settings that
  // keys depend on; kCorruption.
  static Result<std::unique_ptr<JobFolder>> Open(FileSystem& fs,
                                                 const std::string& dir,
                                                 const JobRequest& request);
  // Whichever of the two is due.
  static Result<std::unique_ptr<JobFolder>> OpenOrCreate(
      FileSystem& fs, const std::string& dir, const JobRequest& request);

  const std::string& dir() const { return dir_; }
  // "DIR/journal" of kJournalDir.
  std::string Path(std::string_view name) const;
  const JobFile& file() const { return file_; }
  uint64_t key_seed() const { return file_.key_seed; }
  // The job's own list; empty if it has none.
  const std::string& suffix_list() const { return suffix_list_; }
  bool is_new() const { return is_new_; }

 private:
  JobFolder(FileSystem& fs, std::string dir);

  Status TakeLock(uint64_t process_id);
  Status Make(const JobRequest& request);
  Status Load(const JobRequest& request);
  Status LoadSuffixList(std::string_view asked);
  Status MakeFolders();

  FileSystem& fs_;
  const std::string dir_;
  std::unique_ptr<FileLock> lock_;
  JobFile file_;
  std::string suffix_list_;
  bool is_new_ = false;
};

}  // namespace nephila::job
