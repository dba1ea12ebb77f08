#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/random.h"

namespace nephila {
namespace {

using std::string_literals::operator""s;

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

std::string Varint(uint64_t value) {
  std::string bytes;
  ByteWriter(bytes).Varint(value);
  return bytes;
}

ReadError VarintError(const std::string& bytes) {
  ByteReader reader(bytes);
  const auto value = reader.Varint();
  EXPECT_FALSE(value.has_value());
  EXPECT_EQ(reader.position(), 0u);
  return value.error();
}

TEST(ByteWriter, WritesLittleEndianAfterWhatIsThere) {
  std::string out = "x";
  ByteWriter writer(out);
  writer.U8(0x01);
  writer.U16(0x0302);
  writer.U32(0x07060504);
  writer.U64(0x0F0E0D0C0B0A0908);
  writer.Sized("ab");
  writer.Raw("c");
  EXPECT_EQ(out,
            "x\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F"
            "\x02"
            "abc");
}

TEST(ByteReader, ReadsBackWhatWasWritten) {
  std::string out;
  ByteWriter writer(out);
  writer.U8(0xFF);
  writer.U16(0xFFFE);
  writer.U32(0xFFFFFFFD);
  writer.U64(kMax - 3);
  writer.Varint(300);
  writer.Sized("");
  writer.Sized("bytes\0more"s);
  ByteReader reader(out);
  EXPECT_EQ(*reader.U8(), 0xFF);
  EXPECT_EQ(*reader.U16(), 0xFFFE);
  EXPECT_EQ(*reader.U32(), 0xFFFFFFFD);
  EXPECT_EQ(*reader.U64(), kMax - 3);
  EXPECT_EQ(*reader.Varint(), 300u);
  EXPECT_EQ(*reader.Sized(), "");
  EXPECT_EQ(reader.remaining(), 11u);
  EXPECT_EQ(*reader.Sized(), "bytes\0more"s);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(reader.position(), out.size());
}

TEST(ByteReader, StaysWhereItWasWhenBytesAreMissing) {
  const std::string bytes =
      "\x05"
      "abc";
  ByteReader reader(bytes);
  EXPECT_EQ(reader.U64().error(), ReadError::kTruncated);
  EXPECT_EQ(reader.Sized().error(), ReadError::kTruncated);
  EXPECT_EQ(reader.Raw(5).error(), ReadError::kTruncated);
  EXPECT_EQ(reader.Raw(kMax).error(), ReadError::kTruncated);
  EXPECT_EQ(reader.position(), 0u);
  EXPECT_EQ(*reader.Raw(4), bytes);
  EXPECT_EQ(reader.U8().error(), ReadError::kTruncated);
  EXPECT_EQ(reader.Varint().error(), ReadError::kTruncated);
}

TEST(ByteReader, ReadsWhatAFileReturns) {
  const std::byte bytes[] = {std::byte{0x34}, std::byte{0x12}};
  EXPECT_EQ(*ByteReader(std::span(bytes)).U16(), 0x1234);
}

TEST(ByteReader, BelievesNoHugeSize) {
  const std::string bytes = Varint(kMax) + "abc";
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Sized().error(), ReadError::kTruncated);
  EXPECT_EQ(reader.position(), 0u);
}

TEST(ByteReader, ReadsVarintsAtEveryWidth) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t delta : {uint64_t{0}, uint64_t{1}}) {
      const uint64_t value = (uint64_t{1} << bit) - delta;
      const std::string bytes = Varint(value);
      ByteReader reader(bytes);
      ASSERT_EQ(*reader.Varint(), value);
      ASSERT_TRUE(reader.AtEnd());
    }
  }
  EXPECT_EQ(Varint(kMax).size(), 10u);
  const std::string bytes = Varint(kMax);
  EXPECT_EQ(*ByteReader(bytes).Varint(), kMax);
}

