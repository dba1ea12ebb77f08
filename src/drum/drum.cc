#include "drum/drum.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/random.h"
#include "drum/batch.h"
#include "drum/commit.h"
#include "drum/journal.h"
#include "drum/memory_run.h"
#include "drum/pass.h"
#include "drum/plan.h"
#include "drum/store_file.h"
#include "drum/store_scan.h"
#include "drum/tiers.h"
#include "drum/write_queue.h"

namespace nephila::drum {
namespace {

// A journal is left for a new one when it is this much larger than what is
// needed to say the same anew.
constexpr uint64_t kJournalSlack = uint64_t{1} << 20;

// Passes that a dry consumer asks for may take this share of the time.
constexpr int kPassShare = 10;

Unexpected<Error> Invalid(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Status CheckOptions(const DrumOptions& options) {
  const bool fixed = options.value.kind == ValueKind::kFixed;
  if (fixed != (options.value.bytes > 0)) {
    return Invalid("values of a fixed size, and only those, name their size");
  }
  if (options.value.kind == ValueKind::kNone) {
    if (options.rule != nullptr) {
      return Invalid("a store without values takes no merge rule");
    }
    return {};
  }
  if (options.rule == nullptr) {
    return Invalid("a store with values needs a merge rule");
  }
  if (options.value.bytes > kMaxValueBytes) {
    return Invalid("values of a store are at most 16 MiB");
  }
  return {};
}

Result<std::shared_ptr<const Run>> OpenRun(FileSystem& fs,
                                           const std::string& dir,
                                           const StoreHeader& header,
                                           const RunInfo& info,
                                           IoCounts& counts) {
  return Run::Open(fs, StoreFilePath(dir, info.file_number, kRunSuffix),
                   StoreFileSalt(header.salt, info.file_number, kRunSuffix),
                   info, header.value, counts);
}

Result<Records> OpenRecords(FileSystem& fs, const std::string& dir,
                            const StoreState& state, IoCounts& counts) {
  Records records;
  records.memory = state.memory;
  for (const RunInfo& info : state.runs) {
    NEPHILA_TRY(auto run, OpenRun(fs, dir, state.header, info, counts));
    records.runs.push_back(std::move(run));
  }
  return records;
}

}  // namespace

class Drum::Impl {
 public:
  Impl(const DrumContext& context, std::string dir, DrumOptions options,
       const StoreHeader& header)
      : context_(context),
        dir_(std::move(dir)),
        options_(std::move(options)),
        header_(header),
        plan_(MakePlan(options_.memory_bytes, options_.disk_bytes,
                       context.workers.threads())),
        codecs_(options_.codec, std::max(context.workers.threads(), 1)),
        writes_(context.workers),
        commits_(context.fs, dir_, header_) {}

  Status CreateNew();
  Status Restore(StoreState state);

  Status Add(const Tuple& tuple);
  Status Flush();
  Result<bool> FlushIfCheap();
  Result<size_t> Deliver(Receiver& receiver, size_t max_results);
  Status Wait();
  Status Drain(Receiver& receiver);
  bool PassIsOn() const { return frozen_ != nullptr; }
  bool IsIdle() const { return frozen_ == nullptr && gathering_->empty(); }
  Result<uint64_t> BeginCommit();
  Status FinishCommit() { return commits_.Finish(); }
  Result<std::unique_ptr<Scan>> NewScan(const ScanRange& range) const {
    return MakeScan(records_, range);
  }
  Status Load(
      const std::function<bool(uint64_t& key, std::string& value)>& next);
  DrumStats stats() const;
  uint64_t generation() const { return generation_; }

 private:
  // Of the records on disk: what a check may have to carry as its answer.
  uint64_t MeanValueBytes() const {
    if (header_.value.kind != ValueKind::kVariable) return 0;
    uint64_t bytes = 0;
    uint64_t records = 1;
    for (const auto& run : records_.runs) {
      bytes += run->bytes();
      records += run->records();
    }
    return bytes / records;
  }

