#include "disk_queue/commit_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace nephila::disk_queue {
namespace {

constexpr std::string_view kPrefix = "commits-";
constexpr std::string_view kMagic = "nephila queues 1";
// A log is left for a new one when it has outgrown twice a whole commit by so
// much.
constexpr uint64_t kLogSlack = uint64_t{1} << 20;
// Larger ones are not ours; with them no offset wraps.
constexpr uint64_t kMostSlotBytes = uint64_t{1} << 32;
constexpr uint64_t kMostSlots = uint64_t{1} << 20;

uint64_t HeadSalt(uint64_t first_generation) {
  return KeyedHash(kMagic, first_generation);
}

uint64_t CommitSalt(uint64_t set_salt, uint64_t offset) {
  return KeyedHash("commit", set_salt + offset);
}

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Unexpected<Error> Damaged(const std::string& path, uint64_t offset,
                          std::string_view what) {
  return Unexpected(
      Error{ErrorCode::kCorruption,
            FilePlace("reading", path, offset) + ": " + std::string(what)});
}

// Frame after frame of a log, without the whole of it in memory.
class LogReader {
 public:
  static Result<LogReader> Open(FileSystem& fs, const std::string& dir,
                                uint64_t first_generation) {
    LogReader reader;
    reader.path_ = dir + "/" + LogName(first_generation);
    NEPHILA_TRY(reader.file_, fs.Open(reader.path_, OpenMode::kRead));
    NEPHILA_TRY(reader.size_, reader.file_->Size());
    NEPHILA_TRY(const std::string_view head,
                reader.NextFrame(HeadSalt(first_generation)));
    ByteReader bytes(head);
    const auto magic = bytes.Sized();
    if (!magic || *magic != kMagic) {
      return Damaged(reader.path_, 0, "this version of nephila cannot read it");
    }
    const auto salt = bytes.U64();
    const auto slot_bytes = bytes.U64();
    const auto slots = bytes.U64();
    if (!salt || !slot_bytes || *slot_bytes <= kSegmentHeadBytes ||
        *slot_bytes > kMostSlotBytes || !slots || *slots == 0 ||
        *slots > kMostSlots || !bytes.AtEnd()) {
      return Damaged(reader.path_, 0, "its head is damaged");
    }
    reader.head_ = {*salt, {*slot_bytes, *slots}};
    return reader;
  }

  // The next commit; kCorruption where no whole frame stands.
  Result<std::string_view> Next() {
    return NextFrame(CommitSalt(head_.salt, offset_));
  }
  bool AtEnd() const { return offset_ >= size_; }

  // Whether the frame that could not be read is what a machine that stopped
  // leaves of its last append: cut short, unwritten, or the last in the file.
  bool IsTornHere() {
    const uint64_t left = size_ - offset_;
    if (left < kFrameHeaderBytes) return true;
    std::string head(kFrameHeaderBytes, '\0');
    if (!file_->ReadExact(offset_, std::as_writable_bytes(std::span(head)))) {
      return false;
    }
    if (head.find_first_not_of('\0') == std::string::npos) return true;
    ByteReader reader(head);
    const auto frame =
        ReadFrame(reader, CommitSalt(head_.salt, offset_), kMostCommitBytes);
    if (frame || frame.error() != FrameError::kTruncated) return false;
    ByteReader length(head);
    return kFrameHeaderBytes + *length.U32() >= left;
  }

  const SetHead& head() const { return head_; }
  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }

 private:
  Result<std::string_view> NextFrame(uint64_t salt) {
    if (size_ - offset_ < kFrameHeaderBytes) {
      return Damaged(path_, offset_, "a commit is cut short");
    }
    bytes_.resize(kFrameHeaderBytes);
    NEPHILA_RETURN_IF_ERROR(
        file_->ReadExact(offset_, std::as_writable_bytes(std::span(bytes_))));
    ByteReader head(bytes_);
    const uint64_t length = *head.U32();
    if (length > kMostCommitBytes ||
        length > size_ - offset_ - kFrameHeaderBytes) {
      return Damaged(path_, offset_, "a commit is damaged");
    }
    bytes_.resize(kFrameHeaderBytes + length);
    NEPHILA_RETURN_IF_ERROR(file_->ReadExact(
        offset_ + kFrameHeaderBytes,
        std::as_writable_bytes(std::span(bytes_)).subspan(kFrameHeaderBytes)));
    ByteReader reader(bytes_);
    const auto payload = ReadFrame(reader, salt, kMostCommitBytes);
    if (!payload) return Damaged(path_, offset_, "a commit is damaged");
    offset_ += bytes_.size();
    return *payload;
  }

  std::string path_;
  std::unique_ptr<File> file_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
  SetHead head_;
  std::string bytes_;
};

// First generations of the logs in `dir`, ascending.
Result<std::vector<uint64_t>> ListLogs(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs.List(dir));
  std::vector<uint64_t> logs;
  for (const DirEntry& entry : entries) {
    if (const auto generation = LogGeneration(entry.name)) {
      logs.push_back(*generation);
    }
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

Unexpected<Error> NoSuchGeneration(const std::string& dir,
                                   uint64_t generation) {
  return Unexpected(
      Error{ErrorCode::kNotFound,
            dir + ": there is no commit " + std::to_string(generation)});
}

}  // namespace

