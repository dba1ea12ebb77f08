#include "job/journal.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "job/journal_file.h"

namespace nephila::job {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;
constexpr std::string_view kReserveName = "reserve";
constexpr std::string_view kAsideSuffix = ".tmp";

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool IsNoSpace(const Error& error) { return error.code == ErrorCode::kNoSpace; }

}  // namespace

Journal::Journal(FileSystem& fs, std::string dir, const JournalOptions& options)
    : fs_(fs),
      dir_(std::move(dir)),
      options_(options),
      reserve_(fs, dir_ + "/" + std::string(kReserveName)) {}

Result<std::unique_ptr<Journal>> Journal::Open(FileSystem& fs, std::string dir,
                                               const JournalOptions& options,
                                               uint64_t from) {
  NEPHILA_CHECK(from > 0);
  std::unique_ptr<Journal> journal(new Journal(fs, std::move(dir), options));
  NEPHILA_RETURN_IF_ERROR(journal->Restore(from));
  return journal;
}

// First a look at everything, which changes nothing; then the entries from
// `from` on go to a file of that name, aside, so a stop leaves either the old
// files or the new one. Files behind it hold nothing but what it holds too,
// and they are gone before the first append.
Status Journal::Restore(uint64_t from) {
  NEPHILA_TRY(JournalReader reader, JournalReader::Open(fs_, dir_, from));
  for (bool more = true; more;) {
    NEPHILA_TRY(const auto entry, reader.Next());
    more = entry.has_value();
  }
  salt_ = reader.salt().value_or(options_.salt);
  cut_ = reader.cut();
  next_ = reader.next();
  NEPHILA_RETURN_IF_ERROR(RemoveAsides());
  NEPHILA_RETURN_IF_ERROR(reserve_.Hold(options_.reserve_bytes));

  auto aside = CopyAside(from);
  if (!aside && IsNoSpace(aside.error())) {
    NEPHILA_TRY(const bool released, reserve_.Release());
    if (released) aside = CopyAside(from);
  }
  if (!aside) return Unexpected(std::move(aside).error());
  NEPHILA_RETURN_IF_ERROR((*aside)->Commit());
  NEPHILA_RETURN_IF_ERROR(DropOthers(from));

  auto current = std::make_shared<OpenFile>();
  current->first = from;
  NEPHILA_TRY(current->file, fs_.Open(Path(from), OpenMode::kReadWrite));
  NEPHILA_TRY(current->end, current->file->Size());
  const MutexLock lock(mutex_);
  current_ = std::move(current);
  synced_ = next_ - 1;
  return {};
}

Result<std::unique_ptr<AsideFile>> Journal::CopyAside(uint64_t from) {
  NEPHILA_TRY(auto aside, AsideFile::Create(fs_, Path(from)));
  NEPHILA_TRY(JournalReader reader,
              JournalReader::Open(fs_, dir_, from, next_));
  std::string chunk = JournalHead(from, salt_);
  uint64_t end = 0;
  for (bool more = true; more;) {
    NEPHILA_TRY(const auto entry, reader.Next());
    more = entry.has_value();
    if (more) {
      AppendFrame(chunk, entry->bytes, JournalEntrySalt(salt_, entry->number));
      if (chunk.size() < kCopyBytes) continue;
    }
    NEPHILA_RETURN_IF_ERROR(aside->file().Write(end, Bytes(chunk)));
    end += chunk.size();
    chunk.clear();
  }
  if (reader.next() != next_) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            dir_ + ": entry " + std::to_string(reader.next()) +
                                " was read once and not again"});
  }
  return aside;
}

Status Journal::DropOthers(uint64_t from) {
  NEPHILA_TRY(std::vector<uint64_t> files, ListJournal(fs_, dir_));
  const auto end = std::upper_bound(files.begin(), files.end(), from);
  // The oldest first, each durably: whichever are left are the end of what
  // there was, and what they hold is in the new file too.
  for (auto file = end; file != files.end(); ++file) {
    NEPHILA_RETURN_IF_ERROR(fs_.Remove(Path(*file)));
    NEPHILA_RETURN_IF_ERROR(fs_.SyncDir(dir_));
  }
  files.erase(end, files.end());
  const MutexLock lock(mutex_);
  firsts_ = std::move(files);
  return {};
}

// What was being written when a machine stopped.
Status Journal::RemoveAsides() {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs_.List(dir_));
  for (const DirEntry& entry : entries) {
    std::string_view name = entry.name;
    if (!name.ends_with(kAsideSuffix)) continue;
    name.remove_suffix(kAsideSuffix.size());
    if (!JournalFileFirst(name)) continue;
    NEPHILA_RETURN_IF_ERROR(fs_.Remove(dir_ + "/" + entry.name));
  }
  return {};
}

