#include "drum/commit.h"

#include <utility>

#include "base/check.h"

namespace nephila::drum {
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
  NEPHILA_RETURN_IF_ERROR(
      CutCommitFile(fs_, dir_ + "/" + state.journal, state.journal_end));
  return RemoveOtherFiles(fs_, dir_, kJournalPrefix, keep);
}

bool CommitWriter::WantsWhole(uint64_t slack) const {
  return journal_file_.WantsWhole(slack);
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

Status CommitWriter::WriteCommit(const Pending& pending) {
  Status written;
  if (pending.whole) {
    const std::string header = JournalHeader(header_, pending.generation);
    written = journal_file_.Begin(
        fs_, dir_ + "/" + journal_,
        {header, CommitFrame(header_, header.size(), pending.commit)});
  } else {
    written = journal_file_.Append(
        CommitFrame(header_, journal_file_.end(), pending.commit));
  }
  if (written || journal_file_.may_try_again()) return written;
  return Final(std::move(written).error());
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
  NEPHILA_RETURN_IF_ERROR(WriteCommit(next_));
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
