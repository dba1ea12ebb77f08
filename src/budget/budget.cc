#include "budget/budget.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::budget {
namespace {

using item::Admission;
using std::chrono::nanoseconds;

constexpr std::string_view kStage = "budget";

std::string DrumDir(const std::string& dir) { return dir + "/domains"; }
std::string QueueDir(const std::string& dir) { return dir + "/queues"; }

}  // namespace

// Notes where each URL goes; the queues are not called from here, as they can
// fail and a Drum's receiver cannot.
class Budget::AnswerReceiver final : public drum::Receiver {
 public:
  explicit AnswerReceiver(Budget& budget) : budget_(budget) {}

  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      const auto answer = ReadAnswer(result.value);
      NEPHILA_CHECK(answer.has_value());
      if (answer->kind == TupleKind::kInDegree) {
        if (budget_.options_.degree_changed) {
          budget_.options_.degree_changed(answer->before, answer->after);
        }
        continue;
      }
      Placed placed;
      placed.queue = answer->queue == 0
                         ? FailedQueue(budget_.rounds_.failed_version())
                         : NumberedQueue(answer->queue);
      // Or it would never be read.
      NEPHILA_CHECK(answer->queue == 0 ||
                    answer->queue >= budget_.rounds_.current());
      placed.of_split = answer->kind == TupleKind::kSplitUrl;
      placed.record = QueueRecord(answer->budget, result.aux);
      budget_.placed_.push_back(std::move(placed));
    }
  }

 private:
  Budget& budget_;
};

Budget::Budget(const drum::DrumContext& context, BudgetOptions options)
    : context_(context),
      options_(std::move(options)),
      rounds_(static_cast<uint64_t>(std::min(options_.settings.first_queues,
                                             options_.settings.max_queues))),
      queue_began_(context.clock.Now()) {}

drum::DrumOptions Budget::MakeDrumOptions() {
  drum::DrumOptions options;
  options.value = {drum::ValueKind::kVariable, 0};
  options.rule = MakeAssignmentRule();
  options.only = drum::Operation::kCheckUpdate;
  options.memory_bytes = options_.drum_memory_bytes;
  options.disk_bytes = options_.drum_disk_bytes;
  options.parameters = [this] { return FreezeParameters(); };
  return options;
}

std::string Budget::FreezeParameters() {
  pass_is_on_ = true;
  pass_begun_at_ = rounds_.current();
  passes_before_ = drum_->stats().passes;
  const std::string function = options_.function();
  PassParameters parameters;
  parameters.window = rounds_.window();
  parameters.split = rounds_.split();
  parameters.queue_time = QueueTime();
  parameters.host_delay = options_.host_delay;
  parameters.host_delay_floor = options_.host_delay_floor;
  parameters.function = function;
  return EncodeParameters(parameters);
}

Result<std::unique_ptr<Budget>> Budget::Create(const drum::DrumContext& context,
                                               const std::string& dir,
                                               BudgetOptions options) {
  std::unique_ptr<Budget> budget(new Budget(context, std::move(options)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context.fs, DrumDir(dir)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context.fs, QueueDir(dir)));
  NEPHILA_TRY(budget->drum_, drum::Drum::Create(context, DrumDir(dir),
                                                budget->MakeDrumOptions()));
  disk_queue::QueueSetOptions queues;
  queues.memory_bytes = budget->options_.queue_memory_bytes;
  NEPHILA_TRY(budget->queues_,
              disk_queue::QueueSet::Create(context.fs, QueueDir(dir), queues));
  return budget;
}

Result<std::unique_ptr<Budget>> Budget::Open(const drum::DrumContext& context,
                                             const std::string& dir,
                                             BudgetOptions options,
                                             std::string_view commit) {
  ByteReader reader(commit);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStage));
  const auto drum_generation = reader.Varint();
  const auto queue_generation = reader.Varint();
  if (!drum_generation.has_value() || !queue_generation.has_value()) {
    return item::DamagedCommit(kStage);
  }
  std::unique_ptr<Budget> budget(new Budget(context, std::move(options)));
  if (!budget->Restore(reader)) return item::DamagedCommit(kStage);
  NEPHILA_TRY(budget->drum_,
              drum::Drum::Open(context, DrumDir(dir), budget->MakeDrumOptions(),
                               *drum_generation));
  disk_queue::QueueSetOptions queues;
  queues.memory_bytes = budget->options_.queue_memory_bytes;
  NEPHILA_TRY(budget->queues_,
              disk_queue::QueueSet::Open(context.fs, QueueDir(dir), queues,
                                         *queue_generation));
  budget->pass_is_on_ = budget->drum_->PassIsOn();
  budget->passes_before_ = budget->drum_->stats().passes;
  if (!budget->CountQueues()) return item::DamagedCommit(kStage);
  return budget;
}

