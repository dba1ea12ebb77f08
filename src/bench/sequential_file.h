// Files that are written once from front to back, and read the same way, past
// the page cache, with the disk at work while the caller is.
//
// Direct I/O (O_DIRECT) in two buffers: one is the caller's, the other the
// disk's, moved by a thread of the file. Where the file system cannot, ordinary
// I/O that drops its pages behind itself. The counters are what was moved.
//
// Threads: one calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila::bench {

struct IoCounters {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

// Runs one job at a time, on a thread of its own.
class Helper {
 public:
  Helper();
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // REQUIRES: Wait was called since the last Start.
  void Start(std::function<Status()> job);
  // What the job returned, once it has; fine if there was none.
  Status Wait();

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  std::function<Status()> job_ NEPHILA_GUARDED_BY(mutex_);
  Status result_ NEPHILA_GUARDED_BY(mutex_);
  bool busy_ NEPHILA_GUARDED_BY(mutex_) = false;
  bool stop_ NEPHILA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

struct FreeDeleter {
  void operator()(std::byte* memory) const;
};
using AlignedBuffer = std::unique_ptr<std::byte, FreeDeleter>;

class SequentialWriter {
 public:
  // `buffer_bytes` is a multiple of kDirectAlignment; two are taken.
  static Result<std::unique_ptr<SequentialWriter>> Create(
      FileSystem& fs, const std::string& path, size_t buffer_bytes,
      IoCounters* counters);

  Status Append(const void* data, size_t size) {
    if (size < buffer_bytes_ - used_) {
      std::memcpy(buffer_.get() + used_, data, size);
      used_ += size;
      return {};
    }
    return AppendSlowly(static_cast<const std::byte*>(data), size);
  }
  // Writes the rest. Nothing is synced: none of it outlives the benchmark.
  Status Finish();
  uint64_t size() const { return offset_ + used_; }

 private:
  SequentialWriter(std::unique_ptr<File> file, size_t buffer_bytes,
                   IoCounters* counters);
  Status AppendSlowly(const std::byte* data, size_t size);
  Status HandOver();

  std::unique_ptr<File> file_;
  const size_t buffer_bytes_;
  IoCounters* const counters_;
  AlignedBuffer buffer_;
  AlignedBuffer other_;
  size_t used_ = 0;
  uint64_t offset_ = 0;
  Helper helper_;
};

class SequentialReader {
 public:
  static Result<std::unique_ptr<SequentialReader>> Open(FileSystem& fs,
                                                        const std::string& path,
                                                        size_t buffer_bytes,
                                                        IoCounters* counters);

  // The next piece, of `buffer_bytes` but for the last; empty at the end. It
  // is valid until the next call.
  Result<std::span<const std::byte>> Next();

 private:
  SequentialReader(std::unique_ptr<File> file, size_t buffer_bytes,
                   IoCounters* counters);
  void ReadAhead();

  std::unique_ptr<File> file_;
  const size_t buffer_bytes_;
  IoCounters* const counters_;
  AlignedBuffer buffer_;
  AlignedBuffer ahead_;
  size_t ahead_size_ = 0;
  uint64_t offset_ = 0;
  Helper helper_;
};

}  // namespace nephila::bench
