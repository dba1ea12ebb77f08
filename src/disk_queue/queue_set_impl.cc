#include "disk_queue/queue_set_impl.h"

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::disk_queue {
namespace {

// Of the memory: tails, and a commit that has all of them, and the rest for
// blocks that are being read.
constexpr uint64_t kTailShare = 3;
constexpr uint64_t kReadShare = 2;
constexpr uint64_t kShares = 8;
// A reserve for commits, all tails and some more, up to this.
constexpr uint64_t kMostReserve = uint64_t{64} << 20;

Unexpected<Error> Invalid(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

}  // namespace

QueueSet::Impl::Impl(FileSystem& fs, std::string dir,
                     const QueueSetOptions& options, const SetHead& head)
    : fs_(fs),
      dir_(std::move(dir)),
      options_(options),
      head_(head),
      log_(fs, dir_, head, std::min(options.memory_bytes / 2, kMostReserve)),
      files_(fs, dir_, head.salt, head.geometry, options.max_open_files,
             OpenMode::kReadWrite),
      slots_(head.geometry),
      packer_(options.codec) {}

uint64_t QueueSet::Impl::tail_budget() const {
  return options_.memory_bytes / kShares * kTailShare;
}

uint64_t QueueSet::Impl::read_budget() const {
  return options_.memory_bytes / kShares * kReadShare;
}

uint64_t QueueSet::Impl::most_record_bytes() const {
  // Alone in its segment.
  const uint64_t room = head_.geometry.slot_bytes - kSegmentHeadBytes -
                        kFrameHeaderBytes - kMostHeadBytes;
  return std::min<uint64_t>(kMostRecordBytes, room);
}

Status QueueSet::Impl::Create() {
  std::string frame(kFrameHeaderBytes, '\0');
  ByteWriter writer(frame);
  AppendCommitHead(writer, {/*whole=*/true, 0, next_segment_, {}, 0});
  log_.Begin(0, /*whole=*/true, std::move(frame), {}, false, {}, 0);
  return log_.Finish();
}

Status QueueSet::Impl::Restore(LoadedSet& loaded) {
  SetState& state = loaded.state;
  generation_ = manifest_ = state.generation;
  next_segment_ = state.next_segment;
  std::set<std::string> keep;
  const auto take = [&](uint64_t slot) {
    slots_.Take(slot);
    keep.insert(SegmentFileName(head_.geometry.FileOf(slot)));
  };
  // Which generation the manifest before names is not known: all that is there
  // stays until the next manifests.
  const uint64_t keep_from =
      options_.named_by_manifests || generation_ == 0 ? 0 : generation_ - 1;
  for (const RetiredSegment& segment : state.retired) {
    if (segment.last_named < keep_from) continue;
    retired_.push_back(segment);
    take(segment.slot);
  }
  for (const auto& [id, queue] : state.queues) {
    for (const Segment& segment : queue.segments) take(segment.slot);
  }
  NEPHILA_RETURN_IF_ERROR(log_.Restore(loaded, keep, keep_from));
  for (auto& [id, queue_state] : state.queues) {
    auto queue = std::make_unique<LiveQueue>(id, std::move(queue_state));
    queue->is_known = true;
    CountTail(*queue);
    queues_.emplace(id, std::move(queue));
  }
  return {};
}

void QueueSet::Impl::Changed(LiveQueue& queue) {
  if (queue.changed) return;
  queue.changed = true;
  changed_.push_back(queue.id());
}

void QueueSet::Impl::CountTail(LiveQueue& queue) {
  tail_memory_ += queue.tail().memory() - queue.counted_tail;
  queue.counted_tail = queue.tail().memory();
}

void QueueSet::Impl::DropBlock(LiveQueue& queue) {
  if (queue.counted_block == 0) return;
  read_memory_ -= queue.counted_block;
  queue.counted_block = 0;
  reading_.erase(queue.reading);
  spare_ = queue.TakeBlock();
}

Result<Segment> QueueSet::Impl::WriteTail(const LiveQueue& queue,
                                          uint64_t& offset) {
  const std::string_view payload =
      packer_.Pack(queue.tail().first(), queue.next() - queue.tail().first(),
                   queue.tail().kept());
  const auto& segments = queue.segments();
  const uint64_t room = head_.geometry.slot_bytes;
  const bool is_new =
      segments.empty() ||
      segments.back().end + kFrameHeaderBytes + payload.size() > room;
  Segment segment =
      is_new ? Segment{next_segment_, slots_.Next(), 0} : segments.back();
  const uint64_t begin = segment.end;
  packed_ = is_new ? SegmentHead(head_.salt, segment.number, queue.id()) : "";
  offset = begin + packed_.size();
  AppendFrame(packed_, payload, BlockSalt(head_.salt, segment.number, offset));
  NEPHILA_CHECK(begin + packed_.size() <= room);
  if (const Status status = files_.Write(segment.slot, begin, packed_);
      !status) {
    if (status.error().code != ErrorCode::kNoSpace) log_.Fail(status.error());
    return Unexpected(status.error());
  }
  if (is_new) {
    ++next_segment_;
    const uint64_t file = head_.geometry.FileOf(segment.slot);
    new_names_ |= !slots_.HasFile(file);
    slots_.Take(segment.slot);
  }
  segment.end = begin + packed_.size();
  return segment;
}

Status QueueSet::Impl::Flush(LiveQueue& queue, bool keep_room) {
  if (queue.tail().empty()) {
    queue.tail().Clear(queue.next(), keep_room);
  } else {
    uint64_t offset = 0;
    NEPHILA_TRY(const Segment segment, WriteTail(queue, offset));
    unsynced_.insert(head_.geometry.FileOf(segment.slot));
    queue.TailBecame(segment, offset, keep_room);
    Changed(queue);
  }
  CountTail(queue);
  return {};
}

void QueueSet::Impl::FindVictims() {
  victims_.reserve(queues_.size());
  for (const auto& [id, queue] : queues_) {
    if (queue->tail().memory() > 0) {
      victims_.push_back({queue->tail().memory(), id});
    }
  }
  std::sort(victims_.begin(), victims_.end(),
            [](const Victim& a, const Victim& b) {
              return a.memory != b.memory ? a.memory < b.memory : a.id > b.id;
            });
}

Status QueueSet::Impl::MakeRoom(uint64_t bytes) {
  bool fresh = false;
  while (tail_memory_ + bytes > tail_budget()) {
    if (victims_.empty()) {
      // One look at all queues for as many blocks as there are queues.
      if (fresh) return {};
      fresh = true;
      FindVictims();
      if (victims_.empty()) return {};
    }
    const Victim victim = victims_.back();
    LiveQueue* const queue = Find(victim.id);
    // It may have been written since the look.
    if (queue != nullptr && queue->tail().memory() * 2 >= victim.memory) {
      NEPHILA_RETURN_IF_ERROR(Flush(*queue, /*keep_room=*/false));
    }
    victims_.pop_back();
  }
  return {};
}

Result<uint64_t> QueueSet::Impl::Append(uint64_t id, std::string_view record) {
  if (log_.has_failed()) NEPHILA_RETURN_IF_ERROR(log_.Failure());
  if (record.size() > most_record_bytes()) {
    return Invalid("a record of " + std::to_string(record.size()) +
                   " bytes is too large for a queue");
  }
  LiveQueue* queue = Find(id);
  if (queue != nullptr && !queue->tail().empty() &&
      queue->tail().kept().size() + record.size() > options_.block_bytes) {
    NEPHILA_RETURN_IF_ERROR(Flush(*queue, TailsFit()));
  }
  const size_t growth = queue != nullptr
                            ? queue->tail().GrowthFor(record.size())
                            : Tail().GrowthFor(record.size());
  if (growth > 0 && tail_memory_ + growth > tail_budget()) {
    NEPHILA_RETURN_IF_ERROR(MakeRoom(growth));
  }
  if (queue == nullptr) {
    auto made = std::make_unique<LiveQueue>(id);
    queue = made.get();
    queues_.emplace(id, std::move(made));
  }
  const uint64_t ordinal = queue->Append(record);
  CountTail(*queue);
  Changed(*queue);
  return ordinal;
}

Status QueueSet::Impl::Load(LiveQueue& queue) {
  const BlockPlace place = queue.WantedBlock();
  const Segment* const segment = queue.FindSegment(place.segment);
  const auto wrong = [&](std::string_view what) {
    const uint64_t slot = segment == nullptr ? 0 : segment->slot;
    const std::string file = SegmentFileName(head_.geometry.FileOf(slot));
    return Unexpected(
        Error{ErrorCode::kCorruption,
              FilePlace("reading", dir_ + "/" + file,
                        head_.geometry.BaseOf(slot) + place.offset) +
                  ": " + std::string(what)});
  };
  if (segment == nullptr) return wrong("no segment has the next record");
  DropBlock(queue);
  std::unique_ptr<Block> block =
      spare_ != nullptr ? std::move(spare_) : std::make_unique<Block>();
  NEPHILA_TRY(const uint64_t end,
              files_.ReadBlock(queue.id(), *segment, place.offset, *block));
  const size_t memory = sizeof(Block) + block->raw.capacity();
  if (!queue.Loaded(std::move(block), place, end)) {
    return wrong("a block of other records than expected");
  }
  queue.counted_block = memory;
  read_memory_ += memory;
  reading_.push_front(&queue);
  queue.reading = reading_.begin();
  while (read_memory_ > read_budget() && reading_.size() > 1) {
    DropBlock(*reading_.back());
  }
  return {};
}

Result<size_t> QueueSet::Impl::ReadAhead(uint64_t id, size_t max_records,
                                         const Sink& sink) {
  if (log_.has_failed()) NEPHILA_RETURN_IF_ERROR(log_.Failure());
  LiveQueue* const queue = Find(id);
  if (queue == nullptr) return size_t{0};
  size_t done = 0;
  while (done < max_records && queue->cursor() < queue->next()) {
    const uint64_t ordinal = queue->cursor();
    if (queue->InTail()) {
      sink({ordinal, queue->ReadFromTail()});
    } else {
      if (queue->LoadedBlock() == nullptr) {
        NEPHILA_RETURN_IF_ERROR(Load(*queue));
      }
      sink({ordinal, queue->ReadFromBlock()});
    }
    ++done;
  }
  if (queue->counted_block != 0) {
    if (queue->LoadedBlock() == nullptr) {
      DropBlock(*queue);
    } else {
      reading_.splice(reading_.begin(), reading_, queue->reading);
    }
  }
  return done;
}

void QueueSet::Impl::Release(uint64_t id, uint64_t ordinal) {
  LiveQueue* const queue = Find(id);
  if (queue == nullptr || ordinal <= queue->first()) return;
  std::vector<Segment> retired;
  queue->Release(ordinal, retired);
  for (const Segment& segment : retired) {
    retired_.push_back({segment.number, segment.slot, generation_});
  }
  CountTail(*queue);
  Changed(*queue);
}

Status QueueSet::Impl::Remove(uint64_t id) {
  if (log_.has_failed()) NEPHILA_RETURN_IF_ERROR(log_.Failure());
  const auto found = queues_.find(id);
  if (found == queues_.end()) return {};
  LiveQueue& queue = *found->second;
  if (queue.first() != queue.next()) {
    return Invalid("queue " + std::to_string(id) + " is not empty");
  }
  DropBlock(queue);
  tail_memory_ -= queue.counted_tail;
  if (queue.is_known) removed_.push_back(id);
  queues_.erase(found);
  return {};
}

std::vector<uint64_t> QueueSet::Impl::FreeSegments() {
  // The commit before is finished, and with it the removals.
  slots_.EmptyFilesAreGone();
  // The only other holders are scans, which may read any of them.
  if (pin_.use_count() > 1) return {};
  const uint64_t keep_from = KeepFrom();
  const auto kept = std::stable_partition(
      retired_.begin(), retired_.end(), [&](const RetiredSegment& segment) {
        return segment.last_named >= keep_from;
      });
  for (auto it = kept; it != retired_.end(); ++it) slots_.Free(it->slot);
  retired_.erase(kept, retired_.end());
  std::vector<uint64_t> empty = slots_.TakeEmptyFiles();
  for (const uint64_t file : empty) {
    files_.Close(file);
    unsynced_.erase(file);
  }
  return empty;
}

std::string QueueSet::Impl::CommitBytes(uint64_t generation, bool whole) {
  std::vector<uint64_t> ids;
  if (whole) {
    ids = Queues();
  } else {
    // A queue may have been removed since, or made again.
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()),
                   changed_.end());
    ids.reserve(changed_.size());
    std::copy_if(changed_.begin(), changed_.end(), std::back_inserter(ids),
                 [this](uint64_t id) { return queues_.contains(id); });
  }
  // With room for the head of its frame: a commit is too large to copy.
  std::string bytes(kFrameHeaderBytes, '\0');
  ByteWriter writer(bytes);
  const size_t removed = whole ? 0 : removed_.size();
  AppendCommitHead(writer, {whole, generation, next_segment_, retired_,
                            removed + ids.size()});
  for (size_t i = 0; i < removed; ++i) AppendRemovedQueue(writer, removed_[i]);
  for (const uint64_t id : ids) {
    LiveQueue& queue = *queues_.at(id);
    AppendQueue(writer, id, queue.Update(whole));
    queue.Committed();
    queue.is_known = true;
    queue.changed = false;
  }
  changed_.clear();
  removed_.clear();
  return bytes;
}

