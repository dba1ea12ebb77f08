#include "budget/budget_view.h"

#include <memory>
#include <utility>

#include "base/bytes.h"
#include "drum/drum.h"
#include "drum/waiting_scan.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"

namespace nephila::budget {
namespace {

constexpr std::string_view kStage = "budget";

}  // namespace

BudgetView::BudgetView(FileSystem& fs, const std::string& dir,
                       disk_queue::SetScan queues)
    : fs_(&fs), drum_dir_(dir + "/domains"), queues_(std::move(queues)) {
  for (const auto& queue : queues_.Queues()) {
    (IsFailedQueue(queue.id) ? in_failed_ : in_queues_) += queue.records();
    bytes_ += queue.bytes;
  }
}

Result<BudgetView> BudgetView::Open(FileSystem& fs, const std::string& dir,
                                    std::string_view commit) {
  ByteReader reader(commit);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStage));
  const auto drum_generation = reader.Varint();
  const auto queue_generation = reader.Varint();
  if (!drum_generation.has_value() || !queue_generation.has_value()) {
    return item::DamagedCommit(kStage);
  }
  NEPHILA_TRY(
      disk_queue::SetScan queues,
      disk_queue::SetScan::Open(fs, dir + "/queues", *queue_generation));
  BudgetView view(fs, dir, std::move(queues));
  view.drum_generation_ = *drum_generation;
  StageAccount account(kStage, {});
  if (!item::RestoreTotals(reader, account) || !view.rounds_.Read(reader)) {
    return item::DamagedCommit(kStage);
  }
  const auto begun_at = reader.Varint();
  const auto queue_time = reader.Varint();
  if (!begun_at.has_value() || !queue_time.has_value() ||
      *queue_time > INT64_MAX) {
    return item::DamagedCommit(kStage);
  }
  view.queue_time_ =
      std::chrono::nanoseconds(static_cast<int64_t>(*queue_time));
  return view;
}

Result<uint64_t> BudgetView::Bytes() const {
  NEPHILA_TRY(const uint64_t bytes,
              drum::WaitingBytes(*fs_, drum_dir_, drum_generation_));
  return bytes + bytes_;
}

Result<std::optional<PldRecord>> BudgetView::Domain(url::PldKey pld) const {
  drum::ScanRange range;
  range.first = range.last = pld.value;
  NEPHILA_TRY(const auto scan,
              drum::ScanCommit(*fs_, drum_dir_, drum_generation_, range));
  if (scan->AtEnd()) return std::optional<PldRecord>();
  const auto record = ReadPldRecord(scan->value());
  if (!record) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              drum_dir_ + ": the record of a domain makes no sense"});
  }
  return record;
}

Result<uint64_t> BudgetView::UrlsInPass(url::PldKey pld) const {
  // In-degrees go through the same Drum.
  const char degree = InDegreeValue(0)[0];
  uint64_t urls = 0;
  NEPHILA_RETURN_IF_ERROR(
      drum::FindTuples(*fs_, drum_dir_, drum_generation_, pld.value,
                       [&](std::string_view value) {
                         if (!value.empty() && value[0] != degree) ++urls;
                       }));
  return urls;
}

Result<bool> BudgetView::ScanQueue(uint64_t queue, const Sink& sink) const {
  const auto scan = queues_.Scan(queue);
  disk_queue::Record record;
  HeldUrl url;
  url.queue = NumberOfQueue(queue);
  url.is_failed = IsFailedQueue(queue);
  while (true) {
    NEPHILA_TRY(const bool more, scan->Next(record));
    if (!more) return true;
    const BudgetedUrl read = ReadQueueRecord(record.bytes);
    url.record = read.record;
    url.budget = read.budget;
    NEPHILA_TRY(const bool goes_on, sink(url));
    if (!goes_on) return false;
    ++url.ahead;
  }
}

Status BudgetView::ForEach(const Sink& sink) const {
  for (const bool failed : {false, true}) {
    for (const auto& queue : queues_.Queues()) {
      if (IsFailedQueue(queue.id) != failed) continue;
      NEPHILA_TRY(const bool more, ScanQueue(queue.id, sink));
      if (!more) return {};
    }
  }
  return drum::ScanWaiting(*fs_, drum_dir_, drum_generation_,
                           [&](std::string_view aux) -> Result<bool> {
                             if (aux.empty()) return true;  // an in-degree
                             HeldUrl url;
                             url.record = aux;
                             return sink(url);
                           });
}

}  // namespace nephila::budget
