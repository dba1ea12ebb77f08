#include "store/recent_digests.h"

#include <gtest/gtest.h>

namespace nephila::store {
namespace {

constexpr uint64_t kMemory = 64 * 1024;

Digest Payload(int i) { return DigestOf(DigestKind::kSha1, std::to_string(i)); }

Original Record(int i) {
  return {"urn:uuid:" + std::to_string(i),
          "http://example.com/" + std::to_string(i),
          WallTime(std::chrono::nanoseconds(1000 + i)),
          static_cast<uint32_t>(i),
          {1, static_cast<uint64_t>(i) * 1000},
          static_cast<uint64_t>(i) + 7};
}

TEST(RecentDigestsTest, RemembersWhatWasAdded) {
  RecentDigests recent(kMemory);
  EXPECT_FALSE(recent.Find(Payload(1), 0));
  recent.Add(Payload(1), Record(1), 0, {1, 100});
  EXPECT_EQ(recent.Find(Payload(1), 0), Record(1));
  EXPECT_FALSE(recent.Find(Payload(2), 0));
}

TEST(RecentDigestsTest, TheFirstRecordStaysTheOriginal) {
  RecentDigests recent(kMemory);
  recent.Add(Payload(1), Record(1), 0, {1, 100});
  recent.Add(Payload(1), Record(2), 0, {1, 200});
  EXPECT_EQ(recent.Find(Payload(1), 0), Record(1));
}

TEST(RecentDigestsTest, AnotherStreamsRecordCountsOnceACheckpointCoversIt) {
  RecentDigests recent(kMemory);
  recent.Add(Payload(1), Record(1), 7, {2, 100});
  EXPECT_TRUE(recent.Find(Payload(1), 7));
  EXPECT_FALSE(recent.Find(Payload(1), 8));
  recent.Cover(7, {2, 99});
  EXPECT_FALSE(recent.Find(Payload(1), 8));
  recent.Cover(8, {9, 9});  // says nothing about stream 7
  EXPECT_FALSE(recent.Find(Payload(1), 8));
  recent.Cover(7, {2, 100});
  EXPECT_EQ(recent.Find(Payload(1), 8), Record(1));
  recent.Cover(7, {1, 0});  // marks do not go back
  EXPECT_TRUE(recent.Find(Payload(1), 8));
}

TEST(RecentDigestsTest, ARecordThatCannotBeNamedIsReplacedByOneThatCan) {
  RecentDigests recent(kMemory);
  recent.Add(Payload(1), Record(1), 7, {1, 100});
  recent.Add(Payload(1), Record(2), 8, {1, 100});
  EXPECT_EQ(recent.Find(Payload(1), 8), Record(2));
}

TEST(RecentDigestsTest, ForgetsTheOldestInABoundedMemory) {
  RecentDigests recent(kMemory);
  EXPECT_LE(recent.memory_bytes(), kMemory);
  constexpr int kRecords = 10000;
  for (int i = 0; i < kRecords; ++i) {
    recent.Add(Payload(i), Record(i), 0, {1, 100});
    ASSERT_EQ(recent.Find(Payload(i), 0), Record(i));
  }
  EXPECT_LE(recent.memory_bytes(), kMemory);
  EXPECT_FALSE(recent.Find(Payload(0), 0));
  // Nearly all that the ring has room for; some lost their slot to others.
  const auto room = static_cast<int>(recent.CapacityFor(40));
  int found = 0;
  for (int i = 0; i < kRecords; ++i) {
    const auto original = recent.Find(Payload(i), 0);
    if (!original) continue;
    EXPECT_EQ(original, Record(i));
    EXPECT_GE(i, kRecords - 2 * room);
    ++found;
  }
  EXPECT_GT(found, room / 2);
}

TEST(RecentDigestsTest, NoMemoryRemembersNothing) {
  RecentDigests recent(0);
  recent.Add(Payload(1), Record(1), 0, {1, 100});
  EXPECT_FALSE(recent.Find(Payload(1), 0));
}

TEST(RecentDigestsTest, AUrlThatIsTooLongIsNotRemembered) {
  RecentDigests recent(kMemory);
  Original original = Record(1);
  original.url.append(kMemory, 'x');
  recent.Add(Payload(1), original, 0, {1, 100});
  EXPECT_FALSE(recent.Find(Payload(1), 0));
}

TEST(RecentDigestsTest, KindsOfDigestsDoNotMix) {
  RecentDigests recent(kMemory);
  Digest sha1 = Payload(1);
  recent.Add(sha1, Record(1), 0, {1, 100});
  sha1.kind = DigestKind::kSha256;
  EXPECT_FALSE(recent.Find(sha1, 0));
}

}  // namespace
}  // namespace nephila::store
