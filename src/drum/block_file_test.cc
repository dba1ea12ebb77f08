#include "drum/block_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

class BlockFileTest : public ::testing::Test {
 protected:
  BlockFileTest() { EXPECT_TRUE(fs_.MakeDir("store").has_value()); }

  static BlockBuffer Filled(const std::string& payload) {
    BlockBuffer buffer(payload.size());
    std::copy(payload.begin(), payload.end(), buffer.payload());
    return buffer;
  }

  MemoryFileSystem fs_;
  IoCounts counts_;
};

TEST_F(BlockFileTest, ReadsWhatWasAppended) {
  auto file = *BlockFile::Create(fs_, "store/a", 1, counts_);
  std::vector<std::string> payloads = {"", "short", std::string(4084, 'x'),
                                       std::string(4085, 'y'),
                                       std::string(100000, 'z')};
  std::vector<BlockPlace> places;
  for (const std::string& payload : payloads) {
    BlockBuffer buffer = Filled(payload);
    places.push_back(*file->Append(buffer, payload.size()));
  }
  EXPECT_EQ(places[2].pages(), kPageBytes);
  EXPECT_EQ(places[3].pages(), 2 * kPageBytes);
  const uint64_t end = file->end();
  EXPECT_EQ(counts_.bytes_written, end);
  ASSERT_TRUE(file->Sync().has_value());
  file = *BlockFile::Open(fs_, "store/a", 1, end, counts_);
  BlockBuffer buffer;
  for (size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(*file->Read(places[i], buffer), payloads[i]);
  }
  EXPECT_EQ(counts_.bytes_read, end);
}

TEST_F(BlockFileTest, ABlockOfAnotherPlaceOrFileIsCorruption) {
  auto file = *BlockFile::Create(fs_, "store/a", 1, counts_);
  BlockBuffer buffer = Filled("same");
  const BlockPlace first = *file->Append(buffer, 4);
  const BlockPlace second = *file->Append(buffer, 4);
  ASSERT_TRUE(file->ReadPages(first.offset, first.pages(), buffer));
  EXPECT_TRUE(file->CheckBlock(first, buffer.pages()).has_value());
  auto wrong = file->CheckBlock(second, buffer.pages());
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorruption);
  auto other = *BlockFile::Open(fs_, "store/a", 2, file->end(), counts_);
  auto damaged = other->Read(first, buffer);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_NE(damaged.error().message.find("store/a at offset 0"),
            std::string::npos)
      << damaged.error().message;
}

TEST_F(BlockFileTest, AFlippedBitAnywhereInABlockIsCorruption) {
  auto file = *BlockFile::Create(fs_, "store/a", 1, counts_);
  BlockBuffer buffer = Filled("some payload");
  const BlockPlace place = *file->Append(buffer, 12);
  for (uint64_t bit = 0; bit < (kFrameHeaderBytes + 12) * 8; ++bit) {
    ASSERT_TRUE(fs_.FlipBit("store/a", bit / 8, static_cast<int>(bit % 8)));
    EXPECT_FALSE(file->Read(place, buffer).has_value()) << bit;
    ASSERT_TRUE(fs_.FlipBit("store/a", bit / 8, static_cast<int>(bit % 8)));
  }
  EXPECT_TRUE(file->Read(place, buffer).has_value());
}

TEST_F(BlockFileTest, AFileThatEndsTooEarlyIsCorruption) {
  {
    auto file = *BlockFile::Create(fs_, "store/a", 1, counts_);
    BlockBuffer buffer = Filled("x");
    ASSERT_TRUE(file->Append(buffer, 1).has_value());
  }
  auto opened = BlockFile::Open(fs_, "store/a", 1, 2 * kPageBytes, counts_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorruption);
}

}  // namespace
}  // namespace nephila::drum
