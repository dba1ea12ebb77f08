#include "base/faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nephila {
namespace {

std::string_view KindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kWrite:
      return "write";
    case OperationKind::kSync:
      return "sync";
    case OperationKind::kTruncate:
      return "truncate";
    case OperationKind::kAllocate:
      return "allocate";
    case OperationKind::kCreate:
      return "create";
    case OperationKind::kRename:
      return "rename";
    case OperationKind::kRemove:
      return "remove";
    case OperationKind::kMakeDir:
      return "make directory";
    case OperationKind::kSyncDir:
      return "sync directory";
  }
  return "unknown";
}

bool CanHappen(Fault fault, const Operation& operation) {
  const OperationKind kind = operation.kind;
  switch (fault) {
    case Fault::kEio:
      return true;
    case Fault::kNoSpace:
      return kind == OperationKind::kWrite ||
             kind == OperationKind::kAllocate ||
             kind == OperationKind::kCreate || kind == OperationKind::kMakeDir;
    case Fault::kShortWrite:
      return kind == OperationKind::kWrite && operation.length >= 2;
    case Fault::kSyncFails:
      return kind == OperationKind::kSync || kind == OperationKind::kSyncDir;
  }
  return false;
}

// As the errors of a real disk read.
Error ErrorOf(const Operation& operation, int sys_errno) {
  std::string what(KindName(operation.kind));
  if (operation.kind == OperationKind::kWrite) {
    what = FilePlace(what, operation.path, operation.offset);
  } else {
    what += ' ';
    what += operation.path;
  }
  return Error::FromErrno(what, sys_errno);
}

}  // namespace

std::string DescribeOperation(const Operation& operation) {
  std::string text = "#" + std::to_string(operation.number) + " ";
  text += KindName(operation.kind);
  text += ' ';
  text += operation.path;
  if (operation.kind == OperationKind::kWrite) {
    text += " offset " + std::to_string(operation.offset);
    text += " length " + std::to_string(operation.length);
  } else if (operation.kind == OperationKind::kTruncate ||
             operation.kind == OperationKind::kAllocate) {
    text += " size " + std::to_string(operation.length);
  }
  return text;
}

class FaultyFileSystem::FaultyFile final : public File {
 public:
  FaultyFile(std::unique_ptr<File> base, FaultyFileSystem& fs)
      : File(base->path()), base_(std::move(base)), fs_(fs) {}

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(fs_.CheckRunning("read", path()));
    if (fs_.unreadable_.contains(path())) {
      return Unexpected(
          Error::FromErrno(FilePlace("read", path(), offset), EIO));
    }
    return base_->ReadSome(offset, out);
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    const MutexLock lock(fs_.mutex_);
    Verdict verdict =
        fs_.Judge(OperationKind::kWrite, path(), offset, data.size());
    if (!verdict.error.has_value()) {
      return base_->WriteSome(offset, data.first(verdict.pass));
    }
    if (verdict.pass > 0) {
      IgnoreError(base_->Write(offset, data.first(verdict.pass)),
                  "the machine stops here in any case");
    }
    return Unexpected(*std::move(verdict.error));
  }

  Status Sync() override {
    return fs_.Mutate(OperationKind::kSync, path(), 0,
                      [this] { return base_->Sync(); });
  }
  Status Truncate(uint64_t size) override {
    return fs_.Mutate(OperationKind::kTruncate, path(), size,
                      [this, size] { return base_->Truncate(size); });
  }
  Status Allocate(uint64_t size) override {
    return fs_.Mutate(OperationKind::kAllocate, path(), size,
                      [this, size] { return base_->Allocate(size); });
  }

  Result<uint64_t> Size() override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(fs_.CheckRunning("get the size of", path()));
    return base_->Size();
  }

  void Advise(uint64_t offset, uint64_t length, Advice advice) override {
    base_->Advise(offset, length, advice);
  }

 private:
  const std::unique_ptr<File> base_;
  FaultyFileSystem& fs_;
};

void FaultyFileSystem::StopAt(uint64_t n, StopStyle style) {
  const MutexLock lock(mutex_);
  stop_at_ = n;
  stop_style_ = style;
}

void FaultyFileSystem::FailAt(uint64_t n, Fault fault, uint64_t times) {
  const MutexLock lock(mutex_);
  plans_.push_back({n, fault, times});
}

void FaultyFileSystem::ShortWritesEvery(uint64_t k) {
  const MutexLock lock(mutex_);
  short_every_ = k;
  long_writes_ = 0;
}

void FaultyFileSystem::FailReadsOf(const std::string& path) {
  const MutexLock lock(mutex_);
  unreadable_.insert(path);
}

void FaultyFileSystem::Heal() {
  const MutexLock lock(mutex_);
  stop_at_.reset();
  stopped_ = false;
  plans_.clear();
  short_every_ = 0;
  unreadable_.clear();
}

uint64_t FaultyFileSystem::operations() {
  const MutexLock lock(mutex_);
  return operations_;
}

bool FaultyFileSystem::stopped() {
  const MutexLock lock(mutex_);
  return stopped_;
}

std::vector<Operation> FaultyFileSystem::log() {
  const MutexLock lock(mutex_);
  return {log_.begin(), log_.end()};
}

