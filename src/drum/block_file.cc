#include "drum/block_file.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace nephila::drum {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<uint64_t>& sum) : sum_(sum) {}
  ~Stopwatch() {
    const auto spent = std::chrono::steady_clock::now() - begin_;
    sum_.fetch_add(
        static_cast<uint64_t>(std::chrono::nanoseconds(spent).count()),
        std::memory_order_relaxed);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<uint64_t>& sum_;
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
};

uint64_t BlockSalt(uint64_t file_salt, uint64_t offset) {
  uint64_t state = file_salt ^ offset;
  return NextSplitMix(state);
}

Result<std::unique_ptr<File>> OpenPastCache(FileSystem& fs,
                                            const std::string& path,
                                            OpenMode mode) {
  auto file = fs.Open(path, OpenOptions(mode, /*is_direct=*/true));
  if (file.has_value() || file.error().code != ErrorCode::kUnsupported) {
    return file;
  }
  // Open may have made the file before it saw that it cannot.
  return fs.Open(path, mode == OpenMode::kCreateNew ? OpenMode::kCreate : mode);
}

}  // namespace

BlockBuffer::BlockBuffer(size_t payload_bytes) { Reserve(payload_bytes); }

void BlockBuffer::Free::operator()(char* bytes) const { std::free(bytes); }

void BlockBuffer::Reserve(size_t payload_bytes) {
  const size_t wanted = RoundUpToPage(kFrameHeaderBytes + payload_bytes);
  if (wanted <= capacity_) return;
  bytes_.reset();
  auto* bytes =
      static_cast<char*>(std::aligned_alloc(kDirectAlignment, wanted));
  if (bytes == nullptr) throw std::bad_alloc();
  bytes_.reset(bytes);
  capacity_ = wanted;
}

Result<std::unique_ptr<BlockFile>> BlockFile::Create(FileSystem& fs,
                                                     const std::string& path,
                                                     uint64_t salt,
                                                     IoCounts& counts) {
  NEPHILA_TRY(auto file, OpenPastCache(fs, path, OpenMode::kCreateNew));
  return std::unique_ptr<BlockFile>(
      new BlockFile(std::move(file), salt, 0, counts));
}

Result<std::unique_ptr<BlockFile>> BlockFile::Open(FileSystem& fs,
                                                   const std::string& path,
                                                   uint64_t salt, uint64_t end,
                                                   IoCounts& counts,
                                                   OpenMode mode) {
  NEPHILA_TRY(auto file, OpenPastCache(fs, path, mode));
  NEPHILA_TRY(const uint64_t size, file->Size());
  if (size < end) {
    return Unexpected(
        Error{ErrorCode::kCorruption, FilePlace("reading", path, size) +
                                          ": the file ends before offset " +
                                          std::to_string(end)});
  }
  return std::unique_ptr<BlockFile>(
      new BlockFile(std::move(file), salt, end, counts));
}

Result<BlockPlace> BlockFile::Append(BlockBuffer& buffer,
                                     size_t payload_bytes) {
  NEPHILA_CHECK(payload_bytes <= buffer.payload_capacity());
  const auto size = static_cast<uint32_t>(payload_bytes);
  NEPHILA_TRY(const uint64_t offset, AppendMany(buffer, {&size, 1}));
  return BlockPlace{offset, size};
}

Result<uint64_t> BlockFile::AppendMany(
    BlockBuffer& buffer, std::span<const uint32_t> payload_bytes) {
  uint64_t bytes = 0;
  for (const uint32_t size : payload_bytes) {
    bytes += BlockPlace{0, size}.pages();
  }
  NEPHILA_CHECK(bytes <= buffer.pages().size());
  const uint64_t offset = end_.fetch_add(bytes, std::memory_order_acq_rel);
  uint64_t done = 0;
  for (const uint32_t size : payload_bytes) {
    const BlockPlace place{offset + done, size};
    Seal(place, buffer.payload() - kFrameHeaderBytes + done);
    done += place.pages();
  }
  NEPHILA_RETURN_IF_ERROR(WritePages(offset, buffer.pages().first(bytes)));
  return offset;
}