Result<uint64_t> QueueSet::Impl::BeginCommit() {
  if (log_.has_failed()) NEPHILA_RETURN_IF_ERROR(log_.Failure());
  if (log_.IsPending()) return Invalid("a commit of queues is not finished");
  const std::vector<uint64_t> remove = FreeSegments();
  const uint64_t generation = generation_ + 1;
  const bool whole = log_.WantsWhole();
  std::string commit = CommitBytes(generation, whole);
  if (commit.size() > kMostCommitBytes) {
    // What has changed is in it alone.
    log_.Fail({ErrorCode::kInvalidArgument, "a commit of queues is too large"});
    return Unexpected(log_.Failure().error());
  }
  log_.Begin(generation, whole, std::move(commit), std::move(unsynced_),
             new_names_, remove, KeepFrom());
  unsynced_.clear();
  new_names_ = false;
  generation_ = generation;
  return generation;
}

uint64_t QueueSet::Impl::KeepFrom() const {
  if (options_.named_by_manifests) return manifest_before_;
  const uint64_t durable = log_.durable_generation();
  return durable == 0 ? 0 : durable - 1;
}

void QueueSet::Impl::ManifestIsDurable(uint64_t generation) {
  NEPHILA_CHECK(generation <= log_.durable_generation());
  if (generation <= manifest_) return;
  manifest_before_ = manifest_;
  manifest_ = generation;
}

std::vector<uint64_t> QueueSet::Impl::Queues() const {
  std::vector<uint64_t> ids;
  ids.reserve(queues_.size());
  for (const auto& [id, queue] : queues_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::unique_ptr<QueueScan> QueueSet::Impl::NewScan(uint64_t id) const {
  QueueState state;
  if (const LiveQueue* const queue = Find(id)) {
    state = queue->State();
  }
  return std::make_unique<QueueScan>(fs_, dir_, head_.salt, head_.geometry, id,
                                     std::move(state), pin_);
}

QueueSetStats QueueSet::Impl::Stats() const {
  QueueSetStats stats;
  stats.queues = queues_.size();
  for (const auto& [id, queue] : queues_) {
    stats.records += queue->next() - queue->first();
    stats.segments += queue->segments().size();
    for (const Segment& segment : queue->segments()) {
      stats.segment_bytes += segment.end;
    }
  }
  stats.retired_segments = retired_.size();
  stats.tail_bytes = tail_memory_;
  stats.read_bytes = read_memory_;
  stats.bytes_read = files_.bytes_read();
  stats.bytes_written = files_.bytes_written() + log_.bytes_written();
  return stats;
}

}  // namespace nephila::disk_queue
