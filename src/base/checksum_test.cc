#include "base/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace nephila {
namespace {

std::string RandomBytes(Random& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Below(256));
  return bytes;
}

TEST(Crc32c, GivesTheKnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  // RFC 3720 B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string up;
  for (int i = 0; i < 32; ++i) up.push_back(static_cast<char>(i));
  EXPECT_EQ(Crc32c(up), 0x46DD794Eu);
  EXPECT_EQ(Crc32c(std::string(up.rbegin(), up.rend())), 0x113FDB5Cu);
}

TEST(Crc32c, TableGivesTheKnownValues) {
  EXPECT_EQ(internal::ExtendCrc32cByTable(0, "123456789"), 0xE3069283u);
  EXPECT_EQ(internal::ExtendCrc32cByTable(0, std::string(32, '\0')),
            0x8A9136AAu);
}

TEST(Crc32c, TableAndInstructionAgreeAtAllAlignmentsAndLengths) {
  Random random(1);
  const std::string bytes = RandomBytes(random, 320);
  const std::string_view view = bytes;
  for (size_t start = 0; start < 16; ++start) {
    for (size_t size = 0; size <= 300; ++size) {
      const std::string_view part = view.substr(start, size);
      const auto crc = static_cast<uint32_t>(random.Next());
      const uint32_t by_table = internal::ExtendCrc32cByTable(crc, part);
      ASSERT_EQ(ExtendCrc32c(crc, part), by_table) << start << " " << size;
      if (internal::HasCrc32cInstruction()) {
        ASSERT_EQ(internal::ExtendCrc32cByInstruction(crc, part), by_table);
      }
    }
  }
}

TEST(Crc32c, ComesOutTheSameInPieces) {
  Random random(2);
  const std::string bytes = RandomBytes(random, 100);
  const std::string_view view = bytes;
  for (size_t cut = 0; cut <= view.size(); ++cut) {
    const uint32_t first = Crc32c(view.substr(0, cut));
    ASSERT_EQ(ExtendCrc32c(first, view.substr(cut)), Crc32c(view));
  }
}

}  // namespace
}  // namespace nephila