TEST(ByteReader, RefusesVarintsThatAreCutTooLongOrTooLarge) {
  EXPECT_EQ(VarintError(""), ReadError::kTruncated);
  EXPECT_EQ(VarintError("\x80"), ReadError::kTruncated);
  EXPECT_EQ(VarintError(std::string(9, '\x80')), ReadError::kTruncated);
  EXPECT_EQ(VarintError(std::string(10, '\x80')), ReadError::kOverlong);
  EXPECT_EQ(VarintError(std::string(11, '\x80') + "\x01"),
            ReadError::kOverlong);
  EXPECT_EQ(VarintError(std::string(9, '\xFF') + "\x02"), ReadError::kOverlong);
  EXPECT_EQ(VarintError("\x80\0"s), ReadError::kOverlong);
  EXPECT_EQ(VarintError("\xFF\x80\0"s), ReadError::kOverlong);
}

TEST(ByteReader, NeverReadsOutsideRandomBytes) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    // On the heap and exactly as long as needed: asan watches both ends.
    std::vector<char> bytes(random.Below(24));
    for (char& c : bytes) c = static_cast<char>(random.Next());
    ByteReader reader({bytes.data(), bytes.size()});
    for (int step = 0; step < 30; ++step) {
      const size_t before = reader.position();
      bool ok = false;
      switch (random.Below(6)) {
        case 0:
          ok = reader.U8().has_value();
          break;
        case 1:
          ok = reader.U16().has_value();
          break;
        case 2:
          ok = reader.U64().has_value();
          break;
        case 3:
          ok = reader.Varint().has_value();
          break;
        case 4:
          ok = reader.Sized().has_value();
          break;
        default:
          ok = ReadFrame(reader, random.Next(), 1000).has_value();
          break;
      }
      ASSERT_LE(reader.position(), bytes.size());
      ASSERT_EQ(reader.position() > before, ok);
    }
  }
}

constexpr uint32_t kMaxPayload = 40;

// What a store would give: its generation, and where the frame begins.
uint64_t Salt(uint64_t generation, uint64_t offset) {
  return generation << 40 | offset;
}

class FrameTest : public testing::Test {
 protected:
  FrameTest() {
    Random random(2);
    for (const size_t size : {0u, 1u, 7u, 40u, 3u}) {
      std::string& payload = payloads_.emplace_back(size, '\0');
      for (char& c : payload) c = static_cast<char>(random.Next());
      ends_.push_back(ends_.back() + kFrameHeaderBytes + size);
      AppendFrame(bytes_, payload, Salt(1, bytes_.size()));
    }
  }

  // Reads to the first error; every payload before it must be the right one.
  // Returns how many there were.
  size_t ReadAll(std::string_view bytes, FrameError* error) {
    ByteReader reader(bytes);
    for (size_t count = 0;; ++count) {
      const auto payload =
          ReadFrame(reader, Salt(1, reader.position()), kMaxPayload);
      if (!payload.has_value()) {
        EXPECT_EQ(reader.position(), ends_[count]);
        *error = payload.error();
        return count;
      }
      if (count >= payloads_.size() || *payload != payloads_[count]) {
        ADD_FAILURE() << "wrong payload " << count;
        return count;
      }
    }
  }

  // The frame that byte `offset` belongs to.
  size_t FrameOf(size_t offset) const {
    size_t frame = 0;
    while (ends_[frame + 1] <= offset) ++frame;
    return frame;
  }

  std::vector<std::string> payloads_;
  std::vector<size_t> ends_ = {0};
  std::string bytes_;
  FrameError error_ = FrameError::kEnd;
};

TEST_F(FrameTest, ReadsBackEveryPayload) {
  EXPECT_EQ(ReadAll(bytes_, &error_), payloads_.size());
  EXPECT_EQ(error_, FrameError::kEnd);
}

TEST_F(FrameTest, IsSpelledAsDocumented) {
  std::string expected;
  ByteWriter writer(expected);
  writer.U32(9);
  const uint32_t head = Crc32c("\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0"s);
  writer.U32(head);
  writer.U32(ExtendCrc32c(head, "123456789"));
  writer.Raw("123456789");
  std::string out;
  AppendFrame(out, "123456789", 0x0102030405060708);
  EXPECT_EQ(out, expected);
}

TEST_F(FrameTest, TellsATornTailAtEveryLength) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    const std::string cut = bytes_.substr(0, size);
    const size_t frame = FrameOf(size);
    ASSERT_EQ(ReadAll(cut, &error_), frame) << size;
    ASSERT_EQ(error_,
              size == ends_[frame] ? FrameError::kEnd : FrameError::kTruncated)
        << size;
  }
}