Result<uint64_t> Journal::Append(std::string_view bytes) {
  if (bytes.size() > kMostEntryBytes) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument, dir_ + ": an entry of " +
                                               std::to_string(bytes.size()) +
                                               " bytes is too large"});
  }
  const MutexLock lock(mutex_);
  if (failure_) return Unexpected(*failure_);
  const uint64_t number = next_;
  frame_.clear();
  AppendFrame(frame_, bytes, JournalEntrySalt(salt_, number));
  NEPHILA_RETURN_IF_ERROR(Write());
  next_ = number + 1;
  return number;
}

Status Journal::Write() {
  Status written = TryWrite();
  if (written || failure_ || !IsNoSpace(written.error())) return written;
  auto released = reserve_.Release();
  if (!released.has_value()) return Final(std::move(released).error());
  if (!*released) return written;
  return TryWrite();
}

Status Journal::TryWrite() {
  OpenFile& current = *current_;
  if (next_ > current.first &&
      current.end + frame_.size() > options_.file_bytes) {
    return BeginFile();
  }
  Status written = current.file->Write(current.end, Bytes(frame_));
  if (written) {
    current.end += frame_.size();
    return {};
  }
  if (!IsNoSpace(written.error())) return Final(std::move(written).error());
  if (Status cut = current.file->Truncate(current.end); !cut) {
    return Final(std::move(cut).error());
  }
  return written;
}

// Nothing is synced here: an entry waits for no disk. If the machine stops, a
// file without a whole head is not there.
Status Journal::BeginFile() {
  const uint64_t first = next_;
  const std::string path = Path(first);
  auto file = fs_.Open(path, OpenMode::kCreateNew);
  if (!file) {
    if (IsNoSpace(file.error())) return Unexpected(std::move(file).error());
    return Final(std::move(file).error());
  }
  const std::string bytes = JournalHead(first, salt_) + frame_;
  if (Status written = (*file)->Write(0, Bytes(bytes)); !written) {
    if (!IsNoSpace(written.error())) return Final(std::move(written).error());
    if (Status removed = fs_.Remove(path); !removed) {
      return Final(std::move(removed).error());
    }
    return written;
  }
  unsynced_.push_back(std::move(current_));
  current_ = std::make_shared<OpenFile>();
  current_->first = first;
  current_->file = *std::move(file);
  current_->end = bytes.size();
  firsts_.push_back(first);
  new_names_ = true;
  return {};
}

Status Journal::Sync() {
  const MutexLock sync_lock(sync_mutex_);
  std::vector<std::shared_ptr<OpenFile>> files;
  uint64_t last = 0;
  bool new_names = false;
  {
    const MutexLock lock(mutex_);
    if (failure_) return Unexpected(*failure_);
    last = next_ - 1;
    files = std::exchange(unsynced_, {});
    if (last > synced_) files.push_back(current_);
    new_names = std::exchange(new_names_, false);
  }
  for (const auto& file : files) {
    if (Status synced = file->file->Sync(); !synced) {
      return Fail(std::move(synced).error());
    }
  }
  if (new_names) {
    if (Status synced = fs_.SyncDir(dir_); !synced) {
      return Fail(std::move(synced).error());
    }
  }
  synced_ = last;
  if (!reserve_.is_missing()) return {};
  if (Status held = reserve_.Hold(options_.reserve_bytes); !held) {
    return Fail(std::move(held).error());
  }
  return {};
}

Status Journal::Covered(uint64_t number) {
  std::vector<uint64_t> remove;
  {
    const MutexLock lock(mutex_);
    if (failure_) return Unexpected(*failure_);
    // A file's entries end where the next one's begin.
    size_t done = 0;
    while (done + 1 < firsts_.size() && firsts_[done + 1] <= number + 1) {
      ++done;
    }
    const auto end = firsts_.begin() + static_cast<ptrdiff_t>(done);
    remove.assign(firsts_.begin(), end);
    firsts_.erase(firsts_.begin(), end);
  }
  for (const uint64_t first : remove) {
    if (Status removed = fs_.Remove(Path(first)); !removed) {
      return Fail(std::move(removed).error());
    }
  }
  return {};
}

Result<JournalReader> Journal::Read(uint64_t from) {
  return JournalReader::Open(fs_, dir_, from, next_);
}

Unexpected<Error> Journal::Final(Error error) {
  // kNoSpace would ask for a second try.
  if (error.code == ErrorCode::kNoSpace) error.code = ErrorCode::kIo;
  if (!failure_) failure_ = std::move(error);
  return Unexpected(*failure_);
}

Unexpected<Error> Journal::Fail(Error error) {
  const MutexLock lock(mutex_);
  return Final(std::move(error));
}

std::string Journal::Path(uint64_t first) const {
  return dir_ + "/" + JournalFileName(first);
}

}  // namespace nephila::job
