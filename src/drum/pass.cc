#include "drum/pass.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "drum/store_file.h"

namespace nephila::drum {
namespace {

// A task merges about so many tuples: enough to be worth a task and a part of
// the new run, which has pages of its own, and short enough that urgent tasks
// need not wait.
constexpr uint64_t kTuplesPerTask = 32768;

uint32_t GroupBuckets(const PassOptions& options) {
  const uint32_t buckets = options.batch->format().buckets();
  uint64_t work = options.batch->tuples();
  // Where records expire, each of them is looked at.
  if (options.rule != nullptr && options.rule->HasExpiry()) {
    for (const auto& run : options.records.runs) work += run->records();
  }
  const uint64_t groups = std::max<uint64_t>(work / kTuplesPerTask, 1);
  return groups >= buckets
             ? 1
             : static_cast<uint32_t>(buckets / std::bit_floor(groups));
}

// Results that the receiver gets in one call.
constexpr size_t kResultsPerCall = 256;

}  // namespace

struct Pass::Block {
  size_t index = 0;
  bool ready = false;  // under the mutex of the pass
  Status status;
  BlockBuffer buffer;
  Decompressor decompressor;
  AuxBlockReader reader;
  uint32_t left = 0;
};

Pass::Pass(const Context& context, PassOptions options)
    : context_(context),
      options_(std::move(options)),
      with_values_(options_.batch->format().value.kind != ValueKind::kNone),
      results_(
          context.fs,
          StoreFilePath(context.dir, options_.results_number, kResultsSuffix),
          StoreFileSalt(context.salt, options_.results_number, kResultsSuffix),
          context.counts, options_.batch->format().buckets(), !with_values_,
          context.plan.result_bytes),
      group_buckets_(GroupBuckets(options_)) {
  NEPHILA_CHECK(options_.batch->frozen());
  out_.reserve(kResultsPerCall);
}

Pass::~Pass() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  while (true) {
    {
      MutexLock lock(mutex_);
      if (tasks_ == 0) break;
    }
    if (context_.workers.Help()) continue;
    MutexLock lock(mutex_);
    if (tasks_ > 0) changed_.Wait(mutex_);
  }
  if (writer_ == nullptr || run_taken_) return;
  writer_.reset();
  // If it stays, the next Open removes it: no commit knows it.
  static_cast<void>(
      context_.fs
          .Remove(StoreFilePath(context_.dir, options_.run_number, kRunSuffix))
          .has_value());
}

void Pass::Post(Workers::Task task, Workers::Urgency urgency) {
  {
    MutexLock lock(mutex_);
    ++tasks_;
  }
  context_.workers.Post(
      [this, task = std::move(task)] {
        task();
        EndTask();
      },
      urgency);
}

void Pass::EndTask() {
  MutexLock lock(mutex_);
  --tasks_;
  changed_.NotifyAll();
}

bool Pass::outgrown() {
  MutexLock lock(mutex_);
  return outgrown_;
}

Status Pass::Start() {
  const TupleFormat& format = options_.batch->format();
  if (options_.run_number != 0) {
    NEPHILA_TRY(
        writer_,
        RunWriter::Create(
            context_.fs,
            StoreFilePath(context_.dir, options_.run_number, kRunSuffix),
            options_.run_number,
            StoreFileSalt(context_.salt, options_.run_number, kRunSuffix),
            format.value, context_.counts));
  } else {
    group_changes_.resize(format.buckets() / group_buckets_);
  }
  MergeInput input;
  input.batch = options_.batch.get();
  input.records = options_.records;
  input.rule = options_.rule.get();
  input.read_ahead_bytes = context_.plan.read_ahead_bytes;
  input.results = &results_;
  input.writer = writer_.get();
  input.folded_runs = options_.folded_runs;
  const auto tasks = static_cast<size_t>(context_.plan.merge_tasks);
  for (size_t i = 0; i < tasks; ++i) {
    merges_.push_back(std::make_unique<BucketMerge>(input));
  }
  {
    MutexLock lock(mutex_);
    merges_left_ = tasks;
  }
  for (size_t i = 0; i < tasks; ++i) {
    Post([this, i] { RunTask(i); }, Workers::Urgency::kNormal);
  }
  return {};
}

void Pass::Fail(Error error) {
  MutexLock lock(mutex_);
  if (!error_) error_ = std::move(error);
}

void Pass::RunTask(size_t task) {
  const Batch& batch = *options_.batch;
  const uint32_t groups = batch.format().buckets() / group_buckets_;
  uint32_t group = groups;
  {
    MutexLock lock(mutex_);
    // What a pass costs is told by its work, not by how long nobody did it.
    if (next_group_ == 0) began_ = context_.clock.Now();
    if (!ending_ && !error_ && next_group_ < groups) group = next_group_++;
  }
  if (group < groups) {
    auto changes = std::make_unique<MemoryRun>(batch.format().value);
    const uint32_t first = group * group_buckets_;
    Status status =
        merges_[task]->Merge(first, first + group_buckets_, *changes);
    if (status && writer_ == nullptr) {
      // Tuples bound what they change themselves, but not what expires.
      MutexLock lock(mutex_);
      changes_bytes_ += changes->memory_bytes();
      if (changes_bytes_ > 2 * context_.plan.memory_run_bytes) {
        outgrown_ = true;
        status = Unexpected(
            Error{ErrorCode::kStopped, "the changes need a run of their own"});
      }
    }
    if (status) {
      if (writer_ == nullptr) group_changes_[group] = std::move(changes);
      Post([this, task] { RunTask(task); }, Workers::Urgency::kNormal);
      return;
    }
    Fail(std::move(status).error());
  }
  merges_[task].reset();
  {
    MutexLock lock(mutex_);
    if (--merges_left_ > 0 || ending_ || error_) return;
  }
  FinishMerge();
}

