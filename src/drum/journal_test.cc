#include "drum/journal.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "base/source_path_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

using std::string_literals::operator""s;

constexpr uint64_t kGeneration = 7;

StoreHeader Header() {
  return {.salt = 0x0123456789ABCDEF,
          .value = {ValueKind::kVariable, 0},
          .only = std::nullopt,
          .log_buckets = true};
}

CommitHead Head(uint64_t generation, bool whole) {
  CommitHead head;
  head.whole = whole;
  head.generation = generation;
  head.next_file = 12;
  head.counters = {1000, 900, 800, 30, 20};
  head.runs = {{9, {8192, 64}, 12288, 82, 11}, {3, {4096, 50}, 8192, 500, 0}};
  head.retired = {{"00000002.run", 6, 0}, {"00000005.keys", 7, 65536}};
  return head;
}

// What a commit says about a batch, as Batch::AppendTo spells it.
struct BatchEntry {
  uint64_t number = 10;
  uint8_t bucket_bits = 1;
  uint8_t frozen = 0;
  std::string parameters = {};
  uint64_t delivered = 0;
  uint64_t keys_end = 8192;
  uint64_t aux_end = 4096;
  struct Place {
    uint64_t bucket, page, bytes, tuples;
  };
  std::vector<Place> chunks = {};
  std::vector<Place> aux_blocks = {};  // their bucket is not written
  struct Piece {
    uint64_t bucket, first, tuples;
    std::string bytes;
  };
  std::vector<Piece> pieces = {};
  uint64_t first_record = 0;
  std::string records = {};

  void AppendTo(ByteWriter& writer) const {
    writer.Varint(number);
    writer.U8(bucket_bits);
    writer.U8(frozen);
    writer.Sized(parameters);
    writer.Varint(delivered);
    writer.Varint(keys_end);
    writer.Varint(aux_end);
    writer.Varint(chunks.size());
    for (const Place& chunk : chunks) {
      for (const uint64_t number_of :
           {chunk.bucket, chunk.page, chunk.bytes, chunk.tuples}) {
        writer.Varint(number_of);
      }
    }
    writer.Varint(aux_blocks.size());
    for (const Place& block : aux_blocks) {
      for (const uint64_t number_of : {block.page, block.bytes, block.tuples}) {
        writer.Varint(number_of);
      }
    }
    writer.Varint(pieces.size());
    for (const Piece& piece : pieces) {
      writer.Varint(piece.bucket);
      writer.Varint(piece.first);
      writer.Varint(piece.tuples);
      writer.Sized(piece.bytes);
    }
    writer.Varint(first_record);
    writer.Sized(records);
  }
};

// A check is one byte and a key of eight.
std::string Checks(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += "\0abcdefg\0"s;
  return bytes;
}

BatchEntry FirstEntry() {
  BatchEntry entry;
  entry.chunks = {{1, 0, 4000, 300}};
  entry.aux_blocks = {{0, 0, 2000, 290}};
  entry.pieces = {{0, 0, 2, Checks(2)}, {1, 300, 1, Checks(1)}};
  entry.first_record = 290;
  AuxBlockBuilder records(true);
  records.Add(0, "https://example.com/");
  records.Add(1, "https://example.com/a");
  records.AppendRecordsFrom(0, entry.records);
  return entry;
}

std::string Commit(const CommitHead& head, bool emptied,
                   const std::vector<std::shared_ptr<const MemoryRun>>& changes,
                   const std::vector<BatchEntry>& batches) {
  std::string commit;
  ByteWriter writer(commit);
  AppendCommitHead(writer, head);
  AppendMemoryChanges(writer, emptied, changes);
  writer.Varint(batches.size());
  for (const BatchEntry& batch : batches) batch.AppendTo(writer);
  return commit;
}

std::shared_ptr<const MemoryRun> Changes(
    const std::vector<std::pair<uint64_t, std::string>>& records) {
  auto run = std::make_shared<MemoryRun>(Header().value);
  for (const auto& [key, value] : records) {
    if (value == "-") {
      run->AddTombstone(key);
    } else {
      run->Add(key, value);
    }
  }
  return run;
}

