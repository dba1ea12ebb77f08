// FrozenFileSystem: the files of another file system, which stay as they are.
//
// For those who look at something by opening it: what opens a store cuts logs,
// removes leftovers and holds reserves. Here all of that happens to this view
// alone. Reads go through; a file that is cut is shorter here; one that is
// written to is copied into memory first, if it is small (kMostCopied), and
// else kUnsupported.
//   In: a file system that nobody changes meanwhile.   Out: the same, and what
//   was done to the view.   Threads: one.   Memory: what was written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila {

class FrozenFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kMostCopied = uint64_t{16} << 20;

  // `real` outlives this.
  explicit FrozenFileSystem(FileSystem& real) : real_(real) {}

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Status MakeDir(const std::string& path) override;
  Result<std::vector<DirEntry>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  Result<FileStamp> Stamp(const std::string& path) override;
  Status SyncDir(const std::string& dir) override;
  // Of the view: whoever wants the real one takes that first.
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;

 private:
  friend class FrozenFile;
  // What the view has of a file that is not as it is below.
  struct Changed {
    uint64_t size = 0;                // of what is below, not more is seen
    std::optional<std::string> copy;  // all of it, once it was written to
  };

  Result<bool> ExistsBelow(const std::string& path);
  void Forget(const std::string& path);

  FileSystem& real_;
  std::map<std::string, std::shared_ptr<Changed>> changed_;
  std::set<std::string> removed_;
};

}  // namespace nephila
