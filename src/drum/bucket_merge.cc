#include "drum/bucket_merge.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "drum/run_merger.h"

namespace nephila::drum {
namespace {

Unexpected<Error> DamagedTuple(const Batch& batch, uint32_t bucket) {
  return Unexpected(
      Error{ErrorCode::kCorruption, "batch " + std::to_string(batch.number()) +
                                        ", bucket " + std::to_string(bucket) +
                                        ": its tuples are damaged"});
}

}  // namespace

Status BucketMerge::Merge(uint32_t first, uint32_t end, MemoryRun& changes) {
  if (input_.writer == nullptr) {
    for (uint32_t bucket = first; bucket < end; ++bucket) {
      NEPHILA_RETURN_IF_ERROR(MergeBucket(bucket, changes));
    }
    return {};
  }
  const auto part = input_.writer->NewPart();
  for (uint32_t bucket = first; bucket < end; ++bucket) {
    MemoryRun bucket_changes(changes.format());
    NEPHILA_RETURN_IF_ERROR(MergeBucket(bucket, bucket_changes));
    NEPHILA_RETURN_IF_ERROR(WriteRun(bucket, bucket_changes, *part));
  }
  return part->Finish();
}

Status BucketMerge::MergeBucket(uint32_t bucket, MemoryRun& changes) {
  const bool tuples = input_.batch->bucket_tuples(bucket) > 0;
  if (input_.batch->format().value.kind == ValueKind::kNone) {
    return tuples ? MergeKeys(bucket, changes) : Status();
  }
  return tuples || input_.rule->HasExpiry() ? MergeValues(bucket, changes)
                                            : Status();
}

void BucketMerge::Sort(uint32_t bucket) {
  NEPHILA_CHECK(entries_.size() == input_.batch->bucket_tuples(bucket));
  // Exactly as many: growing by halves would cost more than the plan has.
  scratch_.reserve(entries_.size());
  scratch_.resize(entries_.size());
  SortEntries(entries_, scratch_, 64 - input_.batch->format().bucket_bits);
  keys_.clear();
  keys_.reserve(entries_.size());
  for (const SortEntry& entry : entries_) {
    if (keys_.empty() || keys_.back() != entry.key) keys_.push_back(entry.key);
  }
}

Status BucketMerge::LoadKeys(uint32_t bucket) {
  const Batch& batch = *input_.batch;
  const TupleFormat& format = batch.format();
  entries_.clear();
  entries_.reserve(batch.bucket_tuples(bucket));
  operations_.clear();
  NEPHILA_RETURN_IF_ERROR(
      batch.ReadBucket(bucket, buffer_, [&](std::string_view bytes) -> Status {
        TupleReader reader(format, bucket, bytes);
        BucketTuple tuple;
        while (!reader.AtEnd()) {
          if (!reader.Next(tuple)) return DamagedTuple(batch, bucket);
          entries_.push_back(
              {tuple.key, static_cast<uint32_t>(entries_.size())});
          if (!format.only) operations_.push_back(tuple.operation);
        }
        return {};
      }));
  if (entries_.size() != batch.bucket_tuples(bucket)) {
    return DamagedTuple(batch, bucket);
  }
  return {};
}

// Both ascend. Without branches on the keys: they are random, and a branch
// guessed wrong costs more than the few instructions.
void BucketMerge::MarkKnown(std::span<const uint64_t> keys, size_t& position) {
  size_t i = 0;
  size_t j = position;
  while (i < keys.size() && j < keys_.size()) {
    const uint64_t theirs = keys[i];
    const uint64_t ours = keys_[j];
    known_[j] = static_cast<uint8_t>(known_[j] | (theirs == ours ? 1 : 0));
    i += theirs <= ours ? 1 : 0;
    j += ours <= theirs ? 1 : 0;
  }
  position = j;
}

Status BucketMerge::SweepRuns(uint32_t bucket) {
  const TupleFormat& format = input_.batch->format();
  known_.assign(keys_.size(), 0);
  size_t position = 0;
  for (const MemoryLayers::Layer& layer : input_.records.memory.layers()) {
    const std::span<const uint64_t> in_memory = layer->keys();
    const auto begin =
        std::lower_bound(in_memory.begin(), in_memory.end(), keys_.front());
    const auto end = std::upper_bound(begin, in_memory.end(), keys_.back());
    position = 0;
    MarkKnown({begin, end}, position);
  }
  for (const auto& run : input_.records.runs) {
    RunCursor cursor(run, format.FirstKey(bucket), format.LastKey(bucket),
                     input_.read_ahead_bytes);
    position = 0;
    while (position < keys_.size()) {
      NEPHILA_TRY(const std::span<const uint64_t> keys,
                  cursor.NextKeys(keys_[position]));
      if (keys.empty()) break;
      MarkKnown(keys, position);
    }
  }
  return {};
}

std::string BucketMerge::TakeBits(MemoryRun& changes) {
  const std::optional<Operation> only = input_.batch->format().only;
  // The place of a tuple among those that give a result.
  std::vector<uint32_t> places;
  size_t results = entries_.size();
  if (!only) {
    results = 0;
    places.reserve(entries_.size());
    for (const Operation operation : operations_) {
      places.push_back(static_cast<uint32_t>(results));
      if (GivesResult(operation)) ++results;
    }
  } else if (!GivesResult(*only)) {
    results = 0;
  }
  std::string bits((results + 7) / 8, '\0');
  size_t next = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    bool present = known_[i] != 0;
    bool added = false;
    for (; next < entries_.size() && entries_[next].key == keys_[i]; ++next) {
      if (present) continue;  // nothing that a tuple can change or find new
      const uint32_t index = entries_[next].index;
      const Operation operation = only ? *only : operations_[index];
      if (GivesResult(operation)) {
        const uint32_t place = only ? index : places[index];
        bits[place / 8] = static_cast<char>(bits[place / 8] | 1 << place % 8);
      }
      if (Updates(operation)) present = added = true;
    }
    if (added) changes.Add(keys_[i], {});
  }
  return bits;
}

