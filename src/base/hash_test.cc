#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila {
namespace {

struct Golden {
  size_t size;
  uint64_t seed_zero;
  uint64_t seed_other;
};

constexpr uint64_t kOtherSeed = 0x9E3779B97F4A7C15;

// Computed with Debian's libxxhash 0.8.1, not with our build of it. One length
// on each side of every switch of method in XXH3. Never edit: a failure here
// means that jobs on disk can no longer be read, and needs a new kHashVersion.
constexpr Golden kGolden[] = {
    {0, 0x2D06800538D394C2, 0x602B0E2CD6662C8B},
    {1, 0x13E608BC156DEFED, 0x1B4C466098160569},
    {3, 0xA9088DDA485B481C, 0xA8BACD847619199E},
    {8, 0x60539DB630471163, 0xBC53D62E02F670A4},
    {9, 0xFEFF668361D723A8, 0xD4FB426F424E6E62},
    {16, 0xB8C859B0F030B585, 0x7775D23337D796B5},
    {17, 0x714A04408E79B80F, 0x7D1872B1361C0FA6},
    {128, 0x67425A03650261BF, 0xE9E239440DAC1B3C},
    {129, 0xC664BF3311C6ABC4, 0xB11455AB08C506D4},
    {240, 0x64556DC6B462A6CF, 0x6EA73B2BE19B57C5},
    {241, 0x8BEADD3A8874FE17, 0xA0462D397650B282},
    {1000, 0x6C4F14BD97BD9E82, 0x7D4FD63B32D06559},
};

TEST(KeyedHash, NeverChanges) {
  ASSERT_EQ(kHashVersion, 1);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * 7 + 3));
  for (const Golden& golden : kGolden) {
    const std::string_view part =
        std::string_view(bytes).substr(0, golden.size);
    EXPECT_EQ(KeyedHash(part, 0), golden.seed_zero) << golden.size;
    EXPECT_EQ(KeyedHash(part, kOtherSeed), golden.seed_other) << golden.size;
  }
}

TEST(KeyedHash, TakesAnEmptyViewWithoutMemory) {
  EXPECT_EQ(KeyedHash(std::string_view(), 0), KeyedHash("", 0));
}

TEST(KeyedHash, DoesNotDependOnAlignment) {
  const std::string text = "http://example.org/a/page?with=some&query=1";
  const uint64_t hash = KeyedHash(text, 7);
  for (size_t shift = 1; shift < 16; ++shift) {
    const std::string moved = std::string(shift, ' ') + text;
    EXPECT_EQ(KeyedHash(std::string_view(moved).substr(shift), 7), hash);
  }
}

}  // namespace
}  // namespace nephila
