#include "job/journal_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "job/journal.h"
#include "job/journal_file.h"

namespace nephila::job {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

Unexpected<Error> TooShort(const std::string& path, uint64_t offset,
                           uint64_t last, uint64_t from) {
  return Unexpected(
      Error{ErrorCode::kCorruption,
            FilePlace("read", path, offset) + ": the journal ends with entry " +
                std::to_string(last) + ", and a manifest covers entry " +
                std::to_string(from - 1)});
}

}  // namespace

Result<JournalReader> JournalReader::Open(FileSystem& fs, std::string dir,
                                          uint64_t from, uint64_t end) {
  JournalReader reader(fs, std::move(dir), end);
  NEPHILA_TRY(reader.files_, ListJournal(fs, reader.dir_));
  std::vector<uint64_t>& files = reader.files_;
  if (files.empty()) {
    if (from > 1) return TooShort(reader.dir_, 0, 0, from);
    reader.at_end_ = true;
    return reader;
  }
  size_t start = static_cast<size_t>(
      std::upper_bound(files.begin(), files.end(), from) - files.begin());
  // The last file may have been begun and no more: then the entry before
  // `from` is in the one before.
  for (; start > 0; --start) {
    reader.file_ = start - 1;
    NEPHILA_TRY(const bool whole, reader.OpenFile());
    if (whole) break;
    NEPHILA_RETURN_IF_ERROR(reader.PassOver(start - 1));
  }
  if (start == 0) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              reader.dir_ + ": the file of the journal that holds entry " +
                  std::to_string(std::max<uint64_t>(from, 2) - 1) +
                  " is missing or damaged"});
  }
  NEPHILA_RETURN_IF_ERROR(reader.SkipTo(from));
  return reader;
}

Result<std::optional<NumberedEntry>> JournalReader::Next() {
  std::optional<NumberedEntry> none;
  if (at_end_ || next_ >= end_) return none;
  while (file_ + 1 < files_.size() && next_ == files_[file_ + 1]) {
    // Without a head the one behind is not there, and this one goes on.
    Place here{std::move(open_), size_, offset_};
    ++file_;
    NEPHILA_TRY(const bool whole, OpenFile());
    if (whole) break;
    --file_;
    NEPHILA_RETURN_IF_ERROR(PassOver(file_ + 1));
    open_ = std::move(here.file);
    size_ = here.size;
    offset_ = here.offset;
    buffer_.clear();
  }
  NEPHILA_TRY(const auto payload, ReadEntryFrame(false));
  if (!payload) {
    at_end_ = true;
    NEPHILA_RETURN_IF_ERROR(NoteCut());
    return none;
  }
  return std::optional(NumberedEntry{next_++, *payload});
}

Result<bool> JournalReader::OpenFile() {
  const uint64_t first = files_[file_];
  NEPHILA_TRY(open_, fs_->Open(Path(first), OpenMode::kRead));
  NEPHILA_TRY(size_, open_->Size());
  offset_ = 0;
  buffer_.clear();
  NEPHILA_TRY(const auto payload,
              ReadFrameHere(JournalHeadSalt(first), kMostJournalHeadBytes));
  if (!payload) return false;
  const auto head = ReadJournalHead(*payload);
  if (!head) return false;
  if (head->version != kJournalVersion) {
    const bool later = head->version > kJournalVersion;
    return Unexpected(Error{
        ErrorCode::kUnsupported,
        Path(first) + ": version " + std::to_string(head->version) +
            " of the journal is that of " + (later ? "a later" : "an earlier") +
            " nephila, this one has version " +
            std::to_string(kJournalVersion)});
  }
  if (salt_ && *salt_ != head->salt) return false;  // another journal's
  salt_ = head->salt;
  next_ = first;
  return true;
}

Status JournalReader::SkipTo(uint64_t from) {
  while (next_ < from) {
    NEPHILA_TRY(const auto payload, ReadEntryFrame(true));
    if (!payload) return TooShort(open_->path(), offset_, next_ - 1, from);
    ++next_;
  }
  return {};
}

Result<std::optional<std::string_view>> JournalReader::ReadEntryFrame(
    bool skip) {
  const uint64_t salt = JournalEntrySalt(*salt_, next_);
  if (!skip) return ReadFrameHere(salt, kMostEntryBytes);
  // Of what a manifest covers only the length is needed, and that has a
  // checksum of its own: damage to such an entry does no harm.
  std::optional<std::string_view> none;
  NEPHILA_TRY(const bool has_head, Fill(kFrameHeaderBytes));
  if (!has_head) return none;
  const std::string_view head = Buffered(kFrameHeaderBytes);
  ByteReader frame(head);
  const auto read = ReadFrame(frame, salt, kMostEntryBytes);
  if (!read && read.error() != FrameError::kTruncated) return none;
  ByteReader length(head);
  const uint64_t bytes = kFrameHeaderBytes + *length.U32();
  if (bytes > size_ - offset_) return none;
  offset_ += bytes;
  return std::optional(std::string_view());
}

Result<std::optional<std::string_view>> JournalReader::ReadFrameHere(
    uint64_t salt, uint32_t most) {
  std::optional<std::string_view> none;
  NEPHILA_TRY(const bool has_head, Fill(kFrameHeaderBytes));
  if (!has_head) return none;
  ByteReader length(Buffered(kFrameHeaderBytes));
  const uint64_t bytes = kFrameHeaderBytes + *length.U32();
  if (bytes > kFrameHeaderBytes + most) return none;
  NEPHILA_TRY(const bool has_all, Fill(bytes));
  if (!has_all) return none;
  ByteReader frame(Buffered(bytes));
  const auto payload = ReadFrame(frame, salt, most);
  if (!payload) return none;
  offset_ += bytes;
  return std::optional(*payload);
}

Result<bool> JournalReader::Fill(size_t size) {
  if (size > size_ - offset_) return false;
  if (!buffer_.empty() && offset_ >= buffer_offset_ &&
      offset_ + size <= buffer_offset_ + buffer_.size()) {
    return true;
  }
  buffer_.resize(
      std::min<uint64_t>(std::max(size, kChunkBytes), size_ - offset_));
  buffer_offset_ = offset_;
  NEPHILA_RETURN_IF_ERROR(
      open_->ReadExact(offset_, std::as_writable_bytes(std::span(buffer_))));
  return true;
}

std::string_view JournalReader::Buffered(size_t size) const {
  return std::string_view(buffer_).substr(offset_ - buffer_offset_, size);
}

std::string JournalReader::Path(uint64_t first) const {
  return dir_ + "/" + JournalFileName(first);
}

Status JournalReader::PassOver(size_t file) {
  const std::string path = Path(files_[file]);
  NEPHILA_TRY(const auto opened, fs_->Open(path, OpenMode::kRead));
  NEPHILA_TRY(const uint64_t bytes, opened->Size());
  if (!cut_) cut_ = JournalCut{path, 0, 0};
  cut_->bytes += bytes;
  files_.erase(files_.begin() + static_cast<ptrdiff_t>(file));
  return {};
}

Status JournalReader::NoteCut() {
  JournalCut cut{open_->path(), offset_, size_ - offset_};
  for (size_t i = file_ + 1; i < files_.size(); ++i) {
    NEPHILA_TRY(const auto file, fs_->Open(Path(files_[i]), OpenMode::kRead));
    NEPHILA_TRY(const uint64_t bytes, file->Size());
    cut.bytes += bytes;
  }
  if (cut.bytes == 0) return {};
  if (cut_) cut.bytes += cut_->bytes;
  cut_ = cut;
  return {};
}

}  // namespace nephila::job
