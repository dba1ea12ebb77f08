#include "base/faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/random.h"

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
      // Names need blocks too, and a file system that puts off choosing them
      // finds out at the sync.
      return kind != OperationKind::kRemove &&
             (kind != OperationKind::kTruncate ||
              operation.length > operation.offset);
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
  if (operation.kind == OperationKind::kSync ||
      operation.kind == OperationKind::kSyncDir) {
    return SyncError(what, operation.path, sys_errno).error();
  }
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
      : File(base->path(), base->direct()), base_(std::move(base)), fs_(fs) {}

  ~FaultyFile() override {
    const MutexLock lock(fs_.mutex_);
    fs_.paths_now_.erase(this);
  }

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    fs_.Spend(out.size());
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(fs_.CheckRunning("read", path()));
    NEPHILA_TRY(const uint64_t pass, fs_.JudgeRead(*this, offset, out.size()));
    return base_->ReadSome(offset, out.first(Part(pass, out.size())));
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    fs_.Spend(data.size());
    const MutexLock lock(fs_.mutex_);
    Verdict verdict =
        fs_.Judge(OperationKind::kWrite, path(), offset, data.size());
    if (!verdict.error.has_value()) {
      return base_->WriteSome(offset,
                              data.first(Part(verdict.pass, data.size())));
    }
    if (direct()) verdict.pass -= verdict.pass % kDirectAlignment;
    if (verdict.pass > 0) {
      IgnoreError(base_->Write(offset, data.first(verdict.pass)),
                  "the fault that was asked for is the one to report");
    }
    return Unexpected(*std::move(verdict.error));
  }

  Status Sync() override {
    return fs_.Mutate(OperationKind::kSync, path(),
                      [this] { return base_->Sync(); });
  }

  Status Truncate(uint64_t size) override {
    fs_.Spend(0);
    const MutexLock lock(fs_.mutex_);
    Verdict verdict = fs_.Judge(OperationKind::kTruncate, path(),
                                base_->Size().value_or(0), size);
    if (verdict.error.has_value()) return Unexpected(*std::move(verdict.error));
    return base_->Truncate(size);
  }

  Status Allocate(uint64_t size) override {
    fs_.Spend(0);
    const MutexLock lock(fs_.mutex_);
    Verdict verdict = fs_.Judge(OperationKind::kAllocate, path(), 0, size);
    if (!verdict.error.has_value()) return base_->Allocate(size);
    if (verdict.pass > 0) {
      IgnoreError(base_->Allocate(verdict.pass),
                  "the fault that was asked for is the one to report");
    }
    return Unexpected(*std::move(verdict.error));
  }

  Result<uint64_t> Size() override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(fs_.CheckRunning("get the size of", path()));
    return base_->Size();
  }

  void Advise(uint64_t offset, uint64_t length, Advice advice) override {
    base_->Advise(offset, length, advice);
  }

  void StartWriteback(uint64_t offset, uint64_t length) override {
    base_->StartWriteback(offset, length);
  }

 private:
  // `pass`, or what a direct file can do in its place and get on.
  uint64_t Part(uint64_t pass, uint64_t length) const {
    if (!direct() || pass == length) return pass;
    const uint64_t aligned = pass - pass % kDirectAlignment;
    return aligned > 0 ? aligned : std::min(length, kDirectAlignment);
  }

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

void FaultyFileSystem::FailReadAt(uint64_t n, uint64_t times) {
  const MutexLock lock(mutex_);
  read_plans_.push_back({n, Fault::kEio, times});
}

void FaultyFileSystem::ShortReadsEvery(uint64_t k) {
  const MutexLock lock(mutex_);
  short_read_every_ = k;
  long_reads_ = 0;
}

void FaultyFileSystem::FailReadsOf(const std::string& path) {
  const MutexLock lock(mutex_);
  unreadable_.insert(path);
}

void FaultyFileSystem::SlowDown(ManualClock& clock,
                                std::chrono::nanoseconds per_call,
                                uint64_t bytes_per_second) {
  const MutexLock lock(mutex_);
  slowness_ = {&clock, per_call, bytes_per_second};
}

void FaultyFileSystem::Heal() {
  const MutexLock lock(mutex_);
  stop_at_.reset();
  stopped_ = false;
  plans_.clear();
  short_every_ = 0;
  read_plans_.clear();
  short_read_every_ = 0;
  unreadable_.clear();
  slowness_.reset();
}

uint64_t FaultyFileSystem::operations() {
  const MutexLock lock(mutex_);
  return operations_;
}

uint64_t FaultyFileSystem::reads() {
  const MutexLock lock(mutex_);
  return reads_;
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
                                                     OpenOptions options) {
  Spend(0);
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("open", path));
  if (options.mode == OpenMode::kCreate ||
      options.mode == OpenMode::kCreateNew) {
    NEPHILA_RETURN_IF_ERROR(JudgeCreation(OperationKind::kCreate, path));
  }
  NEPHILA_TRY(auto opened, base_.Open(path, options));
  std::unique_ptr<File> file =
      std::make_unique<FaultyFile>(std::move(opened), *this);
  paths_now_[file.get()] = path;
  return file;
}

