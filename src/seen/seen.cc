#include "seen/seen.h"

#include <span>
#include <utility>

#include "base/bytes.h"
#include "drum/stage_access.h"
#include "item/hand_on.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "seen/cache_size.h"
#include "seen/seen_commit.h"
#include "url/record_keys.h"

namespace nephila::seen {
namespace {

using item::Admission;

// They wait in memory, and in a commit.
constexpr size_t kMostAgain = 1000;

// Copies what is new: the views of a result end with the call.
class WaitingReceiver final : public drum::Receiver {
 public:
  explicit WaitingReceiver(std::deque<std::string>& waiting)
      : waiting_(waiting) {}
  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      waiting_.emplace_back(result.aux);
    }
  }

 private:
  std::deque<std::string>& waiting_;
};

uint64_t CacheBytesFor(const SeenOptions& options, uint64_t known_urls) {
  return CacheBytes({options.settings.cache, options.memory_bytes, known_urls,
                     options.host_delay_s, options.disk_bytes_per_s});
}

}  // namespace

Seen::Seen(SeenOptions options, uint64_t cache_bytes)
    : options_(std::move(options)), filter_(options_.settings.skip_extensions) {
  if (cache_bytes > 0) cache_.emplace(cache_bytes);
}

drum::DrumOptions Seen::MakeDrumOptions(uint64_t cache_bytes) const {
  drum::DrumOptions options;
  options.only = drum::Operation::kCheckUpdate;
  // Hashing the URL again is cheaper than two bytes a link on disk.
  options.key_of_aux = [seed = options_.seed](std::string_view aux) {
    const auto record = item::ReadUrl(aux);
    return record.has_value() ? url::KeysOf(*record, seed).url.value : 0;
  };
  options.memory_bytes = options_.memory_bytes - cache_bytes;
  options.disk_bytes = options_.disk_bytes;
  options.unique_only = true;
  return options;
}

Result<std::unique_ptr<Seen>> Seen::Create(const drum::DrumContext& context,
                                           const std::string& dir,
                                           SeenOptions options) {
  const uint64_t cache_bytes = CacheBytesFor(options, 0);
  std::unique_ptr<Seen> seen(new Seen(std::move(options), cache_bytes));
  NEPHILA_TRY(
      seen->drum_,
      drum::Drum::Create(context, dir, seen->MakeDrumOptions(cache_bytes)));
  return seen;
}

Result<std::unique_ptr<Seen>> Seen::Open(const drum::DrumContext& context,
                                         const std::string& dir,
                                         SeenOptions options,
                                         std::string_view commit) {
  NEPHILA_TRY(const Commit parts, ReadCommit(commit));
  // Each URL is known from the moment on at which it was handed in.
  StageAccount totals("seen", kDropReasonNames);
  ByteReader reader(parts.state);
  if (!item::RestoreTotals(reader, totals))
    return item::DamagedCommit(kStageName);
  const uint64_t cache_bytes = CacheBytesFor(options, totals.Totals().out);
  std::unique_ptr<Seen> seen(new Seen(std::move(options), cache_bytes));
  if (!seen->Restore(parts.state)) return item::DamagedCommit(kStageName);
  NEPHILA_TRY(seen->drum_,
              drum::Drum::Open(context, dir, seen->MakeDrumOptions(cache_bytes),
                               parts.generation));
  return seen;
}

bool Seen::Restore(std::string_view state) {
  ByteReader reader(state);
  if (!item::RestoreTotals(reader, account_)) return false;
  const auto waiting = reader.Varint();
  if (!waiting.has_value()) return false;
  for (uint64_t i = 0; i < *waiting; ++i) {
    const auto record = reader.Sized();
    if (!record.has_value()) return false;
    waiting_.emplace_back(*record);
  }
  return reader.AtEnd();
}

Result<Admission> Seen::Add(const item::UrlRecord& record, url::UrlKey key) {
  // What the user asks for by name is not known better here.
  if ((record.flags & item::kFromSeed) == 0 && filter_.Skips(record)) {
    account_.In();
    account_.Drop(DropReason::kExtension);
    return Admission::kTaken;
  }
  if (cache_ && cache_->Contains(key.value)) {
    cache_->CheckAndInsert(key.value);
    ++cache_hits_;
    account_.In();
    account_.Drop(DropReason::kDuplicate);
    return Admission::kTaken;
  }
  encoded_.clear();
  AppendUrlRecord(record, encoded_);
  drum::Tuple tuple;
  tuple.key = key.value;
  tuple.aux = encoded_;
  NEPHILA_TRY(const Admission admission, drum::AddTo(*drum_, tuple));
  if (admission == Admission::kFull) return admission;
  // Not before: a URL that was refused comes again and is no duplicate.
  if (cache_) cache_->CheckAndInsert(key.value);
  account_.In();
  account_.Hold(1);
  return Admission::kTaken;
}

Admission Seen::AddAgain(const item::UrlRecord& record) {
  if (waiting_.size() >= kMostAgain) return Admission::kFull;
  AppendUrlRecord(record, waiting_.emplace_back());
  account_.In();
  account_.Hold(1);
  return Admission::kTaken;
}

Result<size_t> Seen::Step(const item::RecordSink& sink, size_t max_urls) {
  NEPHILA_TRY(const size_t first,
              item::HandOn(&waiting_, sink, max_urls, &account_));
  if (!waiting_.empty() || first >= max_urls) return first;
  WaitingReceiver receiver(waiting_);
  NEPHILA_TRY(const uint64_t duplicates,
              drum::DeliverUnique(*drum_, receiver, max_urls - first, account_,
                                  DropReason::kDuplicate));
  NEPHILA_TRY(const size_t more,
              item::HandOn(&waiting_, sink, max_urls, &account_));
  return first + duplicates + more;
}

Result<bool> Seen::RunDry() {
  if (!waiting_.empty()) return true;
  return drum_->FlushIfCheap();
}

Result<std::string> Seen::BeginCommit() {
  NEPHILA_TRY(const uint64_t generation, drum_->BeginCommit());
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kCommitVersion);
  writer.Varint(generation);
  item::WriteTotals(account_.Totals(), writer);
  writer.Varint(waiting_.size());
  for (const std::string& record : waiting_) writer.Sized(record);
  return bytes;
}

SeenStats Seen::stats() const {
  SeenStats stats;
  stats.cache_bytes = cache_ ? cache_->memory_bytes() : 0;
  stats.cache_hits = cache_hits_;
  stats.waiting = waiting_.size();
  stats.drum = drum_->stats();
  return stats;
}

}  // namespace nephila::seen