// A commit that is whole, and two with what changed since.
std::vector<std::string> GoldenCommits() {
  BatchEntry second;
  second.keys_end = 12288;
  second.chunks = {{0, 2, 500, 5}};
  second.pieces = {{0, 5, 1, Checks(1)}, {1, 301, 2, Checks(2)}};
  second.first_record = 292;
  BatchEntry frozen = second;
  frozen.frozen = 1;
  frozen.parameters = "now=5";
  frozen.delivered = 17;
  frozen.chunks = {};
  frozen.pieces = {};
  BatchEntry next;
  next.number = 11;
  next.bucket_bits = 8;
  next.keys_end = next.aux_end = 0;
  next.pieces = {{255, 0, 1, "\1abcdefg\2xy"s}};
  return {Commit(Head(kGeneration, true), false,
                 {Changes({{5, "five"}, {6, ""}}), Changes({{6, "six"}})},
                 {FirstEntry()}),
          Commit(Head(kGeneration + 1, false), false,
                 {Changes({{5, "-"}, {kGeneration, "seven"}})}, {second}),
          Commit(Head(kGeneration + 2, false), true, {Changes({{1, "one"}})},
                 {frozen, next})};
}

std::string Journal(const std::vector<std::string>& commits) {
  std::string bytes = JournalHeader(Header(), kGeneration);
  for (const std::string& commit : commits) {
    bytes += CommitFrame(Header(), bytes.size(), commit);
  }
  return bytes;
}

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { EXPECT_TRUE(fs_.MakeDir("store").has_value()); }

  void Write(std::string_view bytes) {
    ASSERT_TRUE(PublishFile(fs_, "store/" + JournalName(kGeneration), bytes)
                    .has_value());
  }
  Result<StoreState> Load(const std::vector<std::string>& commits) {
    Write(Journal(commits));
    return LoadState(fs_, "store", kGeneration + commits.size() - 1);
  }
  void ExpectRefused(const std::vector<std::string>& commits,
                     std::string_view why) {
    const auto state = Load(commits);
    ASSERT_FALSE(state.has_value()) << why;
    EXPECT_EQ(state.error().code, ErrorCode::kCorruption) << why;
  }

  MemoryFileSystem fs_;
};