std::string LogName(uint64_t first_generation) {
  return fmt::format("{}{:08}", kPrefix, first_generation);
}

std::optional<uint64_t> LogGeneration(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  uint64_t generation = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), generation);
  if (error != std::errc() || end != name.data() + name.size()) {
    return std::nullopt;
  }
  return generation;
}

std::string LogHead(const SetHead& head, uint64_t first_generation) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.U64(head.salt);
  writer.U64(head.geometry.slot_bytes);
  writer.U64(head.geometry.slots_per_file);
  std::string frame;
  AppendFrame(frame, payload, HeadSalt(first_generation));
  return frame;
}

void SealCommit(uint64_t set_salt, uint64_t offset, std::string& frame) {
  NEPHILA_CHECK(frame.size() >= kFrameHeaderBytes);
  SealFrame(frame.data(), frame.size() - kFrameHeaderBytes,
            CommitSalt(set_salt, offset));
}

Result<LoadedSet> LoadSet(FileSystem& fs, const std::string& dir,
                          uint64_t generation) {
  NEPHILA_TRY(const std::vector<uint64_t> logs, ListLogs(fs, dir));
  const auto after = std::upper_bound(logs.begin(), logs.end(), generation);
  if (after == logs.begin()) return NoSuchGeneration(dir, generation);
  LoadedSet loaded;
  loaded.log = *(after - 1);
  NEPHILA_TRY(LogReader reader, LogReader::Open(fs, dir, loaded.log));
  loaded.head = reader.head();
  for (uint64_t expected = loaded.log; expected <= generation; ++expected) {
    if (reader.AtEnd()) return NoSuchGeneration(dir, generation);
    const uint64_t offset = reader.offset();
    NEPHILA_TRY(const std::string_view commit, reader.Next());
    if (!ApplyCommit(commit, loaded.state) ||
        loaded.state.generation != expected) {
      return Damaged(reader.path(), offset, "a commit makes no sense");
    }
    loaded.log_end = reader.offset();
  }
  if (!MakesSense(loaded.state, loaded.head.geometry)) {
    return Damaged(reader.path(), loaded.log_end, "its queues make no sense");
  }
  return loaded;
}

Result<uint64_t> NewestGeneration(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const std::vector<uint64_t> logs, ListLogs(fs, dir));
  if (logs.empty()) {
    return Unexpected(
        Error{ErrorCode::kNotFound, dir + ": no queues are there"});
  }
  NEPHILA_TRY(LogReader reader, LogReader::Open(fs, dir, logs.back()));
  uint64_t next = logs.back();
  while (!reader.AtEnd()) {
    if (auto commit = reader.Next(); !commit) {
      // A commit that was cut short is none; any other damage is damage.
      if (!reader.IsTornHere()) return Unexpected(std::move(commit).error());
      break;
    }
    ++next;
  }
  if (next == logs.back()) {
    return Damaged(reader.path(), reader.offset(),
                   "its first commit is damaged");
  }
  return next - 1;
}

Result<bool> HasLog(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const std::vector<uint64_t> logs, ListLogs(fs, dir));
  return !logs.empty();
}

CommitLog::CommitLog(FileSystem& fs, std::string dir, const SetHead& head)
    : fs_(fs), dir_(std::move(dir)), head_(head) {}

Status CommitLog::Restore(const LoadedSet& loaded,
                          const std::set<std::string>& keep) {
  const uint64_t generation = loaded.state.generation;
  current_ = OldLog{loaded.log, generation};
  {
    MutexLock lock(mutex_);
    durable_ = generation;
  }
  NEPHILA_TRY(const auto log,
              fs_.Open(dir_ + "/" + LogName(loaded.log), OpenMode::kReadWrite));
  NEPHILA_TRY(const uint64_t size, log->Size());
  if (size > loaded.log_end) {
    NEPHILA_RETURN_IF_ERROR(log->Truncate(loaded.log_end));
  }
  NEPHILA_RETURN_IF_ERROR(log->Sync());
  // A loaded set of one commit has the one before in an earlier log.
  NEPHILA_TRY(const std::vector<uint64_t> logs, ListLogs(fs_, dir_));
  for (const uint64_t first : logs) {
    if (first < loaded.log) old_.push_back({first, loaded.log - 1});
  }
  const bool alone = loaded.log == generation;
  while (!old_.empty() && (!alone || old_.size() > 1)) old_.erase(old_.begin());
  std::set<std::string> logs_kept = {LogName(loaded.log)};
  if (!old_.empty()) logs_kept.insert(LogName(old_.front().first));
  // Logs first, newest first: a commit is void before the files that it names
  // are gone, or a look for the newest would find one in pieces.
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs_.List(dir_));
  for (const bool of_logs : {true, false}) {
    for (size_t i = entries.size(); i-- > 0;) {
      const std::string& name = entries[i].name;
      if (entries[i].is_directory || keep.contains(name) ||
          logs_kept.contains(name) ||
          LogGeneration(name).has_value() != of_logs) {
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(fs_.Remove(dir_ + "/" + name));
    }
    NEPHILA_RETURN_IF_ERROR(fs_.SyncDir(dir_));
  }
  return {};
}

