#include "bench/sequential_file.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace nephila::bench {
namespace {

AlignedBuffer MakeBuffer(size_t bytes) {
  auto* memory =
      static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, bytes));
  NEPHILA_CHECK(memory != nullptr);
  return AlignedBuffer(memory);
}

Result<std::unique_ptr<File>> OpenPastCache(FileSystem& fs,
                                            const std::string& path,
                                            OpenMode mode) {
  auto file = fs.Open(path, {mode, /*is_direct=*/true});
  if (file || file.error().code != ErrorCode::kUnsupported) return file;
  return fs.Open(path, mode);
}

}  // namespace

Helper::Helper() : thread_([this] { Run(); }) {}

Helper::~Helper() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Helper::Start(std::function<Status()> job) {
  {
    MutexLock lock(mutex_);
    NEPHILA_CHECK(!busy_);
    job_ = std::move(job);
    busy_ = true;
  }
  changed_.NotifyAll();
}

Status Helper::Wait() {
  MutexLock lock(mutex_);
  while (busy_) changed_.Wait(mutex_);
  return std::exchange(result_, Status());
}

void Helper::Run() {
  while (true) {
    std::function<Status()> job;
    {
      MutexLock lock(mutex_);
      while (!job_ && !stop_) changed_.Wait(mutex_);
      if (!job_) return;
      job = std::exchange(job_, nullptr);
    }
    Status result = job();
    {
      MutexLock lock(mutex_);
      result_ = std::move(result);
      busy_ = false;
    }
    changed_.NotifyAll();
  }
}

void FreeDeleter::operator()(std::byte* memory) const { std::free(memory); }

Result<std::unique_ptr<SequentialWriter>> SequentialWriter::Create(
    FileSystem& fs, const std::string& path, size_t buffer_bytes,
    IoCounters* counters) {
  NEPHILA_TRY(std::unique_ptr<File> file,
              OpenPastCache(fs, path, OpenMode::kCreate));
  return std::unique_ptr<SequentialWriter>(
      new SequentialWriter(std::move(file), buffer_bytes, counters));
}

SequentialWriter::SequentialWriter(std::unique_ptr<File> file,
                                   size_t buffer_bytes, IoCounters* counters)
    : file_(std::move(file)),
      buffer_bytes_(buffer_bytes),
      counters_(counters),
      buffer_(MakeBuffer(buffer_bytes)),
      other_(MakeBuffer(buffer_bytes)) {}

Status SequentialWriter::AppendSlowly(const std::byte* data, size_t size) {
  while (size > 0) {
    size_t part = std::min(size, buffer_bytes_ - used_);
    std::memcpy(buffer_.get() + used_, data, part);
    used_ += part;
    data += part;
    size -= part;
    if (used_ == buffer_bytes_) NEPHILA_RETURN_IF_ERROR(HandOver());
  }
  return {};
}

Status SequentialWriter::HandOver() {
  NEPHILA_RETURN_IF_ERROR(helper_.Wait());
  std::swap(buffer_, other_);
  uint64_t offset = offset_;
  helper_.Start([this, offset]() -> Status {
    NEPHILA_RETURN_IF_ERROR(
        file_->Write(offset, std::span(other_.get(), buffer_bytes_)));
    if (file_->direct()) return {};
    file_->StartWriteback(offset, buffer_bytes_);
    // What was begun a while ago is on disk by now.
    constexpr uint64_t kBehind = uint64_t{64} << 20;
    if (offset >= kBehind) {
      file_->Advise(offset - kBehind, buffer_bytes_, Advice::kDontNeed);
    }
    return {};
  });
  counters_->bytes_written += buffer_bytes_;
  offset_ += buffer_bytes_;
  used_ = 0;
  return {};
}

Status SequentialWriter::Finish() {
  NEPHILA_RETURN_IF_ERROR(helper_.Wait());
  uint64_t size = this->size();
  if (used_ > 0) {
    size_t whole =
        (used_ + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
    std::memset(buffer_.get() + used_, 0, whole - used_);
    NEPHILA_RETURN_IF_ERROR(
        file_->Write(offset_, std::span(buffer_.get(), whole)));
    counters_->bytes_written += used_;
  }
  return file_->Truncate(size);
}

Result<std::unique_ptr<SequentialReader>> SequentialReader::Open(
    FileSystem& fs, const std::string& path, size_t buffer_bytes,
    IoCounters* counters) {
  NEPHILA_TRY(std::unique_ptr<File> file,
              OpenPastCache(fs, path, OpenMode::kRead));
  return std::unique_ptr<SequentialReader>(
      new SequentialReader(std::move(file), buffer_bytes, counters));
}

SequentialReader::SequentialReader(std::unique_ptr<File> file,
                                   size_t buffer_bytes, IoCounters* counters)
    : file_(std::move(file)),
      buffer_bytes_(buffer_bytes),
      counters_(counters),
      buffer_(MakeBuffer(buffer_bytes)),
      ahead_(MakeBuffer(buffer_bytes)) {
  ReadAhead();
}

void SequentialReader::ReadAhead() {
  helper_.Start([this]() -> Status {
    NEPHILA_TRY(ahead_size_,
                file_->Read(offset_, std::span(ahead_.get(), buffer_bytes_)));
    if (!file_->direct()) {
      file_->Advise(offset_, buffer_bytes_, Advice::kDontNeed);
    }
    return {};
  });
}

Result<std::span<const std::byte>> SequentialReader::Next() {
  NEPHILA_RETURN_IF_ERROR(helper_.Wait());
  std::swap(buffer_, ahead_);
  size_t size = ahead_size_;
  offset_ += size;
  counters_->bytes_read += size;
  if (size == buffer_bytes_) {
    ReadAhead();
  } else {
    ahead_size_ = 0;
  }
  return std::span<const std::byte>(buffer_.get(), size);
}

}  // namespace nephila::bench
