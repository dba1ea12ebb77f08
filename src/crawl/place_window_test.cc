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
  std::vector<uint64_t> known;
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader, &known));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(again.low(), window.low());
  EXPECT_EQ(again.next(), window.low());
  EXPECT_EQ(again.open(), 0U);
  std::erase_if(ended, [&](uint64_t place) { return place < window.low(); });
  std::sort(ended.begin(), ended.end());
  EXPECT_EQ(known, ended);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader part(std::string_view(bytes).substr(0, size));
    PlaceWindow none;
    EXPECT_FALSE(none.Read(part, &known)) << size;
  }
}

}  // namespace
}  // namespace nephila::crawl