void Pass::FinishMerge() {
  auto changes = std::make_shared<MemoryRun>(options_.batch->format().value);
  for (auto& group : group_changes_) {
    changes->Append(*group);
    group.reset();
  }
  changes_ = std::move(changes);
  if (writer_ != nullptr) {
    auto run = writer_->Finish();
    if (!run) return Fail(std::move(run).error());
    run_ = *run;
  }
  merge_time_ = context_.clock.Now() - began_;
  MutexLock lock(mutex_);
  merged_ = true;
}

Result<bool> Pass::IsMerged() {
  MutexLock lock(mutex_);
  if (error_) return Unexpected(*error_);
  return merged_;
}

void Pass::PostReads() {
  const Batch& batch = *options_.batch;
  while (ahead_.size() < context_.plan.aux_blocks_ahead &&
         next_read_ < batch.aux_blocks()) {
    std::shared_ptr<Block> block;
    if (spare_.empty()) {
      block = std::make_shared<Block>();
    } else {
      block = std::move(spare_.back());
      spare_.pop_back();
    }
    block->index = next_read_++;
    block->ready = false;
    ahead_.push_back(block);
    Post(
        [this, block = block.get()] {
          const Batch& from = *options_.batch;
          auto payload = from.ReadAuxBlock(block->index, block->buffer);
          if (!payload) {
            block->status = Unexpected(std::move(payload).error());
          } else {
            block->status =
                block->reader.Open(*payload, from.format().log_buckets,
                                   block->decompressor, kMaxAuxBlockBytes);
            if (block->status && block->reader.records() !=
                                     from.aux_block_records(block->index)) {
              block->status = Unexpected(
                  Error{ErrorCode::kCorruption, "it has not all its records"});
            }
            if (!block->status) {
              block->status =
                  Unexpected(std::move(block->status)
                                 .error()
                                 .WithContext(from.AuxBlockName(block->index)));
            }
          }
          block->left = block->reader.records();
          MutexLock lock(mutex_);
          block->ready = true;
        },
        Workers::Urgency::kUrgent);
  }
}

bool Pass::IsReady(const Block& block) {
  MutexLock lock(mutex_);
  return block.ready;
}

bool Pass::IsDelivered() const {
  return blocks_done_ == options_.batch->aux_blocks();
}

void Pass::HandOn(Receiver& receiver) {
  if (out_.empty()) return;
  size_t offset = 0;
  for (TupleResult& result : out_) {
    // The answers may have moved while they were gathered.
    if (!result.value.empty()) {
      result.value =
          std::string_view(answers_).substr(offset, result.value.size());
      offset += result.value.size();
    }
  }
  receiver.Receive(out_);
  out_.clear();
  answers_.clear();
}

Status Pass::TakeResults(Block& block, size_t max_results, Delivered& taken) {
  const TupleFormat& format = options_.batch->format();
  while (block.left > 0 && taken.results < max_results &&
         out_.size() < kResultsPerCall) {
    uint32_t bucket = 0;
    std::string_view aux;
    block.reader.Next(&bucket, &aux);
    --block.left;
    if (!format.log_buckets) bucket = format.BucketOf(options_.key_of_aux(aux));
    if (bucket >= format.buckets()) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              options_.batch->AuxBlockName(block.index) +
                                  ": a record names no bucket"});
    }
    bool unique = false;
    std::string_view answer;
    NEPHILA_RETURN_IF_ERROR(results_.Next(bucket, unique, answer));
    if (to_skip_ > 0) {
      --to_skip_;
      continue;
    }
    ++taken.results;
    if (unique) ++taken.uniques;
    if (!unique && options_.unique_only) continue;
    answers_ += answer;
    out_.push_back({unique, answer, aux});
  }
  return {};
}

Status Pass::Deliver(Receiver& receiver, size_t max_results,
                     Delivered& delivered) {
  NEPHILA_TRY(const bool merged, IsMerged());
  if (!merged) return {};
  while (max_results > 0) {
    PostReads();
    if (ahead_.empty() || !IsReady(*ahead_.front())) break;
    Block& block = *ahead_.front();
    if (!block.status) return Unexpected(block.status.error());
    while (block.left > 0 && max_results > 0) {
      Delivered taken;
      NEPHILA_RETURN_IF_ERROR(TakeResults(block, max_results, taken));
      HandOn(receiver);
      delivered.results += taken.results;
      delivered.uniques += taken.uniques;
      max_results -= taken.results;
    }
    if (block.left > 0) break;
    ++blocks_done_;
    spare_.push_back(std::move(ahead_.front()));
    ahead_.pop_front();
  }
  return {};
}

void Pass::WaitForProgress() {
  while (true) {
    bool merged = false;
    {
      MutexLock lock(mutex_);
      if (error_) return;
      merged = merged_;
    }
    if (merged) PostReads();
    {
      MutexLock lock(mutex_);
      if (merged_ && (ahead_.empty() || ahead_.front()->ready)) return;
    }
    if (context_.workers.Help()) continue;
    MutexLock lock(mutex_);
    if (error_ || (merged_ && (ahead_.empty() || ahead_.front()->ready))) {
      return;
    }
    // Nothing waits, so a worker has it: it will notify.
    if (tasks_ > 0) changed_.Wait(mutex_);
  }
}

}  // namespace nephila::drum