bool Budget::Restore(ByteReader& reader) {
  if (!item::RestoreTotals(reader, account_) || !rounds_.Read(reader)) {
    return false;
  }
  const auto begun_at = reader.Varint();
  const auto queue_time = reader.Varint();
  if (!begun_at.has_value() || !queue_time.has_value() ||
      *queue_time > INT64_MAX || !reader.AtEnd()) {
    return false;
  }
  pass_begun_at_ = *begun_at;
  queue_time_ = nanoseconds(static_cast<int64_t>(*queue_time));
  return true;
}

// False if there is less than the queues have.
bool Budget::CountQueues() {
  for (const uint64_t queue : queues_->Queues()) {
    (IsFailedQueue(queue) ? in_failed_ : in_queues_) += queues_->Kept(queue);
  }
  const auto held = static_cast<uint64_t>(account_.Totals().held);
  if (held < in_queues_ + in_failed_) return false;
  in_drum_ = held - in_queues_ - in_failed_;
  return true;
}

Result<Admission> Budget::AddUrl(std::string_view record, TupleKind kind) {
  const auto read = item::ReadUrl(record);
  if (!read.has_value()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "budget: bytes that are no URL's record: " +
                                std::string(read.error())});
  }
  const url::Keys keys = url::KeysOf(*read, options_.seed);
  const std::string value = UrlValue(kind, HostSketch::MarkOf(keys.host));
  drum::Tuple tuple;
  tuple.key = keys.pld.value;
  tuple.value = value;
  tuple.aux = record;
  NEPHILA_TRY(const Admission admission, drum::AddTo(*drum_, tuple));
  if (admission == Admission::kTaken) ++in_drum_;
  return admission;
}

Result<Admission> Budget::Add(std::string_view record) {
  NEPHILA_TRY(const Admission admission, AddUrl(record, TupleKind::kUrl));
  if (admission == Admission::kTaken) {
    account_.In();
    account_.Hold(1);
  }
  return admission;
}

Result<Admission> Budget::AddInDegree(url::PldKey pld, uint64_t count) {
  const std::string value = InDegreeValue(count);
  drum::Tuple tuple;
  tuple.key = pld.value;
  tuple.value = value;
  return drum::AddTo(*drum_, tuple);
}

Status Budget::AppendPlaced() {
  while (!placed_.empty()) {
    const Placed& placed = placed_.front();
    NEPHILA_TRY(const uint64_t ordinal,
                queues_->Append(placed.queue, placed.record));
    static_cast<void>(ordinal);
    ++(IsFailedQueue(placed.queue) ? in_failed_ : in_queues_);
    --in_drum_;
    ++queue_writes_;
    if (placed.of_split) rounds_.SplitDelivered();
    placed_.pop_front();
  }
  return {};
}

Result<size_t> Budget::DeliverAnswers(size_t max_urls) {
  AnswerReceiver receiver(*this);
  auto delivered = drum_->Deliver(receiver, max_urls);
  // With an error too, for some may have come before it.
  NEPHILA_RETURN_IF_ERROR(AppendPlaced());
  return delivered;
}

Status Budget::ReadFailed(size_t max_urls) {
  const auto keep = [this](const disk_queue::Record& record) {
    rescued_.push_back(
        {record.ordinal, std::string(ReadQueueRecord(record.bytes).record)});
  };
  NEPHILA_TRY(
      const size_t read,
      queues_->ReadAhead(FailedQueue(rounds_.split_version()), max_urls, keep));
  static_cast<void>(read);
  return {};
}

// Q_F goes through the Drum again. A record is let go of once the Drum has it,
// so a commit has it in one of the two.
Result<size_t> Budget::SplitStep(size_t max_urls) {
  if (!rounds_.is_splitting()) return size_t{0};
  const uint64_t failed = FailedQueue(rounds_.split_version());
  if (rescued_.empty()) NEPHILA_RETURN_IF_ERROR(ReadFailed(max_urls));
  size_t added = 0;
  while (!rescued_.empty()) {
    NEPHILA_TRY(const Admission admission,
                AddUrl(rescued_.front().record, TupleKind::kSplitUrl));
    if (admission == Admission::kFull) break;
    queues_->Release(failed, rescued_.front().ordinal + 1);
    rescued_.pop_front();
    --in_failed_;
    ++queue_reads_;
    rounds_.SplitAdded();
    ++added;
  }
  // The last of them need not wait for a full batch.
  if (rescued_.empty() && queues_->Unread(failed) == 0 &&
      rounds_.split_left() > 0) {
    NEPHILA_RETURN_IF_ERROR(drum_->Flush());
  }
  return added;
}

Status Budget::EndSplitIfOver() {
  if (!rounds_.is_splitting()) return {};
  const uint64_t failed = FailedQueue(rounds_.split_version());
  if (queues_->Kept(failed) > 0 || rounds_.split_left() > 0) return {};
  NEPHILA_RETURN_IF_ERROR(queues_->Remove(failed));
  rounds_.EndSplit();
  return {};
}

