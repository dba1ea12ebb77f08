#include "disk_queue/block.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace nephila::disk_queue {
namespace {

std::string Records(int count, std::string_view text) {
  std::string raw;
  for (int i = 0; i < count; ++i) {
    AppendRecord(raw, std::string(text) + std::to_string(i));
  }
  return raw;
}

// The block of a frame; what is wrong with it in place of the records.
Block Unpacked(const std::string& frame, uint64_t salt) {
  ByteReader reader(frame);
  const auto payload = ReadFrame(reader, salt, kMostPayloadBytes);
  Block block;
  if (!payload) return block;
  BlockUnpacker unpacker;
  const auto unpacked = unpacker.Unpack(*payload, block);
  if (!unpacked.has_value()) return {0, 0, std::string(unpacked.error())};
  return block;
}

std::string Framed(std::string_view payload) {
  std::string frame;
  AppendFrame(frame, payload, 5);
  return frame;
}

TEST(QueueBlockTest, ComesBackAsItWasByEveryCodec) {
  const std::string raw = Records(300, "https://example.org/page/");
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    BlockPacker packer(codec);
    const std::string frame = Framed(packer.Pack(77, 300, raw));
    const Block block = Unpacked(frame, 5);
    EXPECT_EQ(block.first, 77U);
    EXPECT_EQ(block.records, 300U);
    EXPECT_EQ(block.raw, raw);
    EXPECT_EQ(frame.size() < raw.size(), codec != Codec::kNone);
  }
}

TEST(QueueBlockTest, KeepsWhatDoesNotShrinkAsItIs) {
  std::string raw;
  AppendRecord(raw, "x");
  BlockPacker packer(Codec::kZstd);
  const std::string frame = Framed(packer.Pack(0, 1, raw));
  EXPECT_EQ(frame.size(), kFrameHeaderBytes + 4 + raw.size());
  EXPECT_EQ(Unpacked(frame, 5).raw, raw);
}

TEST(QueueBlockTest, IsGoodInOnePlaceOnly) {
  BlockPacker packer(Codec::kLz4);
  const std::string frame = Framed(packer.Pack(0, 3, Records(3, "r")));
  EXPECT_EQ(Unpacked(frame, 5).records, 3U);
  EXPECT_EQ(Unpacked(frame, 6).records, 0U);
}

TEST(QueueBlockTest, WalksRecordsOfAnySize) {
  std::string raw;
  AppendRecord(raw, "");
  AppendRecord(raw, std::string(1000, 'a'));
  AppendRecord(raw, std::string_view("\0\n", 2));
  EXPECT_EQ(CountRecords(raw), 3U);
  size_t at = 0;
  EXPECT_EQ(NextRecord(raw, at), "");
  EXPECT_EQ(NextRecord(raw, at).size(), 1000U);
  EXPECT_EQ(NextRecord(raw, at), std::string_view("\0\n", 2));
  EXPECT_EQ(at, raw.size());
}

TEST(QueueBlockTest, RefusesRecordsThatAreCutShort) {
  const std::string raw = Records(3, "record");
  EXPECT_EQ(CountRecords(raw.substr(0, raw.size() - 1)), std::nullopt);
  EXPECT_EQ(CountRecords("\xFF"), std::nullopt);
}

TEST(QueueBlockTest, RefusesHeadsThatMakeNoSense) {
  std::string good;
  ByteWriter writer(good);
  writer.U8(0x10);
  writer.Varint(3);  // first
  writer.Varint(1);  // records
  writer.Varint(2);  // bytes
  std::string record;
  AppendRecord(record, "x");
  EXPECT_EQ(Unpacked(Framed(good + record), 5).records, 1U);
  EXPECT_EQ(Unpacked(Framed(good), 5).raw, "a block that cannot be unpacked");
  EXPECT_EQ(Unpacked(Framed(good + record + "y"), 5).raw,
            "a block that cannot be unpacked");
  EXPECT_EQ(Unpacked(Framed(""), 5).raw, "a block of another version");
  EXPECT_EQ(Unpacked(Framed("\x20"), 5).raw, "a block of another version");
  EXPECT_EQ(Unpacked(Framed("\x13"), 5).raw,
            "a block whose head makes no sense");
  std::string other = good;
  other[2] = 2;  // records
  EXPECT_EQ(Unpacked(Framed(other + record), 5).raw,
            "a block of other records than it says");
  other[2] = 0;
  EXPECT_EQ(Unpacked(Framed(other + record), 5).raw,
            "a block whose head makes no sense");
}

TEST(QueueBlockTest, TakesNoMoreMemoryThanABlockMayHave) {
  std::string payload;
  ByteWriter writer(payload);
  writer.U8(0x12);
  writer.Varint(0);
  writer.Varint(1);
  writer.Varint(kMostRawBytes + 1);
  EXPECT_EQ(Unpacked(Framed(payload), 5).raw,
            "a block whose head makes no sense");
}

}  // namespace
}  // namespace nephila::disk_queue
