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
    ASSERT_TRUE(
        fs_.FlipBit("store/a", bit / 8, static_cast<unsigned>(bit % 8)));
    EXPECT_FALSE(file->Read(place, buffer).has_value()) << bit;
    ASSERT_TRUE(
        fs_.FlipBit("store/a", bit / 8, static_cast<unsigned>(bit % 8)));
  }
  EXPECT_TRUE(file->Read(place, buffer).has_value());
}

TEST_F(BlockFileTest, SeveralBlocksAreAppendedInOneGo) {
  auto file = *BlockFile::Create(fs_, "store/a", 1, counts_);
  const std::vector<uint32_t> sizes = {5, 4085, 0, 4084};
  BlockBuffer buffer(6 * kPageBytes);
  // What was in it before must not get into the padding.
  std::memset(buffer.pages().data(), 'x', buffer.pages().size());
  ASSERT_EQ(*file->AppendMany(buffer, {}), 0U);
  ASSERT_EQ(*file->AppendMany(buffer, sizes), 0U);
  ASSERT_EQ(*file->AppendMany(buffer, sizes), 5 * kPageBytes);
  EXPECT_EQ(file->end(), 10 * kPageBytes);
  EXPECT_EQ(counts_.bytes_written, 10 * kPageBytes);
  ASSERT_TRUE(file->ReadPages(0, 10 * kPageBytes, buffer).has_value());
  uint64_t offset = 0;
  for (const uint32_t size : {5U, 4085U, 0U, 4084U, 5U, 4085U, 0U, 4084U}) {
    const BlockPlace place{offset, size};
    const auto pages = buffer.pages().subspan(offset, place.pages());
    const std::string payload(size, 'x');
    EXPECT_EQ(*file->CheckBlock(place, pages), payload);
    EXPECT_EQ(*file->CheckPages(offset, pages), payload);
    const auto padding = pages.subspan(kFrameHeaderBytes + size);
    EXPECT_TRUE(std::all_of(padding.begin(), padding.end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    // Other pages than the block has are not its own.
    EXPECT_FALSE(file->CheckPages(offset + kPageBytes, pages).has_value());
    if (offset + 3 * kPageBytes <= file->end()) {
      const auto more = buffer.pages().subspan(offset, 3 * kPageBytes);
      EXPECT_FALSE(file->CheckPages(offset, more).has_value());
    }
    offset = place.end();
  }
  EXPECT_EQ(offset, file->end());
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