TEST_F(FrameTest, NeverReturnsWrongDataWhicheverBitIsFlipped) {
  for (size_t bit = 0; bit < 8 * bytes_.size(); ++bit) {
    std::string broken = bytes_;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
    const size_t frame = FrameOf(bit / 8);
    ASSERT_EQ(ReadAll(broken, &error_), frame) << bit;
    ASSERT_EQ(error_, FrameError::kCorrupt) << bit;
  }
}

TEST_F(FrameTest, TakesNoStaleFrameForTheNextOne) {
  // A region is used again: new frames over its beginning, whole frames of the
  // generation before behind them, at the very places where the next would be.
  std::string reused;
  for (const std::string& payload : payloads_) {
    AppendFrame(reused, payload, Salt(2, reused.size()));
  }
  for (size_t frames = 0; frames < payloads_.size(); ++frames) {
    const std::string region =
        bytes_.substr(0, ends_[frames]) + reused.substr(ends_[frames]);
    EXPECT_EQ(ReadAll(region, &error_), frames);
    EXPECT_EQ(error_, FrameError::kCorrupt) << frames;
  }
}

TEST_F(FrameTest, TakesNoFrameOfAnotherPlace) {
  // The second frame is lost and the others have moved up.
  EXPECT_EQ(
      ReadAll(bytes_.substr(0, ends_[1]) + bytes_.substr(ends_[2]), &error_),
      1u);
  EXPECT_EQ(error_, FrameError::kCorrupt);
}

TEST_F(FrameTest, TakesNoPayloadOfAnotherFrame) {
  std::string first;
  std::string second;
  AppendFrame(first, "same", 1);
  AppendFrame(second, "same", 2);
  // The payload's check depends on the header too.
  const std::string mixed = first.substr(0, 8) + second.substr(8);
  ByteReader reader(mixed);
  EXPECT_EQ(ReadFrame(reader, 1, 4).error(), FrameError::kCorrupt);
}

TEST_F(FrameTest, SealingInPlaceMakesTheSameFrame) {
  std::string appended;
  AppendFrame(appended, "123456789", 7);
  std::string sealed = std::string(kFrameHeaderBytes, 'x') + "123456789";
  SealFrame(sealed.data(), 9, 7);
  EXPECT_EQ(sealed, appended);
}

TEST_F(FrameTest, RefusesMoreThanTheReaderAllows) {
  std::string out;
  AppendFrame(out, "12345", 7);
  ByteReader reader(out);
  EXPECT_EQ(ReadFrame(reader, 7, 4).error(), FrameError::kCorrupt);
  EXPECT_EQ(reader.position(), 0u);
  // Also where the payload is not there to be measured.
  const std::string cut = out.substr(0, kFrameHeaderBytes);
  ByteReader short_reader(cut);
  EXPECT_EQ(ReadFrame(short_reader, 7, 4).error(), FrameError::kCorrupt);
  EXPECT_EQ(ReadFrame(short_reader, 7, 5).error(), FrameError::kTruncated);
  EXPECT_EQ(*ReadFrame(reader, 7, 5), "12345");
}

TEST_F(FrameTest, TakesZerosForNoFrame) {
  EXPECT_EQ(ReadAll(bytes_ + std::string(100, '\0'), &error_),
            payloads_.size());
  EXPECT_EQ(error_, FrameError::kCorrupt);
}

TEST_F(FrameTest, TakesZerosForNoFrameWhateverTheSalt) {
  // The CRC of this salt and a length of 0 is 0.
  constexpr uint64_t kSaltOfZero = 0x69047360;
  std::string bytes;
  ByteWriter(bytes).U64(kSaltOfZero);
  ByteWriter(bytes).U32(0);
  ASSERT_EQ(Crc32c(bytes), 0u);
  const std::string zeros(100, '\0');
  ByteReader reader(zeros);
  EXPECT_EQ(ReadFrame(reader, kSaltOfZero, 9).error(), FrameError::kCorrupt);
  std::string out;
  AppendFrame(out, "", kSaltOfZero);
  ByteReader back(out);
  EXPECT_EQ(*ReadFrame(back, kSaltOfZero, 9), "");
}

}  // namespace
}  // namespace nephila
