#include "cli/job_files.h"

#include <sys/stat.h>

#include "crawl/archive_folders.h"

namespace nephila::cli {
namespace {

constexpr mode_t kOwnerOnly = 077;
constexpr mode_t kOwnerAndGroup = 027;

bool IsGroupReadable(const std::string& dir) {
  struct stat info {};
  return stat(dir.c_str(), &info) == 0 && (info.st_mode & S_IRGRP) != 0;
}

}  // namespace

std::unique_ptr<GuardedFileSystem> OpenJobFiles(
    const std::string& job, const config::Settings& settings,
    DescriptorWait wait) {
  auto fs = MakeGuardedFileSystem(job, std::move(wait));
  if (job.empty()) return fs;
  for (const std::string& path :
       crawl::ArchivePaths(job, settings.store.folders, {})) {
    fs->Guard(path);
  }
  return fs;
}

JobUmask::JobUmask(bool group_readable)
    : before_(umask(group_readable ? kOwnerAndGroup : kOwnerOnly)) {}

JobUmask::JobUmask(const std::string& job) : JobUmask(IsGroupReadable(job)) {}

JobUmask::~JobUmask() { umask(before_); }

std::optional<std::string> RootWarning(uid_t user) {
  if (user != 0) return std::nullopt;
  return "warning: this crawl runs as root and needs no privileges; run it as "
         "an ordinary user";
}

}  // namespace nephila::cli