  BatchContext MakeBatchContext() {
    return {MeanValueBytes(), context_.fs,    dir_,         header_.salt,
            counts_,          writes_,        codecs_,      chunk_buffers_,
            compressors_,     block_buffers_, aux_builders_};
  }
  TupleFormat Format() const {
    return {header_.value, header_.only, header_.log_buckets,
            plan_.bucket_bits};
  }

  Status CheckTuple(const Tuple& tuple) const;
  Status CheckValue(std::string_view value) const;
  // The error that ended the store, if one did.
  Status CheckAlive();
  // Passes an error on, and keeps it if it is final.
  Unexpected<Error> Note(Error error);

  void NewBatch();
  Status BeginPass();
  Status StartMerge();
  uint64_t NewRunBytes() const;
  // Ends a pass that is delivered, and begins the next if it is due.
  Status Progress();
  Status FinishPass();
  Status TakeRun(const RunInfo& info);
  void Retire(std::string_view suffix, uint64_t number, uint64_t batch_bytes,
              bool named);
  void RetireBatch(const Batch& batch);
  uint64_t OtherDiskBytes() const;
  Status HasRoom();

  const DrumContext context_;
  const std::string dir_;
  const DrumOptions options_;
  const StoreHeader header_;
  const Plan plan_;
  IoCounts counts_;
  FreeList<BlockBuffer> chunk_buffers_;
  FreeList<Compressor> compressors_;
  FreeList<BlockBuffer> block_buffers_;
  FreeList<AuxBlockBuilder> aux_builders_;
  CodecChooser codecs_;
  WriteQueue writes_;
  CommitWriter commits_;

  uint64_t generation_ = 0;
  uint64_t next_file_ = 1;
  StoreCounters counters_;
  uint64_t aux_bytes_ = 0;
  uint64_t retired_aux_log_bytes_ = 0;

  Records records_;
  // Since the last commit: what the run in memory got, or that it was emptied.
  std::vector<std::shared_ptr<const MemoryRun>> memory_changes_;
  bool memory_emptied_ = false;
  std::vector<RetiredFile> retired_;
  uint64_t retired_bytes_ = 0;  // of them, what counts against the budget

  std::shared_ptr<Batch> gathering_;
  std::shared_ptr<Batch> frozen_;
  std::set<uint64_t> named_;  // numbers of files that some commit names
  std::unique_ptr<Pass> pass_;
  uint64_t pass_uniques_ = 0;
  double unique_share_ = 0.5;              // of the tuples of the last pass
  std::optional<std::string> parameters_;  // of a pass that found no space
  bool flush_ = false;
  bool with_run_ = false;  // the changes of this pass do not fit into memory

