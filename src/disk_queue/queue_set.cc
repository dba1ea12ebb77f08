#include "disk_queue/queue_set.h"

#include <utility>

#include "base/random.h"
#include "disk_queue/block.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/queue_set_impl.h"

namespace nephila::disk_queue {
namespace {

constexpr uint64_t kLeastMemory = uint64_t{4} << 10;
constexpr uint64_t kMostMemory = uint64_t{4} << 30;
// Heads of segment, frame and block.
constexpr uint64_t kLeastSlack = 160;
constexpr uint64_t kMostSegment = uint64_t{1} << 30;
constexpr uint64_t kMostPerFile = uint64_t{1} << 20;

Unexpected<Error> Invalid(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Status CheckOptions(const QueueSetOptions& options, const Geometry& geometry) {
  if (options.memory_bytes < kLeastMemory ||
      options.memory_bytes > kMostMemory) {
    return Invalid("the memory of queues must be 4 KiB to 4 GiB");
  }
  if (options.block_bytes == 0 || options.block_bytes > kMostRawBytes / 2) {
    return Invalid("a block of a queue must be at most 2 MiB");
  }
  if (geometry.slot_bytes < options.block_bytes + kLeastSlack) {
    return Invalid("a segment of these queues, " +
                   std::to_string(geometry.slot_bytes) +
                   " bytes, must hold a block");
  }
  if (options.max_open_files == 0) {
    return Invalid("queues need a file to be open");
  }
  return {};
}

}  // namespace

QueueSet::QueueSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
QueueSet::~QueueSet() = default;

Result<std::unique_ptr<QueueSet>> QueueSet::Create(
    FileSystem& fs, const std::string& dir, const QueueSetOptions& options) {
  const Geometry geometry{options.segment_bytes, options.segments_per_file};
  NEPHILA_RETURN_IF_ERROR(CheckOptions(options, geometry));
  if (geometry.slot_bytes > kMostSegment || geometry.slots_per_file == 0 ||
      geometry.slots_per_file > kMostPerFile) {
    return Invalid("a segment must have 1 GiB at most, and a file a segment");
  }
  NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, dir));
  NEPHILA_TRY(const bool exists, HasLog(fs, dir));
  if (exists) {
    return Unexpected(Error{ErrorCode::kAlreadyExists,
                            dir + ": a set of queues is there already"});
  }
  NEPHILA_TRY(const uint64_t salt, RandomSeed());
  const SetHead head{salt, geometry};
  auto impl = std::make_unique<Impl>(fs, dir, options, head);
  NEPHILA_RETURN_IF_ERROR(impl->Create());
  return std::unique_ptr<QueueSet>(new QueueSet(std::move(impl)));
}

Result<std::unique_ptr<QueueSet>> QueueSet::Open(FileSystem& fs,
                                                 const std::string& dir,
                                                 const QueueSetOptions& options,
                                                 uint64_t generation) {
  NEPHILA_TRY(LoadedSet loaded, LoadSet(fs, dir, generation));
  // The segments are those that it was made with.
  NEPHILA_RETURN_IF_ERROR(CheckOptions(options, loaded.head.geometry));
  auto impl = std::make_unique<Impl>(fs, dir, options, loaded.head);
  NEPHILA_RETURN_IF_ERROR(impl->Restore(loaded));
  return std::unique_ptr<QueueSet>(new QueueSet(std::move(impl)));
}

Result<uint64_t> QueueSet::Append(uint64_t queue, std::string_view record) {
  return impl_->Append(queue, record);
}

Result<size_t> QueueSet::Read(uint64_t queue, size_t max_records,
                              const Sink& sink) {
  auto done = impl_->ReadAhead(queue, max_records, sink);
  impl_->Release(queue, NextRead(queue));
  return done;
}

Result<size_t> QueueSet::ReadAhead(uint64_t queue, size_t max_records,
                                   const Sink& sink) {
  return impl_->ReadAhead(queue, max_records, sink);
}

void QueueSet::Release(uint64_t queue, uint64_t ordinal) {
  impl_->Release(queue, ordinal);
}

Status QueueSet::Remove(uint64_t queue) { return impl_->Remove(queue); }

uint64_t QueueSet::Kept(uint64_t queue) const {
  const LiveQueue* const found = std::as_const(*impl_).Find(queue);
  return found == nullptr ? 0 : found->next() - found->first();
}

uint64_t QueueSet::Unread(uint64_t queue) const {
  return NextAppend(queue) - NextRead(queue);
}

uint64_t QueueSet::NextAppend(uint64_t queue) const {
  const LiveQueue* const found = std::as_const(*impl_).Find(queue);
  return found == nullptr ? 0 : found->next();
}

uint64_t QueueSet::NextRead(uint64_t queue) const {
  const LiveQueue* const found = std::as_const(*impl_).Find(queue);
  return found == nullptr ? 0 : found->cursor();
}

std::vector<uint64_t> QueueSet::Queues() const { return impl_->Queues(); }

std::unique_ptr<QueueScan> QueueSet::NewScan(uint64_t queue) const {
  return impl_->NewScan(queue);
}

Result<uint64_t> QueueSet::BeginCommit() { return impl_->BeginCommit(); }
Status QueueSet::FinishCommit() { return impl_->FinishCommit(); }

Result<uint64_t> QueueSet::Commit() {
  if (impl_->IsCommitting()) NEPHILA_RETURN_IF_ERROR(impl_->FinishCommit());
  NEPHILA_TRY(const uint64_t generation, impl_->BeginCommit());
  NEPHILA_RETURN_IF_ERROR(impl_->FinishCommit());
  return generation;
}

void QueueSet::ManifestIsDurable(uint64_t generation) {
  impl_->ManifestIsDurable(generation);
}

QueueSetStats QueueSet::stats() const { return impl_->Stats(); }
uint64_t QueueSet::generation() const { return impl_->generation(); }

}  // namespace nephila::disk_queue
