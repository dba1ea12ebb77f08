// URLs that failed for good: kept in a queue on disk, each with its outcome and
// the entry that says so, until somebody wants them to be asked for again.
//
// A command is an entry of the journal, too. It goes once through the queue as
// it is when its turn comes: what failed before it, as it wants, goes on its
// way like a seed, but past `seen`; the rest goes to the end of the queue. What
// it takes depends on the numbers of entries alone, so that a restart which
// takes the entries again does the same.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "crawl/frontier.h"
#include "crawl/frontier_parts.h"

namespace nephila::crawl {

Status Frontier::KeepFailed(const FinishedVisit& visit) {
  if (visit.outcome == item::FetchOutcome::kResponse) return {};
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(static_cast<uint8_t>(visit.outcome));
  writer.Varint(visit.entry);
  writer.Sized(visit.record);
  NEPHILA_RETURN_IF_ERROR(queues_->Append(kFailedQueue, bytes));
  return {};
}

void Frontier::TakeCommand(const FinishedVisit& visit) {
  // A later nephila may know more of them.
  if (const auto outcomes = ParseRetry(visit.command)) {
    retries_.push_back({visit.entry, *outcomes});
  }
}

Result<size_t> Frontier::MoveFailed(size_t max_urls) {
  size_t moved = 0;
  while (moved < max_urls && !retries_.empty()) {
    if (!retry_until_) retry_until_ = queues_->NextAppend(kFailedQueue);
    if (failed_.empty()) {
      const uint64_t next = queues_->NextRead(kFailedQueue);
      if (next >= *retry_until_) {
        retries_.pop_front();
        retry_until_.reset();
        ++moved;
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(queues_->ReadAhead(
          kFailedQueue,
          std::min<uint64_t>(max_urls - moved, *retry_until_ - next),
          [this](const disk_queue::Record& record) {
            failed_.push_back({record.ordinal, std::string(record.bytes)});
          }));
    }
    NEPHILA_TRY(const bool taken,
                LookAtFailed(failed_.front(), retries_.front()));
    if (!taken) break;
    queues_->Release(kFailedQueue, failed_.front().ordinal + 1);
    failed_.pop_front();
    ++moved;
  }
  return moved;
}

Result<bool> Frontier::LookAtFailed(const Failed& failed, const Retry& retry) {
  ByteReader reader(failed.bytes);
  const auto outcome = reader.U8();
  const auto entry = reader.Varint();
  const auto bytes = reader.Sized();
  if (!outcome.has_value() || !entry.has_value() || !bytes.has_value() ||
      *outcome >= item::kFetchOutcomes) {
    return Corrupt("an entry of the failed ones");
  }
  const auto record = item::ReadUrlRecord(*bytes, parent_);
  if (!record.has_value()) return Corrupt(record.error());
  // One that is blocked or out of scope now may not be so for the next command.
  if (!retry.Wants(*entry, static_cast<item::FetchOutcome>(*outcome)) ||
      Refuses(*record)) {
    NEPHILA_RETURN_IF_ERROR(queues_->Append(kFailedQueue, failed.bytes));
    return true;
  }
  // From its beginning, with the next number: no attempt has the same as
  // another in archive and journal.
  item::UrlRecord again = *record;
  again.attempts = std::min(record->attempts + 1, item::kMostAttempts);
  again.target = {};
  again.followed = 0;
  NEPHILA_TRY(const bool taken, TakeLink(again, /*again=*/true));
  if (!taken) return false;
  accounts_.seeds.Made();
  accounts_.seeds.Out();
  accounts_.url.In();
  accounts_.url.Out();
  return true;
}

std::string Frontier::SaveRetries() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(retries_.size());
  for (const Retry& retry : retries_) {
    writer.Varint(retry.entry);
    writer.Varint(retry.outcomes);
  }
  return bytes;
}

bool Frontier::RestoreRetries(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto count = reader.Varint();
  if (!count.has_value()) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto entry = reader.Varint();
    const auto outcomes = reader.Varint();
    if (!entry.has_value() || !outcomes.has_value() || *outcomes > UINT32_MAX) {
      return false;
    }
    retries_.push_back({*entry, static_cast<uint32_t>(*outcomes)});
  }
  return reader.AtEnd();
}

}  // namespace nephila::crawl
