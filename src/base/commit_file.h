// CommitFile: the file that a store's commits go to, and what is done with such
// files in a folder. Their names are a prefix and the number of their first
// commit, "journal-00000007"; what is in them is the store's.
//
// A file is begun aside, so that it appears with its first commit or not at
// all, and later commits are appended and synced. Space that runs out while
// bytes are written leaves all as it was, and the same can be tried again; any
// other error is final.
//   Disk: append-only.   Threads: Begin and Append by one; the rest by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/result.h"

namespace nephila {

std::string CommitFileName(std::string_view prefix, uint64_t first_generation);
// The inverse; nothing for other names.
std::optional<uint64_t> CommitFileGeneration(std::string_view prefix,
                                             std::string_view name);
// First generations of those in `dir`, ascending.
Result<std::vector<uint64_t>> ListCommitFiles(FileSystem& fs,
                                              const std::string& dir,
                                              std::string_view prefix);
Unexpected<Error> NoSuchCommit(const std::string& dir, uint64_t generation);

// Commits behind `end` are void from here on, durably.
Status CutCommitFile(FileSystem& fs, const std::string& path, uint64_t end);
// Removes all files of `dir` but `keep`, durably. Commits first, newest first:
// one is void before the files that it names are gone, or a look for the
// newest would find one in pieces.
Status RemoveOtherFiles(FileSystem& fs, const std::string& dir,
                        std::string_view prefix,
                        const std::set<std::string>& keep);

class CommitFile {
 public:
  // A new file of these parts; the earlier one is left alone.
  Status Begin(FileSystem& fs, const std::string& path,
               std::initializer_list<std::string_view> parts);
  // REQUIRES: begun.
  Status Append(std::string_view bytes);
  // Whether the last error leaves all as it was.
  bool may_try_again() const { return may_try_again_; }

  uint64_t end() const { return end_; }
  // Whether the next commit should begin a new file: there is none yet, or it
  // has outgrown twice its beginning by `slack`.
  bool WantsWhole(uint64_t slack) const {
    return whole_bytes_ == 0 || end_ > 2 * whole_bytes_ + slack;
  }

 private:
  std::unique_ptr<File> file_;
  bool may_try_again_ = false;
  std::atomic<uint64_t> end_{0};
  std::atomic<uint64_t> whole_bytes_{0};
};

}  // namespace nephila
