#include "reputation/reputation.h"

#include <span>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "drum/stage_access.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"

namespace nephila::reputation {
namespace {

using config::BudgetPolicy;
using item::Admission;

constexpr uint8_t kCommitVersion = 1;
constexpr std::string_view kStage = "reputation";
// Edges are no URLs: equal bytes have other keys.
constexpr uint64_t kEdgeSalt = 0xA0761D6478BD642F;
// Of the memory: links repeat a lot within a few pages and little afterwards.
constexpr uint64_t kCacheShare = 16;

// Sums up by domain, in the order of the first edge of each.
class CountingReceiver final : public drum::Receiver {
 public:
  explicit CountingReceiver(std::deque<InDegree>& counts) : counts_(counts) {}
  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      const auto to = ByteReader(result.aux).U64();
      if (!to.has_value()) continue;
      const auto [place, is_new] = places_.try_emplace(*to, counts_.size());
      if (is_new) {
        counts_.push_back({url::PldKey{*to}, 1});
      } else {
        ++counts_[place->second].count;
      }
    }
  }

 private:
  std::deque<InDegree>& counts_;
  std::unordered_map<uint64_t, size_t> places_;
};

}  // namespace

Reputation::Reputation(ReputationOptions options, TopK top_k)
    : options_(std::move(options)),
      top_k_(top_k),
      cache_(options_.memory_bytes / kCacheShare) {}

Result<std::unique_ptr<Reputation>> Reputation::Make(
    ReputationOptions options) {
  NEPHILA_TRY(const TopK top_k, TopK::Parse(options.settings.top_k));
  return std::unique_ptr<Reputation>(new Reputation(std::move(options), top_k));
}

drum::DrumOptions Reputation::MakeDrumOptions() const {
  drum::DrumOptions options;
  options.only = drum::Operation::kCheckUpdate;
  options.memory_bytes = options_.memory_bytes - cache_.memory_bytes();
  options.disk_bytes = options_.disk_bytes;
  options.unique_only = true;
  return options;
}

Result<std::unique_ptr<Reputation>> Reputation::Create(
    const drum::DrumContext& context, const std::string& dir,
    ReputationOptions options) {
  NEPHILA_TRY(auto reputation, Make(std::move(options)));
  NEPHILA_TRY(reputation->drum_,
              drum::Drum::Create(context, dir, reputation->MakeDrumOptions()));
  return reputation;
}

Result<std::unique_ptr<Reputation>> Reputation::Open(
    const drum::DrumContext& context, const std::string& dir,
    ReputationOptions options, std::string_view commit) {
  NEPHILA_TRY(auto reputation, Make(std::move(options)));
  NEPHILA_TRY(const uint64_t generation, reputation->RestoreCommit(commit));
  NEPHILA_TRY(reputation->drum_,
              drum::Drum::Open(context, dir, reputation->MakeDrumOptions(),
                               generation));
  return reputation;
}

Result<uint64_t> Reputation::RestoreCommit(std::string_view commit) {
  ByteReader reader(commit);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStage));
  const auto generation = reader.Varint();
  if (!generation.has_value() || !Restore(commit.substr(reader.position()))) {
    return item::DamagedCommit(kStage);
  }
  return *generation;
}

bool Reputation::Restore(std::string_view state) {
  ByteReader reader(state);
  if (!item::RestoreTotals(reader, account_)) return false;
  if (!histogram_.Read(reader)) return false;
  const auto waiting = reader.Varint();
  if (!waiting.has_value()) return false;
  for (uint64_t i = 0; i < *waiting; ++i) {
    const auto to = reader.U64();
    const auto count = reader.Varint();
    if (!to.has_value() || !count.has_value()) return false;
    waiting_.push_back({url::PldKey{*to}, *count});
  }
  return reader.AtEnd();
}

// In the shard of the domain that is linked to, as its record is.
uint64_t Reputation::EdgeKey(const DomainPair& link) {
  edge_.clear();
  ByteWriter writer(edge_);
  writer.U64(link.from.value);
  writer.U64(link.to.value);
  const uint64_t hash = KeyedHash(edge_, options_.seed ^ kEdgeSalt);
  return (hash & ~url::kShardMask) | link.to.shard();
}