TEST_F(JournalTest, NamesCarryTheGeneration) {
  EXPECT_EQ(JournalName(7), "journal-00000007");
  for (const uint64_t generation :
       {uint64_t{0}, uint64_t{1}, uint64_t{99'999'999}, uint64_t{100'000'000},
        std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(JournalGeneration(JournalName(generation)), generation);
  }
  for (const std::string_view name :
       {"", "journal", "journal-", "journal-1x", "journal-+1", "journal--1",
        "xjournal-1", "journal-00000007.tmp", "journal-99999999999999999999"}) {
    EXPECT_EQ(JournalGeneration(name), std::nullopt) << name;
  }
}

TEST_F(JournalTest, TheFormatIsThatOfTheGoldenFile) {
  const std::string written = Journal(GoldenCommits());
  std::ifstream file(SourcePath("testdata/drum/journal-v1"), std::ios::binary);
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  if (written != golden) {
    const std::string path = ::testing::TempDir() + "/journal-v1";
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << "the bytes of a journal have changed; they are in "
                  << path;
  }
  Write(golden);
  EXPECT_EQ(*NewestGeneration(fs_, "store"), kGeneration + 2);
}

// What few commits leave in memory is one layer.
const MemoryRun& Memory(const StoreState& state) {
  EXPECT_EQ(state.memory.layers().size(), 1U);
  return *state.memory.layers().at(0);
}

TEST_F(JournalTest, AWholeCommitIsTheState) {
  const auto state = Load({GoldenCommits()[0]});
  ASSERT_TRUE(state.has_value()) << state.error().message;
  const CommitHead head = Head(kGeneration, true);
  EXPECT_EQ(state->header, Header());
  EXPECT_EQ(state->generation, kGeneration);
  EXPECT_EQ(state->next_file, 12U);
  EXPECT_EQ(state->counters.tuples_added, 1000U);
  EXPECT_EQ(state->counters.results_delivered, 900U);
  EXPECT_EQ(state->counters.uniques_delivered, 800U);
  EXPECT_EQ(state->counters.passes, 30U);
  EXPECT_EQ(state->counters.small_passes, 20U);
  EXPECT_EQ(state->runs, head.runs);
  ASSERT_EQ(state->retired.size(), 2U);
  EXPECT_EQ(state->retired[1].name, "00000005.keys");
  EXPECT_EQ(state->retired[1].last_named, 7U);
  EXPECT_EQ(state->retired[1].batch_bytes, 65536U);
  ASSERT_EQ(Memory(*state).records(), 2U);
  EXPECT_EQ(Memory(*state).value(1), "six");
  ASSERT_EQ(state->batches.size(), 1U);
  const BatchState& batch = state->batches[0];
  EXPECT_EQ(batch.number, 10U);
  EXPECT_EQ(batch.keys_end, 8192U);
  ASSERT_EQ(batch.buckets.size(), 2U);
  EXPECT_EQ(batch.buckets[0].open, Checks(2));
  EXPECT_EQ(batch.buckets[0].open_tuples, 2U);
  ASSERT_EQ(batch.buckets[1].chunks.size(), 1U);
  EXPECT_EQ(batch.buckets[1].chunks[0].place, (BlockPlace{0, 4000}));
  EXPECT_EQ(batch.buckets[1].chunk_tuples, 300U);
  EXPECT_EQ(batch.aux_records, 290U);
  EXPECT_EQ(batch.aux_open.records(), 2U);
  EXPECT_EQ(state->journal, JournalName(kGeneration));
  EXPECT_EQ(state->journal_end, Journal({GoldenCommits()[0]}).size());
}

TEST_F(JournalTest, LaterCommitsChangeTheState) {
  const std::vector<std::string> commits = GoldenCommits();
  const auto second = Load({commits[0], commits[1]});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  ASSERT_EQ(Memory(*second).records(), 3U);
  EXPECT_TRUE(Memory(*second).is_tombstone(0));
  EXPECT_EQ(Memory(*second).value(1), "six");
  EXPECT_EQ(Memory(*second).value(2), "seven");
  const BatchState& batch = second->batches.at(0);
  // The new chunk has what was open, and more.
  EXPECT_EQ(batch.buckets[0].chunk_tuples, 5U);
  EXPECT_EQ(batch.buckets[0].open, Checks(1));
  EXPECT_EQ(batch.buckets[1].open, Checks(3));
  EXPECT_EQ(batch.buckets[1].open_tuples, 3U);
  EXPECT_EQ(batch.aux_open.records(), 2U);

  const auto third = Load(commits);
  ASSERT_TRUE(third.has_value()) << third.error().message;
  ASSERT_EQ(Memory(*third).records(), 1U);
  EXPECT_EQ(Memory(*third).value(0), "one");
  ASSERT_EQ(third->batches.size(), 2U);
  EXPECT_TRUE(third->batches[0].frozen);
  EXPECT_EQ(third->batches[0].parameters, "now=5");
  EXPECT_EQ(third->batches[0].delivered, 17U);
  EXPECT_EQ(third->batches[0].buckets[1].open, Checks(3));
  EXPECT_EQ(third->batches[1].buckets.size(), 256U);
  EXPECT_EQ(third->batches[1].buckets[255].open_tuples, 1U);
  // Earlier commits are there still.
  EXPECT_EQ(LoadState(fs_, "store", kGeneration + 1)->memory.records(), 3U);
}

TEST_F(JournalTest, GenerationsThatAreNotThereAreNotFound) {
  EXPECT_FALSE(*HasJournal(fs_, "store"));
  EXPECT_EQ(NewestGeneration(fs_, "store").error().code, ErrorCode::kNotFound);
  Write(Journal(GoldenCommits()));
  EXPECT_TRUE(*HasJournal(fs_, "store"));
  for (const uint64_t generation :
       {uint64_t{0}, kGeneration - 1, kGeneration + 3,
        std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(LoadState(fs_, "store", generation).error().code,
              ErrorCode::kNotFound);
  }
}

TEST_F(JournalTest, ACommitCutShortIsNone) {
  const std::string whole = Journal(GoldenCommits());
  const size_t second =
      Journal({GoldenCommits()[0], GoldenCommits()[1]}).size();
  for (size_t size = second; size < whole.size(); ++size) {
    Write(whole.substr(0, size));
    EXPECT_EQ(*NewestGeneration(fs_, "store"), kGeneration + 1);
    EXPECT_FALSE(LoadState(fs_, "store", kGeneration + 2).has_value());
    EXPECT_TRUE(LoadState(fs_, "store", kGeneration + 1).has_value());
  }
}

TEST_F(JournalTest, AFlippedBitIsFound) {
  const std::string whole = Journal(GoldenCommits());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    Write(damaged);
    const auto state = LoadState(fs_, "store", kGeneration + 2);
    ASSERT_FALSE(state.has_value()) << at;
    EXPECT_EQ(state.error().code, ErrorCode::kCorruption);
    EXPECT_NE(state.error().message.find("journal-00000007"),
              std::string::npos);
  }
}

TEST_F(JournalTest, ACommitAtAnotherPlaceIsDamage) {
  const std::string commit = GoldenCommits()[0];
  const std::string header = JournalHeader(Header(), kGeneration);
  Write(header + CommitFrame(Header(), header.size() + 1, commit));
  EXPECT_FALSE(LoadState(fs_, "store", kGeneration).has_value());
  Write(JournalHeader(Header(), kGeneration + 1) +
        CommitFrame(Header(), header.size(), commit));
  EXPECT_FALSE(LoadState(fs_, "store", kGeneration).has_value());
}

TEST_F(JournalTest, AnOperationThatThereIsNotIsRefused) {
  StoreHeader header = Header();
  header.only = static_cast<Operation>(3);
  const std::string bytes = JournalHeader(header, kGeneration);
  Write(bytes + CommitFrame(header, bytes.size(), GoldenCommits()[0]));
  const auto state = LoadState(fs_, "store", kGeneration);
  ASSERT_FALSE(state.has_value());
  EXPECT_EQ(state.error().code, ErrorCode::kCorruption);
}

TEST_F(JournalTest, EveryCommitCutOrLongerMakesNoSense) {
  const std::string commit = GoldenCommits()[0];
  for (size_t size = 0; size < commit.size(); ++size) {
    ExpectRefused({commit.substr(0, size)}, std::to_string(size));
  }
  ExpectRefused({commit + '\0'}, "a byte more");
}

TEST_F(JournalTest, CommitsOutOfOrderAreRefused) {
  ExpectRefused({Commit(Head(kGeneration + 1, true), false, {}, {})},
                "another generation");
}

TEST_F(JournalTest, EntriesThatContradictThemselvesAreRefused) {
  const CommitHead head = Head(kGeneration, true);
  const auto refused = [&](const std::string& why, auto change) {
    BatchEntry entry = FirstEntry();
    change(entry);
    ExpectRefused({Commit(head, false, {}, {entry})}, why);
  };
  refused("no such bucket", [](auto& e) { e.pieces[0].bucket = 2; });
  refused("no such bucket", [](auto& e) { e.chunks[0].bucket = 2; });
  refused("too many buckets", [](auto& e) { e.bucket_bits = 17; });
  refused("behind the end", [](auto& e) { e.chunks[0].page = 2; });
  refused("over the end", [](auto& e) { e.chunks[0].bytes = 9000; });
  refused("over the end", [](auto& e) { e.aux_blocks[0].bytes = 4090; });
  refused("no tuples", [](auto& e) { e.chunks[0].tuples = 0; });
  refused("no records", [](auto& e) { e.aux_blocks[0].tuples = 0; });
  refused("a gap", [](auto& e) { e.pieces[1].first = 301; });
  refused("a gap in the log", [](auto& e) { e.first_record = 289; });
  refused("neither frozen nor open", [](auto& e) { e.frozen = 2; });
  ExpectRefused(
      {Commit(head, false, {}, {FirstEntry(), FirstEntry(), FirstEntry()})},
      "three batches");
  BatchEntry other_bits = FirstEntry();
  other_bits.bucket_bits = 2;
  ExpectRefused({Commit(head, false, {}, {FirstEntry()}),
                 Commit(Head(kGeneration + 1, false), false, {}, {other_bits})},
                "a batch that changes its buckets");
}

// The place of a block must not wrap around the end of the numbers.
TEST_F(JournalTest, APlaceBeyondAllFilesIsRefused) {
  BatchEntry entry;
  entry.keys_end = std::numeric_limits<uint64_t>::max();
  entry.chunks = {{0, entry.keys_end / kPageBytes, 8000, 1}};
  ExpectRefused({Commit(Head(kGeneration, true), false, {}, {entry})},
                "it wraps around");
}

// What makes a batch again relies on one entry for each, with all buckets.
TEST_F(JournalTest, TheSameBatchTwiceInACommitIsRefused) {
  BatchEntry entry;
  ExpectRefused({Commit(Head(kGeneration, true), false, {}, {entry, entry})},
                "a new one");
  ExpectRefused(
      {Commit(Head(kGeneration, true), false, {}, {entry}),
       Commit(Head(kGeneration + 1, false), false, {}, {entry, entry})},
      "a known one");
}

// Memory and time of a pass are planned by the number of tuples.
TEST_F(JournalTest, MoreTuplesThanTheirBytesHoldAreRefused) {
  const CommitHead head = Head(kGeneration, true);
  BatchEntry entry;
  entry.pieces = {{0, 0, 1, Checks(1)}};
  EXPECT_TRUE(Load({Commit(head, false, {}, {entry})}).has_value());
  entry.pieces = {{0, 0, 2, Checks(1)}};
  ExpectRefused({Commit(head, false, {}, {entry})}, "one more");
  entry.pieces = {{0, 0, UINT32_MAX, ""}};
  ExpectRefused({Commit(head, false, {}, {entry})}, "no bytes at all");
  entry.pieces = {};
  entry.chunks = {{0, 0, 100, 12}};
  ExpectRefused({Commit(head, false, {}, {entry})}, "a chunk");
}

}  // namespace
}  // namespace nephila::drum
