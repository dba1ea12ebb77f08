// Random work on queues of all shapes, beside a model that has them in memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/crash_testing.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

QueueSetOptions RandomOptions(Random& random) {
  QueueSetOptions options;
  options.memory_bytes = uint64_t{4096} << random.Below(6);
  options.block_bytes = uint64_t{32} << random.Below(8);
  options.segment_bytes = options.block_bytes + 250 + random.Below(5000);
  options.segments_per_file = 1 + random.Below(5);
  options.max_open_files = static_cast<uint32_t>(1 + random.Below(5));
  options.codec = static_cast<Codec>(random.Below(kCodecs));
  return options;
}

// Does one thing to one queue.
void Step(TestedSet& tested, Random& random, uint64_t queues) {
  const uint64_t queue = random.Below(queues);
  ModelQueue& model = tested.model()[queue];
  if (model == ModelQueue()) tested.model().erase(queue);
  switch (random.Below(12)) {
    case 0:
      return MustDo(tested.Commit());
    case 1:
    case 2:
      return MustDo(tested.Read(queue, random.Below(40)));
    case 3:
      return MustDo(tested.ReadAhead(queue, random.Below(40)));
    case 4:
      if (tested.model().contains(queue)) {
        const ModelQueue& now = tested.model()[queue];
        tested.Release(queue,
                       now.first + random.Below(now.cursor - now.first + 1));
      }
      return;
    case 5:
      if (tested.set().Kept(queue) == 0) MustDo(tested.Remove(queue));
      return;
    default:
      for (uint64_t i = random.Below(20); i > 0; --i) {
        MustDo(tested.Append(queue, RandomRecord(random, 90)));
      }
  }
}

TEST(QueueRandomTest, GivesWhatAModelGivesInAllShapes) {
  for (uint64_t seed = 1; seed <= (LongTests() ? 400 : 40); ++seed) {
    Random random(seed);
    MemoryFileSystem fs;
    const QueueSetOptions options = RandomOptions(random);
    TestedSet tested(fs, options);
    MustDo(tested.Create());
    const uint64_t queues = 1 + random.Below(30);
    for (int i = 0; i < 500; ++i) {
      Step(tested, random, queues);
      if (random.Chance(0.02)) {
        tested.Close();
        // Exactly the commit, or the one before.
        MustDo(tested.Open(tested.CommitToOpen(random.Chance(0.3))));
      }
      const QueueSetStats stats = tested.set().stats();
      ASSERT_LE(stats.tail_bytes, options.memory_bytes * 3 / 8);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " step " << i;
    }
    tested.CheckScans();
    tested.CheckDrained();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nephila::disk_queue
