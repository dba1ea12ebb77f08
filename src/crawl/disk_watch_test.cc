#include "crawl/disk_watch.h"

#include <gtest/gtest.h>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/mounted_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kMiB = uint64_t{1} << 20;

Error Full() { return {ErrorCode::kNoSpace, "write x: No space left"}; }

class DiskWatchTest : public testing::Test {
 protected:
  DiskWatchTest() {
    settings_.floor_bytes = 10 * kMiB;
    settings_.margin_bytes = 5 * kMiB;
    MustDo(EnsureDir(fs_, "job/archive"));
  }
  DiskWatch Make() {
    return DiskWatch({fs_, clock_, settings_, "job", {"job/archive"}});
  }
  void SetFree(uint64_t bytes) { fs_.SetCapacity(bytes); }
  void LookIn(DiskWatch& watch, std::chrono::nanoseconds time,
              bool on_reserve = false) {
    clock_.Advance(time);
    MustDo(watch.Look(on_reserve));
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  config::DiskSettings settings_;
};

TEST_F(DiskWatchTest, WaitsBelowTheFloorAndGoesOnWithSomeMore) {
  DiskWatch watch = Make();
  SetFree(10 * kMiB);
  LookIn(watch, seconds(0));
  EXPECT_FALSE(watch.is_waiting());
  EXPECT_EQ(watch.Text(), "");
  SetFree(9 * kMiB);
  // About once a second.
  LookIn(watch, milliseconds(999));
  EXPECT_FALSE(watch.is_waiting());
  EXPECT_EQ(watch.next_look(), clock_.Now() + milliseconds(1));
  LookIn(watch, milliseconds(1));
  EXPECT_TRUE(watch.is_waiting());
  EXPECT_FALSE(watch.is_refused());
  EXPECT_EQ(watch.Text(),
            "disk: 9.0 MiB free, below disk.floor of 10.0 MiB; waiting");
  SetFree(14 * kMiB);
  LookIn(watch, seconds(1));
  EXPECT_EQ(watch.Text(),
            "disk: 14.0 MiB free, not yet disk.floor of 10.0 MiB and 5.0 MiB "
            "more; waiting");
  SetFree(15 * kMiB);
  LookIn(watch, seconds(1));
  EXPECT_FALSE(watch.is_waiting());
}

TEST_F(DiskWatchTest, AFloorOfNothingIsNone) {
  settings_.floor_bytes = 0;
  DiskWatch watch = Make();
  SetFree(0);
  LookIn(watch, seconds(1));
  EXPECT_FALSE(watch.is_waiting());
}

TEST_F(DiskWatchTest, AReserveThatIsInUseIsWaitedFor) {
  DiskWatch watch = Make();
  LookIn(watch, seconds(1), /*on_reserve=*/true);
  EXPECT_TRUE(watch.is_waiting());
  EXPECT_FALSE(watch.is_refused());
  EXPECT_TRUE(watch.Text().ends_with(
      "free, too little for the reserve of the journal; waiting"));
  LookIn(watch, seconds(1));
  EXPECT_FALSE(watch.is_waiting());
}

TEST_F(DiskWatchTest, ARefusalIsTriedAgainAndEndsWithASecondWithoutAnother) {
  DiskWatch watch = Make();
  LookIn(watch, seconds(0));
  watch.Refused(Full());
  EXPECT_TRUE(watch.is_waiting());
  EXPECT_TRUE(watch.is_refused());
  EXPECT_EQ(watch.Text(), "disk: no room (write x: No space left); waiting");
  EXPECT_EQ(watch.trials(), 0U);
  LookIn(watch, seconds(1));
  EXPECT_EQ(watch.trials(), 1U);
  EXPECT_FALSE(watch.is_refused());
  EXPECT_TRUE(watch.is_waiting());
  LookIn(watch, seconds(1));
  EXPECT_FALSE(watch.is_waiting());
}

TEST_F(DiskWatchTest, TrialsBecomeRareButComeAtOnceWithRoom) {
  DiskWatch watch = Make();
  SetFree(100 * kMiB);
  LookIn(watch, seconds(0));
  watch.Refused(Full());
  for (const int wait : {1, 2, 4, 8, 15, 15}) {
    const uint64_t trials = watch.trials();
    // More refusals of the same time are one.
    watch.Refused(Full());
    for (int i = 1; i < wait; ++i) LookIn(watch, seconds(1));
    EXPECT_EQ(watch.trials(), trials) << wait;
    LookIn(watch, seconds(1));
    EXPECT_EQ(watch.trials(), trials + 1) << wait;
    watch.Refused(Full());
    EXPECT_TRUE(watch.is_refused());
  }
  const uint64_t trials = watch.trials();
  SetFree(100 * kMiB + 1000);
  LookIn(watch, seconds(1));
  EXPECT_EQ(watch.trials(), trials);
  SetFree(102 * kMiB);
  LookIn(watch, seconds(1));
  EXPECT_EQ(watch.trials(), trials + 1);
}

TEST_F(DiskWatchTest, OneFolderOfTheArchiveWithRoomIsEnough) {
  MemoryFileSystem a;
  MemoryFileSystem b;
  MountedFileSystem disks(fs_);
  disks.Mount("a", a);
  disks.Mount("b", b);
  SetFree(100 * kMiB);
  a.SetCapacity(kMiB);
  b.SetCapacity(100 * kMiB);
  DiskWatch watch({disks, clock_, settings_, "job", {"a", "b"}});
  LookIn(watch, seconds(0));
  EXPECT_FALSE(watch.is_waiting());
  b.SetCapacity(2 * kMiB);
  LookIn(watch, seconds(1));
  EXPECT_TRUE(watch.is_waiting());
  a.SetCapacity(100 * kMiB);
  LookIn(watch, seconds(1));
  EXPECT_FALSE(watch.is_waiting());
  SetFree(kMiB);
  LookIn(watch, seconds(1));
  EXPECT_TRUE(watch.is_waiting());
}

}  // namespace
}  // namespace nephila::crawl