Status BucketMerge::MergeKeys(uint32_t bucket, MemoryRun& changes) {
  NEPHILA_RETURN_IF_ERROR(LoadKeys(bucket));
  Sort(bucket);
  NEPHILA_RETURN_IF_ERROR(SweepRuns(bucket));
  return input_.results->Put(bucket, TakeBits(changes));
}

Status BucketMerge::LoadTuples(uint32_t bucket) {
  const Batch& batch = *input_.batch;
  entries_.clear();
  entries_.reserve(batch.bucket_tuples(bucket));
  places_.clear();
  tuples_.clear();
  NEPHILA_RETURN_IF_ERROR(
      batch.ReadBucket(bucket, buffer_, [&](std::string_view bytes) -> Status {
        const size_t begin = tuples_.size();
        tuples_.append(bytes);
        TupleReader reader(batch.format(), bucket,
                           std::string_view(tuples_).substr(begin));
        BucketTuple tuple;
        while (!reader.AtEnd()) {
          if (!reader.Next(tuple)) return DamagedTuple(batch, bucket);
          entries_.push_back(
              {tuple.key, static_cast<uint32_t>(entries_.size())});
          TuplePlace place;
          place.operation = tuple.operation;
          place.size = static_cast<uint32_t>(tuple.value.size());
          if (!tuple.value.empty()) {
            place.offset =
                static_cast<uint64_t>(tuple.value.data() - tuples_.data());
          }
          places_.push_back(place);
        }
        return {};
      }));
  if (entries_.size() != batch.bucket_tuples(bucket)) {
    return DamagedTuple(batch, bucket);
  }
  return {};
}

std::vector<std::unique_ptr<RecordSource>> BucketMerge::Sources(
    uint32_t bucket, size_t runs) const {
  const uint64_t first = input_.batch->format().FirstKey(bucket);
  const uint64_t last = input_.batch->format().LastKey(bucket);
  auto sources = MemoryCursors(input_.records.memory, first, last);
  for (size_t i = 0; i < runs; ++i) {
    sources.push_back(std::make_unique<RunCursor>(
        input_.records.runs[i], first, last, input_.read_ahead_bytes));
  }
  return sources;
}

Status BucketMerge::ExpireUntil(RecordSource& records, uint64_t key,
                                bool to_end, MemoryRun& changes) {
  while (!records.AtEnd() && (to_end || records.key() < key)) {
    if (!records.is_tombstone() &&
        input_.rule->IsDead(records.key(), records.value(),
                            input_.batch->parameters())) {
      changes.AddTombstone(records.key());
    }
    NEPHILA_RETURN_IF_ERROR(records.Next());
  }
  return {};
}

