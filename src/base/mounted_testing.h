// MountedFileSystem: several disks under one tree, for tests of what happens
// when one of them is full or gone. A path belongs to the disk whose folder it
// is in, and to the first one if there is none. For tests only.
//   Threads: any, once all are mounted.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace nephila {

class MountedFileSystem final : public FileSystem {
 public:
  // All outlive this.
  explicit MountedFileSystem(FileSystem& root) : root_(root) {}
  // The disk has all paths in `folder`, under the same names.
  void Mount(const std::string& folder, FileSystem& disk) {
    disks_[folder] = &disk;
  }

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override {
    return Of(path).Open(path, options);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    if (&Of(from) != &Of(to)) return FileError("rename", from, EXDEV);
    return Of(from).Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    return Of(path).Remove(path);
  }
  Status RemoveDir(const std::string& path) override {
    return Of(path).RemoveDir(path);
  }
  Status MakeDir(const std::string& path) override {
    return Of(path).MakeDir(path);
  }
  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    return Of(dir).List(dir);
  }
  Result<bool> Exists(const std::string& path) override {
    return Of(path).Exists(path);
  }
  Result<FileStamp> Stamp(const std::string& path) override {
    return Of(path).Stamp(path);
  }
  Status SyncDir(const std::string& dir) override {
    return Of(dir).SyncDir(dir);
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return Of(path).Lock(path);
  }
  Result<uint64_t> FreeSpace(const std::string& dir) override {
    // There may be no such folder yet.
    FileSystem& disk = Of(dir);
    return disk.FreeSpace(&disk == &root_ ? dir : "/");
  }

 private:
  FileSystem& Of(std::string_view path) const {
    for (const auto& [folder, disk] : disks_) {
      if (path == folder || path.starts_with(folder + "/")) return *disk;
    }
    return root_;
  }

  FileSystem& root_;
  std::map<std::string, FileSystem*> disks_;
};

}  // namespace nephila
