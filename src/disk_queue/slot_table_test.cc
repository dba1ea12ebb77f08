#include "disk_queue/slot_table.h"

#include <gtest/gtest.h>

namespace nephila::disk_queue {
namespace {

Geometry FourSlots() {
  Geometry geometry;
  geometry.slot_bytes = 4096;
  geometry.slots_per_file = 4;
  return geometry;
}

uint64_t TakeNext(SlotTable* table) {
  const uint64_t slot = table->Next();
  table->Take(slot);
  return slot;
}

TEST(SlotTable, NeverGivesASlotThatIsInUse) {
  SlotTable table(FourSlots());
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(TakeNext(&table), i);
  for (uint64_t i = 0; i < 3; ++i) table.Free(i);
  // New slots still come from this file: it is not given back.
  EXPECT_TRUE(table.TakeEmptyFiles().empty());
  EXPECT_EQ(TakeNext(&table), 0U);
  table.EmptyFilesAreGone();
  EXPECT_EQ(TakeNext(&table), 1U);
}

TEST(SlotTable, GivesBackFilesThatAreFullOfFreeSlots) {
  SlotTable table(FourSlots());
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(TakeNext(&table), i);
  for (uint64_t i = 0; i < 4; ++i) table.Free(i);
  EXPECT_EQ(table.TakeEmptyFiles(), std::vector<uint64_t>{0});
  EXPECT_FALSE(table.HasFile(0));
  EXPECT_EQ(TakeNext(&table), 6U);  // not from the one that is leaving
  table.EmptyFilesAreGone();
  EXPECT_EQ(TakeNext(&table), 0U);
}

}  // namespace
}  // namespace nephila::disk_queue
