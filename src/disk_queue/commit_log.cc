#include "disk_queue/commit_log.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace nephila::disk_queue {
namespace {

constexpr std::string_view kPrefix = "commits-";
constexpr std::string_view kMagic = "nephila queues 2";
constexpr std::string_view kReserve = "reserve";
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

}  // namespace

std::string LogName(uint64_t first_generation) {
  return CommitFileName(kPrefix, first_generation);
}

std::optional<uint64_t> LogGeneration(std::string_view name) {
  return CommitFileGeneration(kPrefix, name);
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
  NEPHILA_TRY(const std::vector<uint64_t> logs,
              ListCommitFiles(fs, dir, kPrefix));
  const auto after = std::upper_bound(logs.begin(), logs.end(), generation);
  if (after == logs.begin()) return NoSuchCommit(dir, generation);
  LoadedSet loaded;
  loaded.log = *(after - 1);
  NEPHILA_TRY(LogReader reader, LogReader::Open(fs, dir, loaded.log));
  loaded.head = reader.head();
  for (uint64_t expected = loaded.log; expected <= generation; ++expected) {
    if (reader.AtEnd()) return NoSuchCommit(dir, generation);
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
  NEPHILA_TRY(const std::vector<uint64_t> logs,
              ListCommitFiles(fs, dir, kPrefix));
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
  NEPHILA_TRY(const std::vector<uint64_t> logs,
              ListCommitFiles(fs, dir, kPrefix));
  return !logs.empty();
}

CommitLog::CommitLog(FileSystem& fs, std::string dir, const SetHead& head,
                     uint64_t reserve_bytes)
    : fs_(fs),
      dir_(std::move(dir)),
      head_(head),
      reserve_bytes_(reserve_bytes) {}

Status CommitLog::Restore(const LoadedSet& loaded,
                          const std::set<std::string>& keep,
                          uint64_t keep_from) {
  const uint64_t generation = loaded.state.generation;
  current_ = OldLog{loaded.log, generation};
  {
    MutexLock lock(mutex_);
    durable_ = generation;
  }
  NEPHILA_RETURN_IF_ERROR(
      CutCommitFile(fs_, dir_ + "/" + LogName(loaded.log), loaded.log_end));
  NEPHILA_TRY(const std::vector<uint64_t> logs,
              ListCommitFiles(fs_, dir_, kPrefix));
  std::set<std::string> kept = keep;
  kept.insert(LogName(loaded.log));
  kept.insert(std::string(kReserve));
  for (size_t i = 0; i + 1 < logs.size() && logs[i] < loaded.log; ++i) {
    const OldLog old{logs[i], logs[i + 1] - 1};
    if (old.last < keep_from) continue;
    old_.push_back(old);
    kept.insert(LogName(old.first));
  }
  NEPHILA_RETURN_IF_ERROR(RemoveOtherFiles(fs_, dir_, kPrefix, kept));
  return MakeReserve();
}

Status CommitLog::MakeReserve() {
  const std::string path = dir_ + "/" + std::string(kReserve);
  Status made;
  if (auto file = fs_.Open(path, OpenMode::kCreate)) {
    made = (*file)->Allocate(reserve_bytes_);
  } else {
    made = Unexpected(std::move(file).error());
  }
  has_reserve_ = made.has_value();
  if (made) return {};
  const ErrorCode code = made.error().code;
  no_reserve_ = code == ErrorCode::kUnsupported;
  if (!no_reserve_ && code != ErrorCode::kNoSpace) return made;
  IgnoreError(fs_.Remove(path), "half of it only takes room");
  return {};
}

bool CommitLog::WantsWhole() const {
  // One that is larger than it need be is better than none.
  return file_.WantsWhole(has_reserve_ || no_reserve_ ? kLogSlack
                                                      : UINT64_MAX / 2);
}

void CommitLog::Begin(uint64_t generation, bool whole, std::string frame,
                      std::set<uint64_t> sync, bool new_names,
                      const std::vector<uint64_t>& remove, uint64_t keep_from) {
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
  while (!old_.empty() && old_.front().last < keep_from) {
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

Status CommitLog::WriteCommit() {
  Status written = TryToWriteCommit();
  if (!written && file_.may_try_again() && has_reserve_) {
    has_reserve_ = false;
    IgnoreError(fs_.Remove(dir_ + "/" + std::string(kReserve)),
                "then there is no more room than before");
    written = TryToWriteCommit();
  }
  if (written || file_.may_try_again()) return written;
  return Final(std::move(written).error());
}

Status CommitLog::TryToWriteCommit() {
  if (!next_.whole) {
    SealCommit(head_.salt, file_.end(), next_.frame);
    return file_.Append(next_.frame);
  }
  const std::string head = LogHead(head_, next_.generation);
  SealCommit(head_.salt, head.size(), next_.frame);
  return file_.Begin(fs_, dir_ + "/" + LogName(next_.generation),
                     {head, next_.frame});
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
  NEPHILA_RETURN_IF_ERROR(WriteCommit());
  next_.frame = std::string();
  {
    MutexLock lock(mutex_);
    bytes_written_ += bytes;
    durable_ = next_.generation;
    pending_ = false;
  }
  if (has_reserve_ || no_reserve_) return {};
  if (Status made = MakeReserve(); !made) {
    return Final(std::move(made).error());
  }
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