Status BucketMerge::MergeValues(uint32_t bucket, MemoryRun& changes) {
  NEPHILA_RETURN_IF_ERROR(LoadTuples(bucket));
  Sort(bucket);
  answers_.assign(entries_.size(), {});
  answer_bytes_.clear();
  const bool expiry = input_.rule->HasExpiry();
  const uint64_t first = input_.batch->format().FirstKey(bucket);
  RunMerger records(Sources(bucket, input_.records.runs.size()));
  NEPHILA_RETURN_IF_ERROR(
      records.SeekTo(keys_.empty() || expiry ? first : keys_[0]));
  size_t begin = 0;
  for (const uint64_t key : keys_) {
    size_t end = begin;
    while (end < entries_.size() && entries_[end].key == key) ++end;
    if (expiry) {
      NEPHILA_RETURN_IF_ERROR(ExpireUntil(records, key, false, changes));
    } else {
      NEPHILA_RETURN_IF_ERROR(records.SeekTo(key));
    }
    const bool here = !records.AtEnd() && records.key() == key;
    const bool in_store = here && !records.is_tombstone();
    bool alive = in_store;
    record_.clear();
    if (in_store) {
      record_ = records.value();
      if (expiry) {
        alive = !input_.rule->IsDead(key, record_, input_.batch->parameters());
      }
      if (!alive) record_.clear();
    }
    MeetTuples(begin, end, in_store, alive, changes);
    if (here) NEPHILA_RETURN_IF_ERROR(records.Next());
    begin = end;
  }
  if (expiry) NEPHILA_RETURN_IF_ERROR(ExpireUntil(records, 0, true, changes));
  return input_.results->Put(bucket, TakeAnswers());
}

void BucketMerge::MeetTuples(size_t begin, size_t end, bool in_store,
                             bool alive, MemoryRun& changes) {
  const ValueFormat& format = input_.batch->format().value;
  const uint64_t key = entries_[begin].key;
  bool present = alive;
  bool changed = in_store && !alive;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t index = entries_[i].index;
    const TuplePlace& place = places_[index];
    const Meeting meeting{
        place.operation, key,
        std::string_view(tuples_).substr(place.offset, place.size),
        input_.batch->parameters(), present};
    answer_ = record_;
    const Verdict verdict = input_.rule->Merge(meeting, record_, answer_);
    if (GivesResult(place.operation)) {
      answers_[index] = {answer_bytes_.size(),
                         static_cast<uint32_t>(answer_.size()), !present};
      answer_bytes_ += answer_;
    }
    if (verdict == Verdict::kLeave) continue;
    NEPHILA_CHECK(Updates(place.operation));
    changed = true;
    present = verdict == Verdict::kWrite;
    if (!present) record_.clear();
    NEPHILA_CHECK(!present || format.kind == ValueKind::kVariable ||
                  record_.size() == format.bytes);
  }
  if (!changed) return;
  if (present) {
    changes.Add(key, record_);
  } else if (in_store) {
    changes.AddTombstone(key);
  }
}

std::string BucketMerge::TakeAnswers() {
  std::string results;
  results.reserve(answer_bytes_.size() + 2 * answers_.size());
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (!GivesResult(places_[i].operation)) continue;
    const Answer& answer = answers_[i];
    AppendAnswer(
        results, answer.unique,
        std::string_view(answer_bytes_).substr(answer.offset, answer.size));
  }
  return results;
}

Status BucketMerge::WriteRun(uint32_t bucket, const MemoryRun& changes,
                             RunWriter::Part& part) const {
  if (input_.folded_runs == 0 && input_.records.memory.empty() &&
      changes.format().kind == ValueKind::kNone) {
    return part.AddKeys(changes.keys());
  }
  const uint64_t first = input_.batch->format().FirstKey(bucket);
  const uint64_t last = input_.batch->format().LastKey(bucket);
  std::vector<std::unique_ptr<RecordSource>> sources =
      Sources(bucket, input_.folded_runs);
  // Borrowed: `changes` outlives the merge.
  sources.insert(sources.begin(),
                 std::make_unique<MemoryRunCursor>(
                     std::shared_ptr<const MemoryRun>(
                         std::shared_ptr<const MemoryRun>(), &changes),
                     first, last));
  // What a tombstone hides is folded in with it, if all runs are.
  const bool drop_tombstones = input_.folded_runs == input_.records.runs.size();
  RunMerger merged(std::move(sources));
  NEPHILA_RETURN_IF_ERROR(merged.SeekTo(first));
  while (!merged.AtEnd()) {
    if (!merged.is_tombstone()) {
      NEPHILA_RETURN_IF_ERROR(part.Add(merged.key(), merged.value()));
    } else if (!drop_tombstones) {
      NEPHILA_RETURN_IF_ERROR(part.AddTombstone(merged.key()));
    }
    NEPHILA_RETURN_IF_ERROR(merged.Next());
  }
  return {};
}

}  // namespace nephila::drum