Result<Admission> Reputation::Add(const DomainPair& link) {
  if (link.from == link.to) {
    account_.In();
    account_.Drop(DropReason::kSameDomain);
    return Admission::kTaken;
  }
  const uint64_t key = EdgeKey(link);
  if (cache_.Contains(key)) {
    cache_.CheckAndInsert(key);
    ++cache_hits_;
    account_.In();
    account_.Drop(DropReason::kDuplicate);
    return Admission::kTaken;
  }
  drum::Tuple tuple;
  tuple.key = key;
  tuple.aux = std::string_view(edge_).substr(sizeof(link.from.value));
  NEPHILA_TRY(const Admission admission, drum::AddTo(*drum_, tuple));
  if (admission == Admission::kFull) return admission;
  // Not before: an edge that was refused comes again and is no duplicate.
  cache_.CheckAndInsert(key);
  account_.In();
  account_.Hold(1);
  return Admission::kTaken;
}

Result<size_t> Reputation::HandOn(const InDegreeSink& sink) {
  size_t edges = 0;
  while (!waiting_.empty()) {
    NEPHILA_TRY(const Admission admission, sink(waiting_.front()));
    if (admission == Admission::kFull) break;
    const uint64_t count = waiting_.front().count;
    waiting_.pop_front();
    account_.Out(count);
    account_.Hold(-static_cast<int64_t>(count));
    edges += count;
  }
  return edges;
}

Result<size_t> Reputation::Step(const InDegreeSink& sink, size_t max_edges) {
  NEPHILA_TRY(const size_t first, HandOn(sink));
  if (!waiting_.empty() || first >= max_edges) return first;
  CountingReceiver receiver(waiting_);
  NEPHILA_TRY(const uint64_t duplicates,
              drum::DeliverUnique(*drum_, receiver, max_edges - first, account_,
                                  DropReason::kDuplicate));
  NEPHILA_TRY(const size_t more, HandOn(sink));
  return first + duplicates + more;
}

Result<bool> Reputation::RunDry() {
  if (!waiting_.empty()) return true;
  return drum_->FlushIfCheap();
}

std::string Reputation::MakeFunction() const {
  const config::ReputationSettings& settings = options_.settings;
  const auto base = static_cast<uint32_t>(settings.base);
  const auto most = static_cast<uint32_t>(settings.most);
  std::vector<item::BudgetPoint> points;
  if (settings.policy == BudgetPolicy::kTopK) {
    points =
        histogram_.Interpolate(top_k_.Of(histogram_.domains()), base, most);
  } else if (settings.policy == BudgetPolicy::kPopular) {
    // The lowest in-degree of the best; they all have the same.
    points =
        histogram_.Interpolate(top_k_.Of(histogram_.domains()), most, most);
    if (points.size() > 1) points.resize(1);
  }
  return item::EncodeBudgetFunction(settings.policy, base, most, points);
}

Result<std::string> Reputation::FunctionOf(
    const config::ReputationSettings& settings, std::string_view commit) {
  ReputationOptions options;
  options.settings = settings;
  options.memory_bytes = 0;
  NEPHILA_TRY(const auto reputation, Make(std::move(options)));
  NEPHILA_RETURN_IF_ERROR(reputation->RestoreCommit(commit));
  return reputation->MakeFunction();
}

Result<std::string> Reputation::BeginCommit() {
  NEPHILA_TRY(const uint64_t generation, drum_->BeginCommit());
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kCommitVersion);
  writer.Varint(generation);
  item::WriteTotals(account_.Totals(), writer);
  histogram_.Write(writer);
  writer.Varint(waiting_.size());
  for (const InDegree& waiting : waiting_) {
    writer.U64(waiting.to.value);
    writer.Varint(waiting.count);
  }
  return bytes;
}

ReputationStats Reputation::stats() const {
  ReputationStats stats;
  stats.domains = histogram_.domains();
  stats.best = top_k_.Of(stats.domains);
  stats.cache_hits = cache_hits_;
  for (const InDegree& degree : waiting_) stats.waiting += degree.count;
  stats.drum = drum_->stats();
  return stats;
}

}  // namespace nephila::reputation
