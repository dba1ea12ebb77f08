// Reserve: space of the disk that is held for the day it is full.
//
// A file of allocated blocks that nobody reads. Who finds no space for what
// must be written gives it back and writes again; when there is room, it is
// held anew. Where the file system cannot reserve there is none, and nothing
// else changes.
//   Disk: one file.   Threads: any, one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

class Reserve {
 public:
  // `fs` outlives this.
  Reserve(FileSystem& fs, std::string path);

  // Holds `bytes`, or goes on with more. Not being able to, for lack of space
  // or because the file system cannot, is no error: see held(). Twice the
  // room must be free, so that who makes room does not lose it to this.
  Status Hold(uint64_t bytes);
  // Gives it back; whether there was any.
  Result<bool> Release();
  // How much; 0: none.
  uint64_t held() const { return held_; }

 private:
  FileSystem& fs_;
  const std::string path_;
  std::atomic<uint64_t> held_{0};
};

}  // namespace nephila::job