bool Budget::PassIsOn() {
  if (pass_is_on_ && drum_->stats().passes > passes_before_) {
    pass_is_on_ = false;
  }
  return pass_is_on_;
}

nanoseconds Budget::QueueTime() const {
  if (!queue_had_urls_) return queue_time_;
  // A queue that takes longer than those before says so before it is over.
  return queue_time_.count() == 0
             ? nanoseconds(0)
             : std::max(queue_time_, context_.clock.Now() - queue_began_);
}

Status Budget::Advance() {
  // What has a queue and is not in it yet would be passed.
  while (placed_.empty() &&
         queues_->Kept(NumberedQueue(rounds_.current())) == 0) {
    NEPHILA_RETURN_IF_ERROR(EndSplitIfOver());
    // An idle crawl does not spin.
    if (in_queues_ == 0 && in_failed_ == 0 && rounds_.split_left() == 0) break;
    if (queue_had_urls_ && options_.may_leave) {
      NEPHILA_TRY(const bool may_leave, options_.may_leave());
      if (!may_leave) break;
    }
    if (!Rounds::MayPass(rounds_.current(), PassIsOn(), pass_begun_at_)) break;
    if (rounds_.AtRoundEnd() && in_failed_ > 0) {
      rounds_.BeginSplit(static_cast<uint64_t>(options_.settings.max_queues));
    }
    if (!rounds_.SplitLetsPass()) break;
    NEPHILA_RETURN_IF_ERROR(queues_->Remove(NumberedQueue(rounds_.current())));
    rounds_.Advance();
    const MonoTime now = context_.clock.Now();
    if (queue_had_urls_) {
      const nanoseconds took = std::max(now - queue_began_, nanoseconds(1));
      queue_time_ =
          queue_time_.count() == 0 ? took : (queue_time_ * 3 + took) / 4;
    }
    queue_began_ = now;
    queue_had_urls_ = false;
  }
  return {};
}

Result<size_t> Budget::Step(size_t max_urls) {
  NEPHILA_RETURN_IF_ERROR(AppendPlaced());
  NEPHILA_TRY(const size_t delivered, DeliverAnswers(max_urls));
  NEPHILA_TRY(const size_t added, SplitStep(max_urls));
  NEPHILA_RETURN_IF_ERROR(EndSplitIfOver());
  const uint64_t before = rounds_.current() + rounds_.failed_version();
  NEPHILA_RETURN_IF_ERROR(Advance());
  const uint64_t moved = rounds_.current() + rounds_.failed_version() - before;
  return delivered + added + static_cast<size_t>(moved);
}

Result<size_t> Budget::Take(size_t max_urls, const BudgetSink& sink) {
  size_t taken = 0;
  while (taken < max_urls) {
    NEPHILA_RETURN_IF_ERROR(Advance());
    const uint64_t queue = NumberedQueue(rounds_.current());
    uint64_t count = 0;
    const auto read = queues_->Read(queue, max_urls - taken,
                                    [&](const disk_queue::Record& record) {
                                      sink(ReadQueueRecord(record.bytes));
                                      ++count;
                                    });
    if (count > 0) queue_had_urls_ = true;
    in_queues_ -= count;
    queue_reads_ += count;
    account_.Out(count);
    account_.Hold(-static_cast<int64_t>(count));
    taken += count;
    if (!read.has_value()) return Unexpected(read.error());
    if (*read == 0) break;
  }
  return taken;
}

Result<bool> Budget::RunDry() {
  if (in_queues_ > 0 || in_failed_ > 0 || rounds_.split_left() > 0) return true;
  return drum_->FlushIfCheap();
}

Result<std::string> Budget::BeginCommit() {
  NEPHILA_RETURN_IF_ERROR(AppendPlaced());
  NEPHILA_TRY(const uint64_t drum_generation, drum_->BeginCommit());
  NEPHILA_TRY(const uint64_t queue_generation, queues_->BeginCommit());
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kCommitVersion);
  writer.Varint(drum_generation);
  writer.Varint(queue_generation);
  item::WriteTotals(account_.Totals(), writer);
  rounds_.Write(writer);
  writer.Varint(pass_begun_at_);
  writer.Varint(static_cast<uint64_t>(queue_time_.count()));
  return bytes;
}

Status Budget::FinishCommit() {
  NEPHILA_RETURN_IF_ERROR(drum_->FinishCommit());
  return queues_->FinishCommit();
}

BudgetStats Budget::stats() const {
  BudgetStats stats;
  stats.current = rounds_.current();
  stats.queues = rounds_.queues();
  stats.splits = rounds_.splits();
  stats.is_splitting = rounds_.is_splitting();
  stats.in_drum = in_drum_;
  stats.in_queues = in_queues_;
  stats.in_failed = in_failed_;
  stats.queue_time = queue_time_;
  stats.queue_writes = queue_writes_;
  stats.queue_reads = queue_reads_;
  stats.drum = drum_->stats();
  stats.queue_set = queues_->stats();
  return stats;
}

}  // namespace nephila::budget
