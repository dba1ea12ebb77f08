#include "drum/check_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/commit_file.h"
#include "drum/run.h"
#include "drum/store_file.h"

namespace nephila::drum {
namespace {

// Where a commit of that generation stands, or should.
std::string JournalPath(FileSystem& fs, const std::string& dir,
                        uint64_t generation) {
  const auto journals = ListCommitFiles(fs, dir, kJournalPrefix);
  if (!journals.has_value()) return dir;
  const auto after =
      std::upper_bound(journals->begin(), journals->end(), generation);
  return after == journals->begin() ? dir
                                    : dir + "/" + JournalName(*(after - 1));
}

struct PlacedChunk {
  uint32_t bucket = 0;
  Chunk chunk;
};

// In the order of the file, so that it is read in one go.
std::vector<PlacedChunk> ChunksInOrder(const BatchState& batch) {
  std::vector<PlacedChunk> chunks;
  for (uint32_t i = 0; i < batch.buckets.size(); ++i) {
    for (const Chunk& chunk : batch.buckets[i].chunks) {
      chunks.push_back({i, chunk});
    }
  }
  std::sort(chunks.begin(), chunks.end(),
            [](const PlacedChunk& a, const PlacedChunk& b) {
              return a.chunk.place.offset < b.chunk.place.offset;
            });
  return chunks;
}

}  // namespace

StoreCheck::StoreCheck(FileSystem& fs, std::string dir, DamageSink sink)
    : fs_(fs), dir_(std::move(dir)), sink_(std::move(sink)) {}

void StoreCheck::Report(const std::string& path, std::optional<uint64_t> offset,
                        std::string what) {
  sink_({path, offset, std::move(what)});
}

void StoreCheck::Report(const std::string& path, const Error& error) {
  sink_({path, std::nullopt, error.message});
}

std::optional<StoreCounts> StoreCheck::Check(uint64_t generation,
                                             const AuxSink& aux) {
  const std::string journal = JournalPath(fs_, dir_, generation);
  const auto state = LoadState(fs_, dir_, generation);
  if (!state.has_value()) {
    if (journal != dir_) files_.insert(journal);
    Report(journal, state.error());
    return std::nullopt;
  }
  NoteNames(*state);
  StoreCounts counts;
  is_all_read_ = true;
  for (const RunInfo& info : state->runs) CheckRun(*state, info, &counts);
  counts.records += state->memory.records();
  for (const BatchState& batch : state->batches) {
    CheckBatch(*state, batch, aux, &counts);
  }
  const StoreCounters& said = state->counters;
  if (is_all_read_ && state->header.only && GivesResult(*state->header.only) &&
      said.tuples_added - said.results_delivered != counts.results) {
    Report(
        journal, std::nullopt,
        fmt::format("{} tuples were added and {} results delivered, and {} "
                    "wait",
                    said.tuples_added, said.results_delivered, counts.results));
  }
  return counts;
}

void StoreCheck::NoteNames(const StoreState& state) {
  files_.insert(dir_ + "/" + state.journal);
  for (const RunInfo& info : state.runs) {
    files_.insert(StoreFilePath(dir_, info.file_number, kRunSuffix));
  }
  for (const RetiredFile& file : state.retired) {
    files_.insert(dir_ + "/" + file.name);
  }
  for (const BatchState& batch : state.batches) {
    if (batch.keys_end > 0) {
      files_.insert(StoreFilePath(dir_, batch.number, kKeysSuffix));
    }
    if (batch.aux_end > 0) {
      files_.insert(StoreFilePath(dir_, batch.number, kAuxSuffix));
    }
  }
}

void StoreCheck::CheckRun(const StoreState& state, const RunInfo& info,
                          StoreCounts* counts) {
  ++counts->runs;
  counts->records += info.records;
  if (!checked_.insert(info.file_number).second) return;
  counts->bytes += info.end;
  const std::string path = StoreFilePath(dir_, info.file_number, kRunSuffix);
  const auto run = Run::Open(
      fs_, path, StoreFileSalt(state.header.salt, info.file_number, kRunSuffix),
      info, state.header.value, io_);
  if (!run.has_value()) return Report(path, run.error());
  RunCursor cursor(*run, 0, UINT64_MAX);
  uint64_t records = 0;
  uint64_t tombstones = 0;
  Status status = cursor.SeekTo(0);
  while (status && !cursor.AtEnd()) {
    ++records;
    if (cursor.is_tombstone()) ++tombstones;
    status = cursor.Next();
  }
  if (!status) return Report(path, status.error());
  if (records != info.records || tombstones != info.tombstones) {
    Report(path, std::nullopt,
           fmt::format("{} records and {} tombstones, and the commit has {} "
                       "and {}",
                       records, tombstones, info.records, info.tombstones));
  }
}

void StoreCheck::CheckBatch(const StoreState& state, const BatchState& batch,
                            const AuxSink& aux, StoreCounts* counts) {
  // A later generation has all of it, and more.
  if (!checked_.insert(batch.number).second) {
    is_all_read_ = false;
    return;
  }
  const uint64_t in_buckets = CheckBuckets(state, batch, counts);
  const uint64_t in_log = CheckAux(state, batch, aux, counts);
  const std::string journal = dir_ + "/" + state.journal;
  if (in_buckets != in_log || batch.delivered > in_log) {
    Report(journal, std::nullopt,
           fmt::format("batch {}: {} tuples that give a result, {} records of "
                       "the aux log, {} delivered",
                       batch.number, in_buckets, in_log, batch.delivered));
  }
  counts->results += in_log - std::min(in_log, batch.delivered);
}

uint64_t StoreCheck::CountResults(const BatchState& batch, uint32_t bucket,
                                  std::string_view tuples, uint64_t expected,
                                  const std::string& path,
                                  std::optional<uint64_t> offset) {
  TupleReader reader(batch.format, bucket, tuples);
  BucketTuple tuple{};
  uint64_t count = 0;
  uint64_t results = 0;
  while (!reader.AtEnd()) {
    if (!reader.Next(tuple)) {
      Report(path, offset, "a tuple of the bucket makes no sense");
      return results;
    }
    ++count;
    if (GivesResult(tuple.operation)) ++results;
  }
  if (count != expected) {
    Report(path, offset,
           fmt::format("{} tuples, and the commit has {}", count, expected));
  }
  return results;
}

uint64_t StoreCheck::CheckBuckets(const StoreState& state,
                                  const BatchState& batch,
                                  StoreCounts* counts) {
  uint64_t results = 0;
  for (uint32_t i = 0; i < batch.buckets.size(); ++i) {
    const BatchState::Bucket& bucket = batch.buckets[i];
    counts->tuples += bucket.chunk_tuples + bucket.open_tuples;
    results += CountResults(batch, i, bucket.open, bucket.open_tuples,
                            dir_ + "/" + state.journal, std::nullopt);
  }
  const std::vector<PlacedChunk> chunks = ChunksInOrder(batch);
  if (chunks.empty()) return results;
  const std::string path = StoreFilePath(dir_, batch.number, kKeysSuffix);
  const auto file = BlockFile::Open(
      fs_, path, StoreFileSalt(state.header.salt, batch.number, kKeysSuffix),
      batch.keys_end, io_, OpenMode::kRead);
  if (!file.has_value()) {
    Report(path, file.error());
    return results;
  }
  for (const PlacedChunk& placed : chunks) {
    counts->bytes += placed.chunk.place.pages();
    const auto tuples = (*file)->Read(placed.chunk.place, buffer_);
    if (!tuples.has_value()) {
      Report(path, tuples.error());
      continue;
    }
    results += CountResults(batch, placed.bucket, *tuples, placed.chunk.tuples,
                            path, placed.chunk.place.offset);
  }
  return results;
}

uint64_t StoreCheck::CheckAux(const StoreState& state, const BatchState& batch,
                              const AuxSink& aux, StoreCounts* counts) {
  uint64_t records = 0;
  AuxBlockReader reader;
  const auto take = [&](std::string_view payload, const std::string& path,
                        std::optional<uint64_t> offset, uint64_t expected) {
    const Status opened = reader.Open(payload, batch.format.log_buckets,
                                      decompressor_, kMaxAuxBlockBytes);
    if (!opened) Report(path, offset, opened.error().message);
    if (opened && reader.records() != expected) {
      Report(path, offset,
             fmt::format("{} records, and the commit has {}", reader.records(),
                         expected));
    }
    uint32_t bucket = 0;
    std::string_view text;
    uint64_t number = records;
    while (opened && reader.Next(&bucket, &text)) {
      if (aux && number >= batch.delivered) aux(text);
      ++number;
    }
    records += expected;
  };

  if (!batch.aux_blocks.empty()) {
    const std::string path = StoreFilePath(dir_, batch.number, kAuxSuffix);
    const auto file = BlockFile::Open(
        fs_, path, StoreFileSalt(state.header.salt, batch.number, kAuxSuffix),
        batch.aux_end, io_, OpenMode::kRead);
    if (!file.has_value()) Report(path, file.error());
    for (const AuxPlace& block : batch.aux_blocks) {
      counts->bytes += block.place.pages();
      if (!file.has_value()) {
        records += block.records;
        continue;
      }
      const auto payload = (*file)->Read(block.place, buffer_);
      if (payload.has_value()) {
        take(*payload, path, block.place.offset, block.records);
      } else {
        Report(path, payload.error());
        records += block.records;
      }
    }
  }
  if (!batch.aux_open.empty()) {
    std::string payload;
    batch.aux_open.AppendRecordsFrom(0, payload);
    take(payload, dir_ + "/" + state.journal, std::nullopt,
         batch.aux_open.records());
  }
  return records;
}

}  // namespace nephila::drum
