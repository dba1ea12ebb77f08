// How verbs of the program open the folder of a job: docs/security.md.
//
//   In: the path of a job   Out: a FileSystem that follows no symbolic link
//   inside of it, the umask for what is made there   Threads: the main thread,
//   before it starts others: a umask is one of the whole process
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/real_file_system.h"
#include "config/settings.h"

namespace nephila::cli {

// Guards the folder of the job and the archive folders that the settings name.
std::unique_ptr<GuardedFileSystem> OpenJobFiles(
    const std::string& job, const config::Settings& settings,
    DescriptorWait wait = nullptr);

// Sets the umask for the files of a job, and sets it back at the end.
class JobUmask {
 public:
  explicit JobUmask(bool group_readable);
  // Group-readable if the folder of the job is.
  explicit JobUmask(const std::string& job);
  ~JobUmask();
  JobUmask(const JobUmask&) = delete;
  JobUmask& operator=(const JobUmask&) = delete;

 private:
  const mode_t before_;
};

// Returns the line that warns a user who crawls as root; nullopt for others.
std::optional<std::string> RootWarning(uid_t user);

}  // namespace nephila::cli