Status FaultyFileSystem::Rename(const std::string& from,
                                const std::string& to) {
  Spend(0);
  const MutexLock lock(mutex_);
  Verdict verdict = Judge(OperationKind::kRename, from + " -> " + to);
  if (verdict.error.has_value()) return Unexpected(*std::move(verdict.error));
  NEPHILA_RETURN_IF_ERROR(base_.Rename(from, to));
  FollowRename(from, to);
  return {};
}

Status FaultyFileSystem::Remove(const std::string& path) {
  return Mutate(OperationKind::kRemove, path,
                [&] { return base_.Remove(path); });
}

Status FaultyFileSystem::RemoveDir(const std::string& path) {
  return Mutate(OperationKind::kRemove, path,
                [&] { return base_.RemoveDir(path); });
}

Status FaultyFileSystem::MakeDir(const std::string& path) {
  Spend(0);
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("make directory", path));
  NEPHILA_RETURN_IF_ERROR(JudgeCreation(OperationKind::kMakeDir, path));
  return base_.MakeDir(path);
}

Result<std::vector<DirEntry>> FaultyFileSystem::List(const std::string& dir) {
  Spend(0);
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("list", dir));
  return base_.List(dir);
}

Result<bool> FaultyFileSystem::Exists(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("look for", path));
  return base_.Exists(path);
}

Result<FileStamp> FaultyFileSystem::Stamp(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(CheckRunning("look at", path));
  return base_.Stamp(path);
}

Status FaultyFileSystem::SyncDir(const std::string& dir) {
  return Mutate(OperationKind::kSyncDir, dir,
                [&] { return base_.SyncDir(dir); });
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::Lock(
    const std::string& path) {
  Spend(0);
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
      // A full disk takes what fits of a write without an error first.
      const bool in_part =
          length > 0 &&
          (kind == OperationKind::kWrite ? *fault == Fault::kEio
                                         : kind == OperationKind::kAllocate);
      return {ErrorOf(operation, *fault == Fault::kNoSpace ? ENOSPC : EIO),
              in_part ? Draw(operation.number, length) : 0};
    }
  }
  if (CanHappen(Fault::kShortWrite, operation) && short_every_ > 0) {
    is_short |= ++long_writes_ % short_every_ == 0;
  }
  return {std::nullopt,
          is_short ? 1 + Draw(operation.number, length - 1) : length};
}

FaultyFileSystem::Verdict FaultyFileSystem::JudgeStop(
    const Operation& operation) {
  const bool tears = !stopped_ && stop_style_ == StopStyle::kTornWrite &&
                     CanHappen(Fault::kShortWrite, operation);
  stopped_ = true;
  return {Error{ErrorCode::kStopped,
                DescribeOperation(operation) + ": the machine has stopped"},
          tears ? 1 + Draw(operation.number, operation.length - 1) : 0};
}

Result<uint64_t> FaultyFileSystem::JudgeRead(const File& file, uint64_t offset,
                                             uint64_t length) {
  ++reads_;
  bool fails = unreadable_.contains(file.path()) ||
               unreadable_.contains(paths_now_[&file]);
  for (Plan& plan : read_plans_) {
    if (fails || plan.times == 0 || reads_ < plan.from) continue;
    --plan.times;
    fails = true;
  }
  if (fails) return FileErrorAt("read", file.path(), offset, EIO);
  if (length < 2 || short_read_every_ == 0) return length;
  if (++long_reads_ % short_read_every_ != 0) return length;
  return 1 + Draw(reads_, length - 1);
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

uint64_t FaultyFileSystem::Draw(uint64_t number, uint64_t bound) const {
  return Random(seed_ ^ Random(number).Next()).Below(bound);
}

void FaultyFileSystem::FollowRename(const std::string& from,
                                    const std::string& to) {
  if (from == to) return;
  for (auto& [file, path] : paths_now_) {
    if (path == to) {
      path.clear();  // replaced: has no name any more
    } else if (path == from || path.starts_with(from + "/")) {
      path.replace(0, from.size(), to);
    }
  }
}

void FaultyFileSystem::Spend(uint64_t bytes) {
  std::optional<Slowness> slowness;
  {
    const MutexLock lock(mutex_);
    if (!stopped_) slowness = slowness_;
  }
  // Outside the lock: who waits on the clock may come back to the disk.
  if (!slowness.has_value()) return;
  const double seconds = static_cast<double>(bytes) /
                         static_cast<double>(slowness->bytes_per_second);
  slowness->clock->Advance(slowness->per_call +
                           std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::duration<double>(seconds)));
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
                                Call call) {
  Spend(0);
  const MutexLock lock(mutex_);
  Verdict verdict = Judge(kind, path);
  if (!verdict.error.has_value()) return call();
  const bool syncs =
      kind == OperationKind::kSync || kind == OperationKind::kSyncDir;
  const int sys_errno = verdict.error->sys_errno;  // 0 if the machine stops
  if (syncs && sys_errno != 0 && memory_ != nullptr) {
    memory_->FailNextSync(sys_errno);
    return call();
  }
  return Unexpected(*std::move(verdict.error));
}

}  // namespace nephila
