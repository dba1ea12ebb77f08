// ArchiveFolders: where the archive of a job is: the folders of
// `store.folders`, and those that were there before, which its last manifest
// names.
//
//   In: names as the settings have them, absolute or relative to the job
//   Out: paths; bytes of a manifest   Disk: `nephila-archive` in each folder
//   but the job's own   Threads: a value
//
// A folder on another disk may be gone, or be the empty place where the disk is
// mounted, or belong to another job; each is an error that names it, since a
// crawl that goes on without would archive anew what it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "job/job_folder.h"
#include "store/store.h"

namespace nephila::crawl {

// More crawl threads than anyone has.
inline constexpr uint32_t kMostStreams = 1024;

// What a manifest says of the archive.
struct ArchivePart {
  bool operator==(const ArchivePart&) const = default;

  std::vector<std::string> folders;  // names
  // Of each stream; their folders are names here.
  std::vector<store::StorePosition> streams;
};
std::string WriteArchivePart(const ArchivePart& part);
Result<ArchivePart> ReadArchivePart(std::string_view bytes);

// In each folder but the job's own: whose it is.
inline constexpr std::string_view kOwnerName = "nephila-archive";
// Of the job in `dir`: each folder of the settings, and of a manifest if there
// is one, once.
std::vector<std::string> ArchivePaths(const std::string& dir,
                                      const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& named);

class ArchiveFolders {
 public:
  // More is refused.
  static constexpr size_t kMost = 64;

  // Makes folders that are not there, unless `named`, by a manifest, says that
  // they were. kInvalidArgument for what cannot be, kNotFound for what is gone.
  static Result<ArchiveFolders> Open(FileSystem& fs,
                                     const job::JobFolder& folder,
                                     const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& named);
  ArchiveFolders() = default;

  // New files go to the first of them that has room.
  const std::vector<std::string>& paths() const { return paths_; }
  // Others that hold files of the job.
  const std::vector<std::string>& old_paths() const { return old_paths_; }
  std::vector<std::string> AllPaths() const;
  // For a manifest.
  const std::vector<std::string>& names() const { return names_; }
  std::string NameOf(std::string_view path) const;

 private:
  // Of `paths_` and then `old_paths_`.
  std::vector<std::string> names_;
  std::vector<std::string> paths_;
  std::vector<std::string> old_paths_;
};

}  // namespace nephila::crawl
