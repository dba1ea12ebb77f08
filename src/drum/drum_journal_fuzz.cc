// The parser of a store's commits takes any bytes, in a journal whose frames
// are right; what it makes of them is a state that a store can be made from.
//
// The first byte of the input chooses what the header of the journal says, the
// rest is a commit. It is read alone, and again behind a copy of itself, where
// it says what changed.
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/memory_file_system.h"
#include "drum/journal.h"

namespace nephila::drum {
namespace {

StoreHeader HeaderOf(uint8_t choice) {
  StoreHeader header;
  header.salt = 5;
  header.value.kind = static_cast<ValueKind>(choice % 3);
  if (header.value.kind == ValueKind::kFixed) header.value.bytes = 4;
  const int only = choice / 3 % 4;
  if (only < 3) header.only = static_cast<Operation>(only);
  header.log_buckets = choice / 12 % 2 == 1;
  return header;
}

void CheckMemory(const MemoryRun& memory) {
  for (size_t i = 1; i < memory.records(); ++i) {
    NEPHILA_CHECK(memory.keys()[i - 1] < memory.keys()[i]);
  }
  std::string bytes;
  ByteWriter writer(bytes);
  memory.AppendTo(writer);
  ByteReader reader(bytes);
  const auto again = MemoryRun::Parse(reader, memory.format());
  NEPHILA_CHECK(again.has_value() && reader.AtEnd());
  NEPHILA_CHECK(again->records() == memory.records());
  for (size_t i = 0; i < memory.records(); ++i) {
    NEPHILA_CHECK(again->keys()[i] == memory.keys()[i]);
    NEPHILA_CHECK(again->value(i) == memory.value(i));
    NEPHILA_CHECK(again->is_tombstone(i) == memory.is_tombstone(i));
  }
}

void CheckBatch(const BatchState& batch) {
  NEPHILA_CHECK(batch.buckets.size() == batch.format.buckets());
  for (uint32_t b = 0; b < batch.format.buckets(); ++b) {
    const BatchState::Bucket& bucket = batch.buckets[b];
    NEPHILA_CHECK(bucket.open_tuples <= bucket.open.size());
    uint64_t tuples = 0;
    for (const Chunk& chunk : bucket.chunks) {
      NEPHILA_CHECK(chunk.place.offset < chunk.place.end());
      NEPHILA_CHECK(chunk.place.end() <= batch.keys_end);
      tuples += chunk.tuples;
    }
    NEPHILA_CHECK(tuples == bucket.chunk_tuples);
    // The tuples themselves are parsed by the pass.
    TupleReader reader(batch.format, b, bucket.open);
    BucketTuple tuple{};
    while (!reader.AtEnd() && reader.Next(tuple)) {
      NEPHILA_CHECK(batch.format.BucketOf(tuple.key) == b);
    }
  }
  for (const AuxPlace& block : batch.aux_blocks) {
    NEPHILA_CHECK(block.place.end() <= batch.aux_end);
  }
}

void CheckState(const StoreState& state) {
  for (const MemoryLayers::Layer& layer : state.memory.layers()) {
    NEPHILA_CHECK(!layer->empty());
    CheckMemory(*layer);
  }
  std::set<uint64_t> numbers;
  for (const BatchState& batch : state.batches) {
    NEPHILA_CHECK(numbers.insert(batch.number).second);
    CheckBatch(batch);
  }
}

void CheckCommit(const StoreHeader& header, std::string_view commit) {
  MemoryFileSystem fs;
  NEPHILA_CHECK(fs.MakeDir("store").has_value());
  std::string journal = JournalHeader(header, 1);
  journal += CommitFrame(header, journal.size(), commit);
  journal += CommitFrame(header, journal.size(), commit);
  const auto file = fs.Open("store/" + JournalName(1), OpenMode::kCreateNew);
  NEPHILA_CHECK(file.has_value());
  NEPHILA_CHECK((*file)->Write(0, std::as_bytes(std::span(journal))));
  const auto newest = NewestGeneration(fs, "store");
  NEPHILA_CHECK(newest.has_value() && *newest == 2);
  for (const uint64_t generation : {uint64_t{1}, uint64_t{2}}) {
    const auto state = LoadState(fs, "store", generation);
    if (state.has_value()) {
      CheckState(*state);
    } else {
      NEPHILA_CHECK(state.error().code == ErrorCode::kCorruption);
    }
  }
}

}  // namespace
}  // namespace nephila::drum

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  nephila::drum::CheckCommit(
      nephila::drum::HeaderOf(data[0]),
      {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