bool CommitLog::WantsWhole() const {
  return whole_bytes_ == 0 || end_ > 2 * whole_bytes_ + kLogSlack;
}

void CommitLog::Begin(uint64_t generation, bool whole, std::string frame,
                      std::set<uint64_t> sync, bool new_names,
                      const std::vector<uint64_t>& remove) {
  NEPHILA_CHECK(!IsPending());
  next_ = {generation, whole, std::move(frame), std::move(sync), new_names, {}};
  next_.remove.reserve(remove.size());
  for (const uint64_t file : remove) {
    next_.remove.push_back(SegmentFileName(file));
  }
  if (whole) {
    if (current_) old_.push_back(*current_);
    current_ = OldLog{generation, generation};
  }
  NEPHILA_CHECK(current_.has_value());
  current_->last = generation;
  MutexLock lock(mutex_);
  pending_ = true;
  while (!old_.empty() && old_.front().last + 2 <= durable_) {
    next_.remove.push_back(LogName(old_.front().first));
    old_.erase(old_.begin());
  }
}

Status CommitLog::SyncData() {
  for (const uint64_t index : next_.sync) {
    auto file =
        fs_.Open(dir_ + "/" + SegmentFileName(index), OpenMode::kReadWrite);
    if (!file) return Final(std::move(file).error());
    if (Status status = (*file)->Sync(); !status) {
      return Final(std::move(status).error());
    }
  }
  next_.sync.clear();
  if (!next_.new_names) return {};
  if (Status status = fs_.SyncDir(dir_); !status) {
    return Final(std::move(status).error());
  }
  next_.new_names = false;
  return {};
}

Status CommitLog::WriteNewLog() {
  const std::string path = dir_ + "/" + LogName(next_.generation);
  const std::string head = LogHead(head_, next_.generation);
  SealCommit(head_.salt, head.size(), next_.frame);
  const auto write = [&]() -> Result<std::unique_ptr<AsideFile>> {
    NEPHILA_TRY(auto aside, AsideFile::Create(fs_, path));
    NEPHILA_RETURN_IF_ERROR(aside->file().Write(0, Bytes(head)));
    NEPHILA_RETURN_IF_ERROR(
        aside->file().Write(head.size(), Bytes(next_.frame)));
    return aside;
  };
  auto aside = write();
  if (!aside) {
    if (aside.error().code == ErrorCode::kNoSpace) {
      return Unexpected(std::move(aside).error());
    }
    return Final(std::move(aside).error());
  }
  if (Status status = (*aside)->Commit(); !status) {
    return Final(std::move(status).error());
  }
  auto file = fs_.Open(path, OpenMode::kReadWrite);
  if (!file) return Final(std::move(file).error());
  file_ = *std::move(file);
  end_ = whole_bytes_ = head.size() + next_.frame.size();
  return {};
}

Status CommitLog::AppendToLog() {
  SealCommit(head_.salt, end_, next_.frame);
  if (Status status = file_->Write(end_, Bytes(next_.frame)); !status) {
    // Half a frame is no frame: the next attempt writes over it.
    if (status.error().code == ErrorCode::kNoSpace) return status;
    return Final(std::move(status).error());
  }
  if (Status status = file_->Sync(); !status) {
    return Final(std::move(status).error());
  }
  end_ += next_.frame.size();
  return {};
}

Status CommitLog::Finish() {
  NEPHILA_RETURN_IF_ERROR(Failure());
  if (!IsPending()) return {};
  for (const std::string& name : next_.remove) {
    IgnoreError(fs_.Remove(dir_ + "/" + name),
                "what stays is removed when the set is opened");
  }
  next_.remove.clear();
  NEPHILA_RETURN_IF_ERROR(SyncData());
  const uint64_t bytes = next_.frame.size();
  NEPHILA_RETURN_IF_ERROR(next_.whole ? WriteNewLog() : AppendToLog());
  next_.frame = std::string();
  MutexLock lock(mutex_);
  bytes_written_ += bytes;
  durable_ = next_.generation;
  pending_ = false;
  return {};
}

bool CommitLog::IsPending() const {
  MutexLock lock(mutex_);
  return pending_;
}

uint64_t CommitLog::durable_generation() const {
  MutexLock lock(mutex_);
  return durable_;
}

uint64_t CommitLog::bytes_written() const {
  MutexLock lock(mutex_);
  return bytes_written_;
}

void CommitLog::Fail(const Error& error) {
  MutexLock lock(mutex_);
  if (!failure_) failure_ = error;
  has_failed_ = true;
}

Status CommitLog::Failure() const {
  MutexLock lock(mutex_);
  if (failure_) return Unexpected(*failure_);
  return {};
}

Unexpected<Error> CommitLog::Final(Error error) {
  Fail(error);
  return Unexpected(std::move(error));
}

}  // namespace nephila::disk_queue
