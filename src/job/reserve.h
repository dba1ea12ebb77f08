// Reserve: space of the disk that is held for the day it is full.
//
// A file of allocated blocks that nobody reads. Who finds no space for what
// must be written gives it back and writes again; when there is room, it is
// held anew. Where the file system cannot reserve there is none, and nothing
// else changes.
//   Disk: one file.   Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila::job {

class Reserve {
 public:
  // `fs` outlives this.
  Reserve(FileSystem& fs, std::string path);

  // Holds at least `bytes`, with what an earlier process left. Not being able
  // to, for lack of space or because the file system cannot, is no error:
  // see held and is_missing. Twice of what is to be added must be free, so
  // that who makes room does not lose it all to this.
  Status Hold(uint64_t bytes) NEPHILA_EXCLUDES(mutex_);
  // Gives it back; whether there was any.
  Result<bool> Release() NEPHILA_EXCLUDES(mutex_);
  // How much; 0: none.
  uint64_t held() const NEPHILA_EXCLUDES(mutex_);
  // Whether there would be more if the disk had more space.
  bool is_missing() const NEPHILA_EXCLUDES(mutex_);

 private:
  Status Grow(uint64_t bytes) NEPHILA_REQUIRES(mutex_);

  FileSystem& fs_;
  const std::string path_;
  mutable Mutex mutex_;
  uint64_t held_ NEPHILA_GUARDED_BY(mutex_) = 0;
  bool is_missing_ NEPHILA_GUARDED_BY(mutex_) = false;
};

}  // namespace nephila::job
