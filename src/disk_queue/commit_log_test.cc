#include "disk_queue/commit_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/source_path_testing.h"
#include "disk_queue/block.h"
#include "disk_queue/queue_scan.h"
#include "disk_queue/segment_files.h"
#include "disk_queue/set_state.h"

namespace nephila::disk_queue {
namespace {

constexpr uint64_t kSalt = 0x1122334455667788;
constexpr Geometry kGeometry = {1024, 4};
constexpr uint64_t kGoldenGeneration = 7;

std::string Records(uint64_t first, uint64_t count) {
  std::string raw;
  for (uint64_t i = first; i < first + count; ++i) {
    AppendRecord(raw, "http://example.org/" + std::to_string(i));
  }
  return raw;
}

// A segment of queue 3: records 0 to 9 in two blocks. Not compressed: what
// codecs make may change with their version.
std::string GoldenSegment() {
  std::string bytes = SegmentHead(kSalt, 1, 3);
  BlockPacker packer(Codec::kNone);
  for (const auto& [first, count] : {std::pair<uint64_t, uint64_t>(0, 6),
                                     std::pair<uint64_t, uint64_t>(6, 4)}) {
    const uint64_t salt = BlockSalt(kSalt, 1, bytes.size());
    AppendFrame(bytes, packer.Pack(first, count, Records(first, count)), salt);
  }
  return bytes;
}

QueueState GoldenQueue() {
  QueueState queue;
  queue.first = 2;
  queue.next = 12;
  queue.segments = {{1, 0, GoldenSegment().size()}};
  queue.offset = kSegmentHeadBytes;
  queue.tail_first = 10;
  queue.tail_begin = 218;
  return queue;
}

std::string Commit(const CommitHead& head, const std::string& queues) {
  std::string frame(kFrameHeaderBytes, '\0');
  ByteWriter writer(frame);
  AppendCommitHead(writer, head);
  return frame + queues;
}

void AppendTo(std::string& log, std::string frame) {
  SealCommit(kSalt, log.size(), frame);
  log += frame;
}

// A whole commit with two queues and a retired segment, then one that adds to
// a tail and removes a queue.
std::string GoldenLog() {
  std::string log = LogHead({kSalt, kGeometry}, kGoldenGeneration - 1);
  std::string queues;
  ByteWriter writer(queues);
  QueueState queue = GoldenQueue();
  queue.tail = Records(10, 2);
  AppendQueue(writer, 3, WholeUpdate(queue));
  QueueState other;
  other.next = 1;
  other.tail = Records(0, 1);
  AppendQueue(writer, 500, WholeUpdate(other));
  AppendTo(log,
           Commit({true, kGoldenGeneration - 1, 3, {{2, 1, 5}}, 2}, queues));
  std::string changes;
  ByteWriter change_writer(changes);
  AppendRemovedQueue(change_writer, 500);
  queue.first = 4;
  queue.next = 13;
  QueueUpdate update = WholeUpdate(queue);
  update.segments.clear();
  update.tail_from = queue.tail_begin + Records(10, 2).size();
  const std::string more = Records(12, 1);
  update.tail = more;
  AppendQueue(change_writer, 3, update);
  AppendTo(log, Commit({false, kGoldenGeneration, 3, {{2, 1, 5}}, 2}, changes));
  return log;
}

std::string Golden(const std::string& name, const std::string& written) {
  std::ifstream file(SourcePath("testdata/disk_queue/" + name),
                     std::ios::binary);
  std::string golden(std::istreambuf_iterator<char>(file), {});
  if (written != golden) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << "the bytes have changed; they are in " << path;
  }
  return golden;
}

class CommitLogTest : public ::testing::Test {
 protected:
  CommitLogTest() { MustDo(fs_.MakeDir("set")); }
  void PutLog(const std::string& bytes) {
    Put(fs_, "set/" + LogName(kGoldenGeneration - 1), bytes);
  }

