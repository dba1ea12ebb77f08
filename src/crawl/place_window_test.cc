#include "crawl/place_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace nephila::crawl {
namespace {

TEST(PlaceWindowTest, LowIsTheFirstThatIsOpen) {
  PlaceWindow window;
  for (uint64_t place = 0; place < 4; ++place) window.GiveOut(place);
  EXPECT_EQ(window.next(), 4U);
  EXPECT_EQ(window.open(), 4U);
  EXPECT_TRUE(window.End(1));
  EXPECT_EQ(window.low(), 0U);
  EXPECT_TRUE(window.End(0));
  EXPECT_EQ(window.low(), 2U);
  EXPECT_TRUE(window.End(3));
  EXPECT_TRUE(window.End(2));
  EXPECT_EQ(window.low(), 4U);
  EXPECT_EQ(window.open(), 0U);
}

TEST(PlaceWindowTest, APlaceEndsOnce) {
  PlaceWindow window;
  for (uint64_t place = 0; place < 3; ++place) window.GiveOut(place);
  EXPECT_TRUE(window.End(0));
  EXPECT_FALSE(window.End(0));  // below low
  EXPECT_TRUE(window.End(2));
  EXPECT_FALSE(window.End(2));
  EXPECT_FALSE(window.End(3));  // not given out
  EXPECT_EQ(window.open(), 1U);
}

// After a restart places are given out from low on, but for those that ended.
TEST(PlaceWindowTest, WhatEndedIsRemembered) {
  Random random(3);
  PlaceWindow window;
  std::vector<uint64_t> open;
  std::vector<uint64_t> ended;
  for (int i = 0; i < 2'000; ++i) {
    if (open.empty() || random.Below(3) > 0) {
      open.push_back(window.next());
      window.GiveOut(window.next());
    } else {
      const auto one =
          open.begin() + static_cast<std::ptrdiff_t>(random.Below(open.size()));
      EXPECT_TRUE(window.End(*one));
      ended.push_back(*one);
      open.erase(one);
    }
  }
  EXPECT_EQ(window.low(), open.front());
  EXPECT_EQ(window.open(), open.size());
  std::string bytes;
  ByteWriter writer(bytes);
  window.Write(writer);

  PlaceWindow again;
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(again.low(), window.low());
  EXPECT_EQ(again.next(), window.low());
  EXPECT_EQ(again.open(), 0U);
  std::erase_if(ended, [&](uint64_t place) { return place < window.low(); });
  EXPECT_EQ(again.EndedAhead(), ended.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader part(std::string_view(bytes).substr(0, size));
    PlaceWindow none;
    EXPECT_FALSE(none.Read(part)) << size;
  }
  // Half of them are given out again, and then there is another restart.
  const uint64_t half = (window.low() + window.next()) / 2;
  while (again.next() < half) {
    const uint64_t place = again.next();
    const bool has_ended = std::count(ended.begin(), ended.end(), place) > 0;
    EXPECT_EQ(again.EndedBefore(place), has_ended);
    EXPECT_EQ(again.GiveOut(place), has_ended);
  }
  bytes.clear();
  ByteWriter second(bytes);
  again.Write(second);
  PlaceWindow last;
  ByteReader rest(bytes);
  ASSERT_TRUE(last.Read(rest));
  EXPECT_EQ(last.EndedAhead(), ended.size());
  while (last.next() < window.next()) {
    const uint64_t place = last.next();
    EXPECT_EQ(last.GiveOut(place),
              std::count(ended.begin(), ended.end(), place) > 0);
  }
  EXPECT_EQ(last.open(), open.size());
  EXPECT_EQ(last.EndedAhead(), 0U);
  EXPECT_FALSE(last.GiveOut(last.next()));
}

// A place that stays open costs nothing for those behind it.
TEST(PlaceWindowTest, TheOldestOpenPlaceDoesNotMakeItGrow) {
  PlaceWindow window;
  for (uint64_t place = 0; place < 100'000; ++place) {
    window.GiveOut(place);
    if (place > 0) window.End(place);
  }
  EXPECT_EQ(window.low(), 0U);
  std::string bytes;
  ByteWriter writer(bytes);
  window.Write(writer);
  EXPECT_LE(bytes.size(), 8U);
}

// As version 3 of the state has it: the places that ended, twice.
TEST(PlaceWindowTest, PlacesOfAnOlderJobAreRead) {
  std::string bytes;
  ByteWriter writer(bytes);
  for (const uint64_t number : {10, 2, 1, 3, 1, 12}) writer.Varint(number);
  PlaceWindow window;
  ByteReader reader(bytes);
  ASSERT_TRUE(window.ReadEnded(reader));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(window.low(), 10U);
  EXPECT_EQ(window.EndedAhead(), 3U);
  for (const bool ended : {false, true, true, false, true, false, false}) {
    EXPECT_EQ(window.GiveOut(window.next()), ended) << window.next();
  }
}

}  // namespace
}  // namespace nephila::crawl
