// CachedFileSystem: the real one, without direct I/O.
//
// For measuring what direct I/O is worth: files fall back to the page cache,
// with the advice they give there (drum/block_file.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace nephila::bench {

class CachedFileSystem final : public FileSystem {
 public:
  explicit CachedFileSystem(std::unique_ptr<FileSystem> base)
      : base_(std::move(base)) {}

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override {
    if (options.direct) {
      return Unexpected(
          Error{ErrorCode::kUnsupported, path + ": direct I/O is turned off"});
    }
    return base_->Open(path, options);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return base_->Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    return base_->Remove(path);
  }
  Status RemoveDir(const std::string& path) override {
    return base_->RemoveDir(path);
  }
  Status MakeDir(const std::string& path) override {
    return base_->MakeDir(path);
  }
  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    return base_->List(dir);
  }
  Result<bool> Exists(const std::string& path) override {
    return base_->Exists(path);
  }
  Result<FileStamp> Stamp(const std::string& path) override {
    return base_->Stamp(path);
  }
  Status SyncDir(const std::string& dir) override {
    return base_->SyncDir(dir);
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return base_->Lock(path);
  }
  Result<uint64_t> FreeSpace(const std::string& dir) override {
    return base_->FreeSpace(dir);
  }

 private:
  const std::unique_ptr<FileSystem> base_;
};

}  // namespace nephila::bench