  MemoryFileSystem fs_;
};

TEST_F(CommitLogTest, TheFormatIsThatOfTheGoldenFiles) {
  PutLog(Golden("commits-v2", GoldenLog()));
  Put(fs_, "set/" + SegmentFileName(0), Golden("segment-v1", GoldenSegment()));
  EXPECT_EQ(Must(NewestGeneration(fs_, "set")), kGoldenGeneration);
  const LoadedSet loaded = Must(LoadSet(fs_, "set", kGoldenGeneration));
  EXPECT_EQ(loaded.head, (SetHead{kSalt, kGeometry}));
  EXPECT_EQ(loaded.state.queues.size(), 1U);
  EXPECT_EQ(loaded.state.retired, (std::vector<RetiredSegment>{{2, 1, 5}}));
  const auto scan = Must(ScanCommit(fs_, "set", kGoldenGeneration, 3));
  Record record;
  for (uint64_t i = 4; i < 13; ++i) {
    ASSERT_TRUE(Must(scan->Next(record)));
    EXPECT_EQ(record.ordinal, i);
    EXPECT_EQ(record.bytes, "http://example.org/" + std::to_string(i));
  }
  EXPECT_FALSE(Must(scan->Next(record)));
}

TEST_F(CommitLogTest, ACommitThatWasCutShortIsNone) {
  const std::string log = GoldenLog();
  const uint64_t end = Must([&]() -> Result<uint64_t> {
    PutLog(log);
    NEPHILA_TRY(const LoadedSet first,
                LoadSet(fs_, "set", kGoldenGeneration - 1));
    return first.log_end;
  }());
  for (uint64_t size = end; size < log.size(); ++size) {
    PutLog(log.substr(0, size));
    EXPECT_EQ(Must(NewestGeneration(fs_, "set")), kGoldenGeneration - 1);
    EXPECT_EQ(Must(LoadSet(fs_, "set", kGoldenGeneration - 1)).log_end, end);
    EXPECT_FALSE(LoadSet(fs_, "set", kGoldenGeneration).has_value());
  }
  PutLog(log.substr(0, end) + std::string(100, '\0'));
  EXPECT_EQ(Must(NewestGeneration(fs_, "set")), kGoldenGeneration - 1);
  // Damage in the middle is none of that.
  std::string damaged = log + log.substr(end);
  damaged[end + kFrameHeaderBytes] ^= 1;
  PutLog(damaged);
  EXPECT_EQ(CodeOf(NewestGeneration(fs_, "set")), "corruption");
}

TEST_F(CommitLogTest, ACommitSaysWhatIsNewOfTheSegments) {
  SetState state;
  QueueState& queue = state.queues[3];
  queue.segments = {{1, 0, 90}, {4, 1, 90}, {5, 2, 70}};
  const auto apply = [&](uint64_t oldest, std::vector<Segment> segments) {
    QueueUpdate update;
    update.oldest = oldest;
    update.segments = std::move(segments);
    std::string commit;
    ByteWriter writer(commit);
    AppendCommitHead(writer, {false, 1, 10, {}, 1});
    AppendQueue(writer, 3, update);
    return ApplyCommit(commit, state);
  };
  EXPECT_TRUE(apply(4, {{5, 2, 80}, {7, 3, 60}}));
  EXPECT_EQ(queue.segments,
            (std::vector<Segment>{{4, 1, 90}, {5, 2, 80}, {7, 3, 60}}));
  EXPECT_TRUE(apply(4, {}));
  EXPECT_EQ(queue.segments.size(), 3U);
  EXPECT_FALSE(apply(4, {{7, 4, 60}}));  // in another slot
  EXPECT_TRUE(apply(8, {{8, 4, 60}}));
  EXPECT_EQ(queue.segments, (std::vector<Segment>{{8, 4, 60}}));
  EXPECT_TRUE(apply(0, {}));
  EXPECT_TRUE(queue.segments.empty());
  // What does not fit what was there before.
  EXPECT_FALSE(apply(3, {}));
  EXPECT_FALSE(apply(3, {{4, 1, 60}}));
  EXPECT_FALSE(apply(4, {{4, 1, 60}, {3, 2, 60}}));
}

TEST_F(CommitLogTest, RefusesCommitsThatMakeNoSense) {
  const auto sense = [](const QueueState& queue, uint64_t from,
                        const std::string& tail) {
    std::string commit;
    ByteWriter writer(commit);
    AppendCommitHead(writer, {true, 9, 3, {}, 1});
    QueueUpdate update = WholeUpdate(queue);
    update.tail_from = from;
    update.tail = tail;
    AppendQueue(writer, 3, update);
    SetState state;
    return ApplyCommit(commit, state) && MakesSense(state, kGeometry);
  };
  const std::string tail = Records(10, 2);
  EXPECT_TRUE(sense(GoldenQueue(), 218, tail));
  EXPECT_FALSE(sense(GoldenQueue(), 217, tail));
  EXPECT_FALSE(sense(GoldenQueue(), 218, tail.substr(1)));
  EXPECT_FALSE(sense(GoldenQueue(), 218, Records(10, 3)));
  const auto with = [&](auto change) {
    QueueState queue = GoldenQueue();
    change(queue);
    return sense(queue, 218, tail);
  };
  EXPECT_FALSE(with([](QueueState& q) { q.first = 13; }));
  EXPECT_FALSE(with([](QueueState& q) { q.next = uint64_t{1} << 63; }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments[0].number = 3; }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments[0].end = 10; }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments.clear(); }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments[0].end = 1025; }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments[0].slot = 9; }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments.push_back({1, 1, 90}); }));
  EXPECT_FALSE(with([](QueueState& q) { q.segments.push_back({2, 0, 90}); }));
  EXPECT_TRUE(with([](QueueState& q) { q.segments.push_back({2, 1, 90}); }));
  EXPECT_FALSE(with([](QueueState& q) { q.offset = 5; }));
  EXPECT_FALSE(with([](QueueState& q) { q.offset = 5000; }));
  EXPECT_FALSE(with([](QueueState& q) { q.tail_first = 13; }));
}

TEST_F(CommitLogTest, KnowsItsNames) {
  EXPECT_EQ(LogName(12), "commits-00000012");
  EXPECT_EQ(LogGeneration("commits-00000012"), 12U);
  EXPECT_EQ(LogGeneration("commits-00000012.tmp"), std::nullopt);
  EXPECT_EQ(LogGeneration("00000012.segments"), std::nullopt);
  EXPECT_EQ(SegmentFileName(12), "00000012.segments");
  EXPECT_EQ(SegmentHead(1, 2, 3).size(), kSegmentHeadBytes);
}

}  // namespace
}  // namespace nephila::disk_queue