  MonoTime pass_ended_{};
  std::chrono::nanoseconds pass_time_{0};
  std::chrono::nanoseconds finish_time_{0};  // its part behind the merge
};

Status Drum::Impl::CheckAlive() {
  if (!commits_.has_failed()) return {};
  return Unexpected(*commits_.failure());
}

Unexpected<Error> Drum::Impl::Note(Error error) {
  if (counts_.write_failed) commits_.Fail(error);
  return Unexpected(std::move(error));
}

void Drum::Impl::NewBatch() {
  uint64_t keys = 0;
  for (const auto& run : records_.runs) keys += run->records();
  const Codec codec = codecs_.Choose(counts_, keys, plan_.batch_disk_bytes);
  gathering_ = std::make_shared<Batch>(MakeBatchContext(), next_file_++,
                                       Format(), plan_, codec);
}

Status Drum::Impl::CreateNew() {
  NewBatch();
  generation_ = 0;
  NEPHILA_TRY(const uint64_t generation, BeginCommit());
  NEPHILA_CHECK(generation == 0);
  return FinishCommit();
}

Status Drum::Impl::Restore(StoreState state) {
  generation_ = state.generation;
  next_file_ = state.next_file;
  counters_ = state.counters;
  retired_ = std::move(state.retired);
  for (const RetiredFile& file : retired_) retired_bytes_ += file.batch_bytes;
  NEPHILA_TRY(records_, OpenRecords(context_.fs, dir_, state, counts_));
  for (const auto& run : records_.runs) {
    named_.insert(run->file_number());
    commits_.SyncLater(run->path());
  }
  for (BatchState& batch_state : state.batches) {
    named_.insert(batch_state.number);
    NEPHILA_TRY(auto batch,
                Batch::Restore(MakeBatchContext(), std::move(batch_state),
                               plan_, codecs_.Choose(counts_, 0, 0)));
    (batch->frozen() ? frozen_ : gathering_) = std::move(batch);
  }
  if (gathering_ == nullptr) NewBatch();
  std::set<std::string> keep = {state.journal};
  for (const RetiredFile& file : retired_) keep.insert(file.name);
  for (const auto& run : records_.runs) {
    keep.insert(StoreFileName(run->file_number(), kRunSuffix));
  }
  for (const auto& batch : {frozen_, gathering_}) {
    if (batch == nullptr) continue;
    if (batch->has_keys_file()) {
      keep.insert(StoreFileName(batch->number(), kKeysSuffix));
    }
    if (batch->has_aux_file()) {
      keep.insert(StoreFileName(batch->number(), kAuxSuffix));
    }
  }
  return commits_.Restore(state, keep);
}

Status Drum::Impl::CheckTuple(const Tuple& tuple) const {
  if (header_.only && tuple.operation != *header_.only) {
    return Invalid("this store takes one operation only, and not this one");
  }
  if (tuple.aux.size() > kMaxAuxBytes) {
    return Invalid("aux of a tuple is at most 16 MiB");
  }
  return Updates(tuple.operation) ? CheckValue(tuple.value)
         : tuple.value.empty()    ? Status()
                                  : Invalid("a check takes no value");
}

Status Drum::Impl::CheckValue(std::string_view value) const {
  if (header_.value.kind == ValueKind::kNone && !value.empty()) {
    return Invalid("a value for a store without values");
  }
  if (header_.value.kind == ValueKind::kFixed &&
      value.size() != header_.value.bytes) {
    return Invalid(
        fmt::format("a value of {} bytes in a store of {} bytes each",
                    value.size(), header_.value.bytes));
  }
  if (value.size() > kMaxValueBytes) {
    return Invalid("values of a store are at most 16 MiB");
  }
  return {};
}

uint64_t Drum::Impl::OtherDiskBytes() const {
  return retired_bytes_ + (frozen_ == nullptr ? 0 : frozen_->disk_bytes());
}

Status Drum::Impl::HasRoom() {
  if (parameters_) NEPHILA_RETURN_IF_ERROR(BeginPass());
  const bool full = gathering_->IsFull();
  if (!full && gathering_->planned_disk_bytes() + OtherDiskBytes() <
                   options_.disk_bytes) {
    return {};
  }
  NEPHILA_RETURN_IF_ERROR(Progress());
  if (!gathering_->IsFull() &&
      gathering_->planned_disk_bytes() + OtherDiskBytes() <
          options_.disk_bytes) {
    return {};
  }
  return Unexpected(Error{
      ErrorCode::kBusy,
      dir_ + ": the disk for batches is used up until results are taken and "
             "commits free old files"});
}

Status Drum::Impl::Add(const Tuple& tuple) {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  NEPHILA_RETURN_IF_ERROR(CheckTuple(tuple));
  NEPHILA_RETURN_IF_ERROR(HasRoom());
  if (Status status =
          gathering_->Add(tuple.operation, tuple.key, tuple.value, tuple.aux);
      !status) {
    return Note(std::move(status).error());
  }
  ++counters_.tuples_added;
  aux_bytes_ += tuple.aux.size();
  return {};
}

Status Drum::Impl::BeginPass() {
  NEPHILA_CHECK(frozen_ == nullptr);
  if (!parameters_) {
    parameters_ = options_.parameters ? options_.parameters() : std::string();
  }
  if (Status status = gathering_->Freeze(*parameters_); !status) {
    return Note(std::move(status).error());
  }
  parameters_.reset();
  flush_ = false;
  frozen_ = std::move(gathering_);
  NewBatch();
  return StartMerge();
}

// What the pass over the frozen batch will write, as far as one can tell.
uint64_t Drum::Impl::NewRunBytes() const {
  constexpr double kBytesPerKey = 5.5;
  // With values most tuples change a record, without only the new ones do.
  const double share =
      header_.value.kind == ValueKind::kNone ? unique_share_ : 1;
  const double keys = static_cast<double>(frozen_->tuples()) * share +
                      static_cast<double>(records_.memory.records());
  return static_cast<uint64_t>(keys * kBytesPerKey) + frozen_->value_bytes();
}

Status Drum::Impl::StartMerge() {
  PassOptions options;
  options.batch = frozen_;
  options.records = records_;
  options.rule = options_.rule;
  options.key_of_aux = options_.key_of_aux;
  options.unique_only = options_.unique_only;
  // What the changes would take in memory, were every tuple one.
  const uint64_t most_bytes = frozen_->tuples() * 17 + frozen_->value_bytes();
  const uint64_t in_memory = records_.memory.memory_bytes();
  if (with_run_ || in_memory + most_bytes > plan_.memory_run_bytes) {
    options.run_number = next_file_++;
    std::vector<uint64_t> run_bytes;
    for (const auto& run : records_.runs) run_bytes.push_back(run->bytes());
    options.folded_runs = RunsToFold(run_bytes, NewRunBytes());
  }
  options.results_number = next_file_++;
  pass_uniques_ = 0;
  auto pass = std::make_unique<Pass>(
      Pass::Context{context_.fs, dir_, header_.salt, counts_, context_.workers,
                    plan_, context_.clock},
      std::move(options));
  pass->SkipResults(frozen_->delivered());
  if (Status status = pass->Start(); !status) {
    return Note(std::move(status).error());
  }
  pass_ = std::move(pass);
  return {};
}

Status Drum::Impl::Flush() {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  NEPHILA_RETURN_IF_ERROR(Progress());
  if (gathering_->empty()) return {};
  flush_ = true;
  return frozen_ == nullptr ? BeginPass() : Status();
}

Result<bool> Drum::Impl::FlushIfCheap() {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  NEPHILA_RETURN_IF_ERROR(Progress());
  if (frozen_ != nullptr) return true;
  if (gathering_->empty()) return false;
  const auto waited = context_.clock.Now() - pass_ended_;
  if (counters_.passes > 0 && pass_time_ * kPassShare > waited) return false;
  NEPHILA_RETURN_IF_ERROR(BeginPass());
  return true;
}

Status Drum::Impl::Progress() {
  if (frozen_ != nullptr && pass_ == nullptr) {
    NEPHILA_RETURN_IF_ERROR(StartMerge());
  }
  if (pass_ != nullptr) {
    auto merged = pass_->IsMerged();
    if (!merged.has_value() && pass_->outgrown()) {
      pass_.reset();
      with_run_ = true;
      return StartMerge();
    }
    if (!merged.has_value()) {
      // Done again by the next call, from the same input.
      pass_.reset();
      return Note(std::move(merged).error());
    }
    if (*merged && pass_->IsDelivered()) NEPHILA_RETURN_IF_ERROR(FinishPass());
  }
  if (frozen_ == nullptr && !gathering_->empty() &&
      (flush_ || parameters_ || gathering_->IsFull())) {
    return BeginPass();
  }
  return {};
}

void Drum::Impl::Retire(std::string_view suffix, uint64_t number,
                        uint64_t batch_bytes, bool named) {
  const std::string path = StoreFilePath(dir_, number, suffix);
  // A file that cannot be removed is removed by the next Open.
  if (!named) {
    static_cast<void>(context_.fs.Remove(path).has_value());
    return;
  }
  retired_.push_back({StoreFileName(number, suffix), generation_, batch_bytes});
  retired_bytes_ += batch_bytes;
}

void Drum::Impl::RetireBatch(const Batch& batch) {
  const bool named = named_.contains(batch.number());
  const uint64_t aux_bytes = batch.aux_log_bytes();
  if (batch.has_keys_file()) {
    Retire(kKeysSuffix, batch.number(), batch.disk_bytes() - aux_bytes, named);
  }
  if (batch.has_aux_file())
    Retire(kAuxSuffix, batch.number(), aux_bytes, named);
  retired_aux_log_bytes_ += aux_bytes;
  named_.erase(batch.number());
}

Status Drum::Impl::TakeRun(const RunInfo& info) {
  Records records;
  const size_t folded = pass_->options().folded_runs;
  const std::string path = StoreFilePath(dir_, info.file_number, kRunSuffix);
  const bool keep = info.records > 0;
  if (keep) {
    NEPHILA_TRY(auto run, OpenRun(context_.fs, dir_, header_, info, counts_));
    records.runs.push_back(std::move(run));
    pass_->TakeRun();
    commits_.SyncLater(path);
  }
  for (size_t i = 0; i < records_.runs.size(); ++i) {
    if (i >= folded) {
      records.runs.push_back(records_.runs[i]);
      continue;
    }
    const uint64_t number = records_.runs[i]->file_number();
    const bool named = named_.erase(number) > 0;
    if (!named) commits_.ForgetSync(records_.runs[i]->path());
    Retire(kRunSuffix, number, 0, named);
  }
  records_ = std::move(records);
  memory_emptied_ = true;
  memory_changes_.clear();
  return {};
}

Status Drum::Impl::FinishPass() {
  const MonoTime began = context_.clock.Now();
  if (pass_->options().run_number != 0) {
    if (Status status = TakeRun(*pass_->run()); !status) {
      pass_.reset();
      return Note(std::move(status).error());
    }
  } else {
    if (!pass_->changes()->empty()) {
      records_.memory.Add(pass_->changes(), records_.runs.empty());
      memory_changes_.push_back(pass_->changes());
      size_t records = 0;
      for (const auto& changes : memory_changes_) records += changes->records();
      // Many passes over few keys: the whole is less than its changes.
      if (records > records_.memory.records()) {
        memory_changes_ = records_.memory.layers();
        memory_emptied_ = true;
      }
    }
    ++counters_.small_passes;
  }
  ++counters_.passes;
  with_run_ = false;
  if (frozen_->results() > 0) {
    unique_share_ = std::max(static_cast<double>(pass_uniques_) /
                                 static_cast<double>(frozen_->results()),
                             0.01);
  }
  const auto merge_time = pass_->merge_time();
  pass_.reset();
  RetireBatch(*frozen_);
  frozen_.reset();
  pass_ended_ = context_.clock.Now();
  // Now and then the end of a small pass merges large layers: that is the
  // price of many passes.
  finish_time_ += (pass_ended_ - began - finish_time_) / 8;
  pass_time_ = merge_time + finish_time_;
  return {};
}

Result<size_t> Drum::Impl::Deliver(Receiver& receiver, size_t max_results) {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  NEPHILA_RETURN_IF_ERROR(Progress());
  if (pass_ == nullptr) return size_t{0};
  Pass::Delivered delivered;
  Status status = pass_->Deliver(receiver, max_results, delivered);
  // Without threads nobody else reads the log.
  while (status && delivered.results == 0 && max_results > 0 &&
         context_.workers.threads() == 0 && !pass_->IsDelivered()) {
    pass_->WaitForProgress();
    status = pass_->Deliver(receiver, max_results, delivered);
  }
  frozen_->set_delivered(frozen_->delivered() + delivered.results);
  counters_.results_delivered += delivered.results;
  counters_.uniques_delivered += delivered.uniques;
  pass_uniques_ += delivered.uniques;
  if (!status) {
    if (pass_->outgrown()) {
      NEPHILA_RETURN_IF_ERROR(Progress());
      return Deliver(receiver, max_results);
    }
    pass_.reset();
    return Note(std::move(status).error());
  }
  NEPHILA_RETURN_IF_ERROR(Progress());
  return delivered.results;
}

Status Drum::Impl::Wait() {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  NEPHILA_RETURN_IF_ERROR(Progress());
  if (pass_ == nullptr) return {};
  pass_->WaitForProgress();
  if (pass_->outgrown()) {
    NEPHILA_RETURN_IF_ERROR(Progress());
    pass_->WaitForProgress();
  }
  return Progress();
}

Status Drum::Impl::Drain(Receiver& receiver) {
  constexpr size_t kResultsAtOnce = 65536;
  NEPHILA_RETURN_IF_ERROR(Flush());
  while (PassIsOn() || !gathering_->empty()) {
    if (!PassIsOn()) NEPHILA_RETURN_IF_ERROR(Flush());
    NEPHILA_TRY(const size_t results, Deliver(receiver, kResultsAtOnce));
    if (results == 0) NEPHILA_RETURN_IF_ERROR(Wait());
  }
  return {};
}

Result<uint64_t> Drum::Impl::BeginCommit() {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  if (commits_.IsPending()) {
    return Unexpected(
        Error{ErrorCode::kBusy, dir_ + ": a commit is not finished yet"});
  }
  // By now whoever names commits in a manifest has published the last durable
  // one, so the two newest are that and the one before.
  std::vector<std::string> remove;
  std::erase_if(retired_, [&](const RetiredFile& file) {
    if (file.last_named + 2 > commits_.durable_generation()) return false;
    remove.push_back(file.name);
    retired_bytes_ -= file.batch_bytes;
    return true;
  });
  Status prepared = gathering_->PrepareCommit();
  if (!prepared && prepared.error().code == ErrorCode::kNoSpace) {
    // They would go with the commit, which has no room without it.
    commits_.RemoveFiles(remove);
    remove.clear();
    prepared = gathering_->PrepareCommit();
  }
  if (!prepared) {
    commits_.RemoveFiles(remove);
    return Note(std::move(prepared).error());
  }
  CommitHead head;
  head.whole = commits_.WantsWhole(kJournalSlack);
  head.generation = commits_.is_first() ? 0 : generation_ + 1;
  head.next_file = next_file_;
  head.counters = counters_;
  for (const auto& run : records_.runs) head.runs.push_back(run->info());
  if (head.whole && !commits_.journal().empty()) {
    retired_.push_back({commits_.journal(), generation_, 0});
  }
  head.retired = retired_;

  std::string commit;
  ByteWriter writer(commit);
  AppendCommitHead(writer, head);
  if (head.whole) {
    AppendMemoryChanges(writer, true, records_.memory.layers());
  } else {
    AppendMemoryChanges(writer, memory_emptied_, memory_changes_);
  }
  memory_changes_.clear();
  memory_emptied_ = false;
  writer.Varint(frozen_ == nullptr ? 1 : 2);
  std::vector<std::shared_ptr<BlockFile>> unsynced;
  for (const auto& batch : {frozen_, gathering_}) {
    if (batch == nullptr) continue;
    batch->AppendTo(writer, head.whole);
    named_.insert(batch->number());
    for (auto& file : batch->TakeUnsynced()) {
      unsynced.push_back(std::move(file));
    }
  }
  for (const RunInfo& run : head.runs) named_.insert(run.file_number);
  // What readers would refuse must never count as durable.
  NEPHILA_CHECK(commit.size() <= kMostCommitBytes);
  generation_ = head.generation;
  commits_.Begin(head.generation, head.whole, std::move(commit),
                 std::move(unsynced), std::move(remove));
  return generation_;
}

Status Drum::Impl::Load(
    const std::function<bool(uint64_t& key, std::string& value)>& next) {
  NEPHILA_RETURN_IF_ERROR(CheckAlive());
  if (!records_.runs.empty() || !records_.memory.empty() || PassIsOn() ||
      !gathering_->empty()) {
    return Invalid(dir_ + ": only an empty store can be loaded");
  }
  const uint64_t number = next_file_++;
  const std::string path = StoreFilePath(dir_, number, kRunSuffix);
  const uint64_t salt = StoreFileSalt(header_.salt, number, kRunSuffix);
  NEPHILA_TRY(auto run_writer, RunWriter::Create(context_.fs, path, number,
                                                 salt, header_.value, counts_));
  const auto write = [&]() -> Result<RunInfo> {
    auto part = run_writer->NewPart();
    uint64_t key = 0;
    std::string value;
    std::optional<uint64_t> last;
    while (next(key, value)) {
      if (last && *last >= key) return Invalid(dir_ + ": keys do not ascend");
      NEPHILA_RETURN_IF_ERROR(CheckValue(value));
      NEPHILA_RETURN_IF_ERROR(part->Add(key, value));
      last = key;
    }
    NEPHILA_RETURN_IF_ERROR(part->Finish());
    return run_writer->Finish();
  };
  auto info = write();
  if (!info || info->records == 0) {
    run_writer.reset();
    static_cast<void>(context_.fs.Remove(path).has_value());
    if (info) return {};
    return Note(std::move(info).error());
  }
  run_writer.reset();
  NEPHILA_TRY(auto run, OpenRun(context_.fs, dir_, header_, *info, counts_));
  records_.runs.push_back(std::move(run));
  commits_.SyncLater(path);
  return {};
}

DrumStats Drum::Impl::stats() const {
  DrumStats stats;
  stats.tuples_added = counters_.tuples_added;
  stats.results_delivered = counters_.results_delivered;
  stats.uniques_delivered = counters_.uniques_delivered;
  stats.passes = counters_.passes;
  stats.small_passes = counters_.small_passes;
  stats.bytes_read = counts_.bytes_read;
  stats.bytes_written = counts_.bytes_written + commits_.bytes_written();
  stats.aux_bytes = aux_bytes_;
  stats.aux_log_bytes = retired_aux_log_bytes_ + gathering_->aux_log_bytes() +
                        (frozen_ == nullptr ? 0 : frozen_->aux_log_bytes());
  stats.runs = records_.runs.size();
  for (const auto& run : records_.runs) {
    stats.records += run->records();
    stats.run_bytes += run->bytes();
  }
  stats.memory_records = records_.memory.records();
  stats.batch_disk_bytes = gathering_->disk_bytes() + OtherDiskBytes();
  stats.cheap_interval = pass_time_ * (kPassShare + 1);
  return stats;
}

Drum::Drum(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Drum::~Drum() = default;

Result<std::unique_ptr<Drum>> Drum::Create(const DrumContext& context,
                                           const std::string& dir,
                                           DrumOptions options) {
  NEPHILA_RETURN_IF_ERROR(CheckOptions(options));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context.fs, dir));
  NEPHILA_TRY(const bool exists, HasJournal(context.fs, dir));
  if (exists) {
    return Unexpected(
        Error{ErrorCode::kAlreadyExists, dir + ": a store is there already"});
  }
  NEPHILA_TRY(const uint64_t salt, RandomSeed());
  const StoreHeader header{salt, options.value, options.only,
                           options.key_of_aux == nullptr};
  auto impl = std::make_unique<Impl>(context, dir, std::move(options), header);
  NEPHILA_RETURN_IF_ERROR(impl->CreateNew());
  return std::unique_ptr<Drum>(new Drum(std::move(impl)));
}

Result<std::unique_ptr<Drum>> Drum::Open(const DrumContext& context,
                                         const std::string& dir,
                                         DrumOptions options,
                                         uint64_t generation) {
  NEPHILA_RETURN_IF_ERROR(CheckOptions(options));
  NEPHILA_TRY(StoreState state, LoadState(context.fs, dir, generation));
  if (state.header.value != options.value ||
      state.header.only != options.only ||
      state.header.log_buckets != (options.key_of_aux == nullptr)) {
    return Invalid(dir +
                   ": the store was made with another value format, "
                   "operation or key function");
  }
  auto impl =
      std::make_unique<Impl>(context, dir, std::move(options), state.header);
  NEPHILA_RETURN_IF_ERROR(impl->Restore(std::move(state)));
  return std::unique_ptr<Drum>(new Drum(std::move(impl)));
}

Result<uint64_t> Drum::NewestGeneration(FileSystem& fs,
                                        const std::string& dir) {
  return drum::NewestGeneration(fs, dir);
}

Status Drum::Add(const Tuple& tuple) { return impl_->Add(tuple); }
Status Drum::Flush() { return impl_->Flush(); }
Result<bool> Drum::FlushIfCheap() { return impl_->FlushIfCheap(); }
Result<size_t> Drum::Deliver(Receiver& receiver, size_t max_results) {
  return impl_->Deliver(receiver, max_results);
}
Status Drum::Wait() { return impl_->Wait(); }
Status Drum::Drain(Receiver& receiver) { return impl_->Drain(receiver); }
bool Drum::PassIsOn() const { return impl_->PassIsOn(); }
bool Drum::IsIdle() const { return impl_->IsIdle(); }
Result<uint64_t> Drum::BeginCommit() { return impl_->BeginCommit(); }
Status Drum::FinishCommit() { return impl_->FinishCommit(); }
Result<uint64_t> Drum::Commit() {
  // One that found no space may be left, and knows nothing of what came since.
  NEPHILA_RETURN_IF_ERROR(impl_->FinishCommit());
  NEPHILA_TRY(const uint64_t generation, impl_->BeginCommit());
  NEPHILA_RETURN_IF_ERROR(impl_->FinishCommit());
  return generation;
}
Result<std::unique_ptr<Scan>> Drum::NewScan(const ScanRange& range) const {
  return impl_->NewScan(range);
}
Status Drum::Load(
    const std::function<bool(uint64_t& key, std::string& value)>& next) {
  return impl_->Load(next);
}
DrumStats Drum::stats() const { return impl_->stats(); }
uint64_t Drum::generation() const { return impl_->generation(); }

namespace {

// Keeps what its records count alive.
class CommitScan final : public Scan {
 public:
  static Result<std::unique_ptr<Scan>> Make(FileSystem& fs,
                                            const std::string& dir,
                                            uint64_t generation,
                                            const ScanRange& range) {
    NEPHILA_TRY(const StoreState state, LoadState(fs, dir, generation));
    auto scan = std::make_unique<CommitScan>();
    NEPHILA_TRY(const Records records,
                OpenRecords(fs, dir, state, scan->counts_));
    NEPHILA_TRY(scan->scan_, MakeScan(records, range));
    return std::unique_ptr<Scan>(std::move(scan));
  }

  bool AtEnd() const override { return scan_->AtEnd(); }
  uint64_t key() const override { return scan_->key(); }
  std::string_view value() const override { return scan_->value(); }
  Status Next() override { return scan_->Next(); }

 private:
  IoCounts counts_;
  std::unique_ptr<Scan> scan_;
};

}  // namespace

Result<std::unique_ptr<Scan>> ScanCommit(FileSystem& fs, const std::string& dir,
                                         uint64_t generation,
                                         const ScanRange& range) {
  return CommitScan::Make(fs, dir, generation, range);
}

}  // namespace nephila::drum