BlockPlace BlockFile::Reserve(size_t payload_bytes) {
  BlockPlace place{0, static_cast<uint32_t>(payload_bytes)};
  place.offset = end_.fetch_add(place.pages(), std::memory_order_acq_rel);
  return place;
}

Status BlockFile::WriteAt(const BlockPlace& place, BlockBuffer& buffer) {
  NEPHILA_CHECK(place.payload_bytes <= buffer.payload_capacity());
  Seal(place, buffer.payload() - kFrameHeaderBytes);
  return WritePages(place.offset, buffer.pages().first(place.pages()));
}

void BlockFile::Seal(const BlockPlace& place, char* block) const {
  const size_t used = kFrameHeaderBytes + place.payload_bytes;
  std::memset(block + used, 0, place.pages() - used);
  SealFrame(block, place.payload_bytes, BlockSalt(salt_, place.offset));
}

Status BlockFile::WritePages(uint64_t offset,
                             std::span<const std::byte> pages) {
  {
    Stopwatch stopwatch(counts_.write_ns);
    Status status = file_->Write(offset, pages);
    if (!status) {
      if (status.error().code != ErrorCode::kNoSpace) {
        counts_.write_failed = true;
      }
      return status;
    }
    if (!file_->direct()) file_->StartWriteback(offset, pages.size());
  }
  counts_.bytes_written.fetch_add(pages.size(), std::memory_order_relaxed);
  return {};
}

Status BlockFile::ReadPages(uint64_t offset, uint64_t bytes,
                            BlockBuffer& buffer) {
  buffer.Reserve(bytes - kFrameHeaderBytes);
  {
    Stopwatch stopwatch(counts_.read_ns);
    NEPHILA_RETURN_IF_ERROR(
        file_->ReadExact(offset, buffer.pages().first(bytes)));
    if (!file_->direct()) file_->Advise(offset, bytes, Advice::kDontNeed);
  }
  counts_.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
  return {};
}

Result<std::string_view> BlockFile::CheckBlock(
    const BlockPlace& place, std::span<const std::byte> pages) const {
  ByteReader reader(pages.first(kFrameHeaderBytes + place.payload_bytes));
  auto payload =
      ReadFrame(reader, BlockSalt(salt_, place.offset), place.payload_bytes);
  if (!payload.has_value() || payload->size() != place.payload_bytes) {
    return Unexpected(Damage(place.offset));
  }
  return *payload;
}

Result<std::string_view> BlockFile::CheckPages(
    uint64_t offset, std::span<const std::byte> pages) const {
  ByteReader reader(pages);
  auto payload =
      ReadFrame(reader, BlockSalt(salt_, offset),
                static_cast<uint32_t>(pages.size() - kFrameHeaderBytes));
  if (!payload.has_value() ||
      RoundUpToPage(reader.position()) != pages.size()) {
    return Unexpected(Damage(offset));
  }
  return *payload;
}

Error BlockFile::Damage(uint64_t offset) const {
  return {ErrorCode::kCorruption,
          FilePlace("reading", path(), offset) +
              ": the block there is damaged or not the one expected"};
}

Result<std::string_view> BlockFile::Read(const BlockPlace& place,
                                         BlockBuffer& buffer) {
  NEPHILA_RETURN_IF_ERROR(ReadPages(place.offset, place.pages(), buffer));
  return CheckBlock(place, buffer.pages());
}

Status BlockFile::Sync() {
  NEPHILA_RETURN_IF_ERROR(file_->Sync());
  if (!file_->direct()) file_->Advise(0, 0, Advice::kDontNeed);
  return {};
}

}  // namespace nephila::drum
