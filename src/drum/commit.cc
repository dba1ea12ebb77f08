#include "drum/commit.h"

#include <span>
#include <utility>

#include "base/check.h"

namespace nephila::drum {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

bool CommitWriter::IsPending() const {
  MutexLock lock(mutex_);
  return pending_;
}

uint64_t CommitWriter::durable_generation() const {
  MutexLock lock(mutex_);
  return durable_;
}

std::optional<Error> CommitWriter::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

uint64_t CommitWriter::bytes_written() const {
  MutexLock lock(mutex_);
  return bytes_written_;
}

void CommitWriter::Fail(const Error& error) {
  MutexLock lock(mutex_);
  if (!failure_) failure_ = error;
  has_failed_ = true;
}

Unexpected<Error> CommitWriter::Final(Error error) {
  Fail(error);
  return Unexpected(std::move(error));
}

Status CommitWriter::Restore(const StoreState& state,
                             const std::set<std::string>& keep) {
  journal_ = state.journal;
  committed_ = true;
  {
    MutexLock lock(mutex_);
    durable_ = state.generation;
  }
  // Later commits are void from here on. They go before the files that they
  // name, or a later look for the newest commit would find one in pieces.
  NEPHILA_TRY(const auto journal,
              fs_.Open(dir_ + "/" + state.journal, OpenMode::kReadWrite));
  NEPHILA_TRY(const uint64_t size, journal->Size());
  if (size > state.journal_end) {
    NEPHILA_RETURN_IF_ERROR(journal->Truncate(state.journal_end));
  }
  NEPHILA_RETURN_IF_ERROR(journal->Sync());
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs_.List(dir_));
  // Journals first, newest first, for the same reason.
  for (const bool journals : {true, false}) {
    for (size_t i = entries.size(); i-- > 0;) {
      const DirEntry& entry = entries[i];
      if (entry.is_directory || keep.contains(entry.name) ||
          JournalGeneration(entry.name).has_value() != journals) {
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(fs_.Remove(dir_ + "/" + entry.name));
    }
    NEPHILA_RETURN_IF_ERROR(fs_.SyncDir(dir_));
  }
  return {};
}

bool CommitWriter::WantsWhole(uint64_t slack) const {
  return journal_file_ == nullptr || journal_end_ > 2 * whole_bytes_ + slack;
}

void CommitWriter::Begin(uint64_t generation, bool whole, std::string commit,
                         std::vector<std::shared_ptr<BlockFile>> unsynced,
                         std::vector<std::string> remove) {
  next_ = {generation,
           whole,
           std::move(commit),
           std::move(unsynced),
           std::move(sync_paths_),
           std::move(remove)};
  sync_paths_.clear();
  if (whole) journal_ = JournalName(generation);
  committed_ = true;
  MutexLock lock(mutex_);
  NEPHILA_CHECK(!pending_);
  pending_ = true;
}

Status CommitWriter::SyncData(const Pending& pending) {
  bool new_names = false;
  const auto note = [&](const std::string& path) {
    new_names |= durable_names_.insert(path).second;
  };
  for (const auto& file : pending.files) {
    if (Status status = file->Sync(); !status) {
      return Final(std::move(status).error());
    }
    note(file->path());
  }
  for (const std::string& path : pending.paths) {
    auto file = fs_.Open(path, OpenMode::kReadWrite);
    if (!file) return Final(std::move(file).error());
    if (Status status = (*file)->Sync(); !status) {
      return Final(std::move(status).error());
    }
    note(path);
  }
  if (!new_names) return {};
  if (Status status = fs_.SyncDir(dir_); !status) {
    return Final(std::move(status).error());
  }
  return {};
}

Status CommitWriter::WriteNewJournal(const Pending& pending) {
  const std::string path = dir_ + "/" + journal_;
  std::string bytes = JournalHeader(header_, pending.generation);
  bytes += CommitFrame(header_, bytes.size(), pending.commit);
  const auto write = [&]() -> Result<std::unique_ptr<AsideFile>> {
    NEPHILA_TRY(auto aside, AsideFile::Create(fs_, path));
    NEPHILA_RETURN_IF_ERROR(aside->file().Write(0, Bytes(bytes)));
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
  journal_file_ = *std::move(file);
  journal_end_ = whole_bytes_ = bytes.size();
  return {};
}

Status CommitWriter::AppendToJournal(const Pending& pending) {
  const std::string frame = CommitFrame(header_, journal_end_, pending.commit);
  if (Status status = journal_file_->Write(journal_end_, Bytes(frame));
      !status) {
    // Half a frame is no frame: the next attempt writes over it.
    if (status.error().code == ErrorCode::kNoSpace) return status;
    return Final(std::move(status).error());
  }
  if (Status status = journal_file_->Sync(); !status) {
    return Final(std::move(status).error());
  }
  journal_end_ += frame.size();
  return {};
}

void CommitWriter::RemoveFiles(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    static_cast<void>(fs_.Remove(dir_ + "/" + name).has_value());
  }
}

Status CommitWriter::Finish() {
  {
    MutexLock lock(mutex_);
    if (failure_) return Unexpected(*failure_);
    if (!pending_) return {};
  }
  RemoveFiles(next_.remove);
  next_.remove.clear();
  NEPHILA_RETURN_IF_ERROR(SyncData(next_));
  NEPHILA_RETURN_IF_ERROR(next_.whole ? WriteNewJournal(next_)
                                      : AppendToJournal(next_));
  const uint64_t generation = next_.generation;
  const uint64_t bytes = next_.commit.size();
  next_ = {};
  MutexLock lock(mutex_);
  bytes_written_ += bytes;
  durable_ = generation;
  pending_ = false;
  return {};
}

}  // namespace nephila::drum