Result<std::unique_ptr<File>> FaultyFileSystem::Open(const std::string& path,
                                                     OpenMode mode) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("open", path));
  if (mode == OpenMode::kCreate || mode == OpenMode::kCreateNew) {
    NEPHILA_RETURN_IF_ERROR(JudgeCreation(OperationKind::kCreate, path));
  }
  NEPHILA_TRY(auto opened, base_.Open(path, mode));
  std::unique_ptr<File> file =
      std::make_unique<FaultyFile>(std::move(opened), *this);
  return file;
}

Status FaultyFileSystem::Rename(const std::string& from,
                                const std::string& to) {
  return Mutate(OperationKind::kRename, from + " -> " + to, 0,
                [&] { return base_.Rename(from, to); });
}

Status FaultyFileSystem::Remove(const std::string& path) {
  return Mutate(OperationKind::kRemove, path, 0,
                [&] { return base_.Remove(path); });
}

Status FaultyFileSystem::RemoveDir(const std::string& path) {
  return Mutate(OperationKind::kRemove, path, 0,
                [&] { return base_.RemoveDir(path); });
}

Status FaultyFileSystem::MakeDir(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("make directory", path));
  NEPHILA_RETURN_IF_ERROR(JudgeCreation(OperationKind::kMakeDir, path));
  return base_.MakeDir(path);
}

Result<std::vector<std::string>> FaultyFileSystem::List(
    const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("list", dir));
  return base_.List(dir);
}

Result<bool> FaultyFileSystem::Exists(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("look for", path));
  return base_.Exists(path);
}

Status FaultyFileSystem::SyncDir(const std::string& dir) {
  return Mutate(OperationKind::kSyncDir, dir, 0,
                [&] { return base_.SyncDir(dir); });
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::Lock(
    const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("lock", path));
  NEPHILA_RETURN_IF_ERROR(JudgeCreation(OperationKind::kCreate, path));
  return base_.Lock(path);
}

Result<uint64_t> FaultyFileSystem::FreeSpace(const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("get the free space of", dir));
  return base_.FreeSpace(dir);
}

FaultyFileSystem::Verdict FaultyFileSystem::Judge(OperationKind kind,
                                                  const std::string& path,
                                                  uint64_t offset,
                                                  uint64_t length) {
  const Operation operation{operations_ + 1, kind, path, offset, length};
  // What a stopped machine is asked for never happens, so it has no number.
  if (stopped_) return JudgeStop(operation);
  ++operations_;
  log_.push_back(operation);
  if (log_.size() > kLogLimit) log_.pop_front();
  if (stop_at_.has_value() && operation.number >= *stop_at_) {
    return JudgeStop(operation);
  }
  bool is_short = false;
  if (const auto fault = TakeFault(operation); fault.has_value()) {
    is_short = *fault == Fault::kShortWrite;
    if (!is_short) {
      return {ErrorOf(operation, *fault == Fault::kNoSpace ? ENOSPC : EIO), 0};
    }
  }
  if (CanHappen(Fault::kShortWrite, operation) && short_every_ > 0) {
    is_short |= ++long_writes_ % short_every_ == 0;
  }
  return {std::nullopt, is_short ? PartOf(length) : length};
}

FaultyFileSystem::Verdict FaultyFileSystem::JudgeStop(
    const Operation& operation) {
  const bool tears = !stopped_ && stop_style_ == StopStyle::kTornWrite &&
                     CanHappen(Fault::kShortWrite, operation);
  stopped_ = true;
  return {Error{ErrorCode::kStopped,
                DescribeOperation(operation) + ": the machine has stopped"},
          tears ? PartOf(operation.length) : 0};
}

std::optional<Fault> FaultyFileSystem::TakeFault(const Operation& operation) {
  for (Plan& plan : plans_) {
    if (plan.times == 0 || operation.number < plan.from) continue;
    if (!CanHappen(plan.fault, operation)) continue;
    --plan.times;
    return plan.fault;
  }
  return std::nullopt;
}

uint64_t FaultyFileSystem::PartOf(uint64_t length) {
  // splitmix64 of seed and number, so that a part depends on nothing else.
  uint64_t z = seed_ + operations_ * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return 1 + (z ^ (z >> 31)) % (length - 1);
}

Status FaultyFileSystem::CheckRunning(std::string_view action,
                                      const std::string& path) {
  if (!stopped_) return {};
  return Unexpected(
      Error{ErrorCode::kStopped,
            std::string(action) + " " + path + ": the machine has stopped"});
}

Status FaultyFileSystem::JudgeCreation(OperationKind kind,
                                       const std::string& path) {
  NEPHILA_TRY(const bool exists, base_.Exists(path));
  if (exists) return {};
  Verdict verdict = Judge(kind, path);
  if (!verdict.error.has_value()) return {};
  return Unexpected(*std::move(verdict.error));
}

template <typename Call>
Status FaultyFileSystem::Mutate(OperationKind kind, const std::string& path,
                                uint64_t size, Call call) {
  const MutexLock lock(mutex_);
  Verdict verdict = Judge(kind, path, 0, size);
  if (verdict.error.has_value()) return Unexpected(*std::move(verdict.error));
  return call();
}

}  // namespace nephila
