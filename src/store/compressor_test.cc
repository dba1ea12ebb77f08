#include "store/compressor.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "store/store_testing.h"

namespace nephila::store {
namespace {

constexpr CompressorKind kKinds[] = {
    CompressorKind::kIsal, CompressorKind::kLibdeflate, CompressorKind::kZlib,
    CompressorKind::kZstd};

std::string Unpack(CompressorKind kind, std::string_view packed) {
  return kind == CompressorKind::kZstd ? Unzstd(packed) : Gunzip(packed);
}

std::string Text(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) {
    text += "<li class=\"item\"><a href=\"/page/" +
            std::to_string(i * i % 997) + "\">some words</a></li>\n";
  }
  text.resize(size);
  return text;
}

// One member of `text` in pieces of `piece` bytes.
std::string Pack(Compressor& compressor, std::string_view text, size_t piece,
                 Effort effort = Effort::kCompress) {
  std::string out;
  compressor.Begin(text.size(), &out);
  for (size_t i = 0; i < text.size(); i += piece) {
    compressor.Add(text.substr(i, piece), effort);
  }
  compressor.End();
  return out;
}

TEST(CompressorTest, EveryLevelGivesBackWhatWentIn) {
  for (const CompressorKind kind : kKinds) {
    for (int level = LowestLevel(kind); level <= HighestLevel(kind); ++level) {
      const auto compressor = MakeCompressor(kind, level);
      for (const size_t size : {0, 1, 100, 21000, 300000}) {
        const std::string text = Text(size);
        EXPECT_EQ(Unpack(kind, Pack(*compressor, text, 1 << 20)), text)
            << static_cast<int>(kind) << " " << level << " " << size;
      }
    }
  }
}

TEST(CompressorTest, PiecesMakeNoDifferenceToWhatIsRead) {
  const std::string text = Text(5000);
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    for (const size_t piece : {1, 7, 1000}) {
      EXPECT_EQ(Unpack(kind, Pack(*compressor, text, piece)), text);
    }
  }
}

TEST(CompressorTest, TextShrinks) {
  const std::string text = Text(21000);
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    EXPECT_LT(Pack(*compressor, text, text.size()).size(), text.size() / 4);
  }
}

TEST(CompressorTest, EqualInputGivesEqualMembersWhateverWentBefore) {
  const std::string text = Text(30000);
  for (const CompressorKind kind : kKinds) {
    const auto fresh = MakeCompressor(kind, DefaultLevel(kind));
    const auto used = MakeCompressor(kind, DefaultLevel(kind));
    Pack(*used, Noise(100000, 1), 999);
    // Begun and left: the writer does this when the disk is full.
    std::string lost;
    used->Begin(1000, &lost);
    used->Add(Text(500), Effort::kCompress);
    EXPECT_EQ(Pack(*fresh, text, 4096), Pack(*used, text, 4096));
  }
}

TEST(CompressorTest, MembersStandOneBehindTheOther) {
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    std::string all;
    for (const size_t size : {10, 70000, 3}) {
      all += Pack(*compressor, Text(size), 1000);
    }
    EXPECT_EQ(Unpack(kind, all), Text(10) + Text(70000) + Text(3));
  }
}

TEST(CompressorTest, TheCallerMayTakeWhatIsThereBeforeTheEnd) {
  const std::string text = Text(500000);
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    std::string out;
    std::string taken;
    compressor->Begin(text.size(), &out);
    for (size_t i = 0; i < text.size(); i += 1000) {
      compressor->Add(std::string_view(text).substr(i, 1000),
                      Effort::kCompress);
      taken += out;
      out.clear();
    }
    compressor->End();
    EXPECT_EQ(Unpack(kind, taken + out), text);
  }
}

TEST(CompressorTest, StoredBytesCostNoMoreThanTheirFrames) {
  const std::string noise = Noise(200000, 7);
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    const std::string packed =
        Pack(*compressor, noise, noise.size(), Effort::kStore);
    EXPECT_EQ(Unpack(kind, packed), noise);
    EXPECT_LT(packed.size(), noise.size() + 100);
  }
}

TEST(CompressorTest, AHeadIsCompressedBeforeABodyThatIsStored) {
  const std::string head = Text(3000);
  const std::string noise = Noise(100000, 7);
  for (const CompressorKind kind : kKinds) {
    const auto compressor = MakeCompressor(kind, DefaultLevel(kind));
    std::string packed;
    compressor->Begin(head.size() + noise.size() + 4, &packed);
    compressor->Add(head, Effort::kCompress);
    compressor->Add(noise, Effort::kStore);
    // Stored too: there is no way back within a member.
    compressor->Add("\r\n\r\n", Effort::kCompress);
    compressor->End();
    EXPECT_EQ(Unpack(kind, packed), head + noise + "\r\n\r\n");
    // libdeflate cannot, and stores all.
    if (kind != CompressorKind::kLibdeflate) {
      EXPECT_LT(packed.size(), noise.size() + head.size() / 3);
    }
  }
}

TEST(CompressorTest, MembersCarryNoTimeAndNoName) {
  const auto compressor = MakeCompressor(CompressorKind::kIsal, 1);
  const std::string packed = Pack(*compressor, "x", 1);
  EXPECT_EQ(packed.substr(0, 10),
            std::string_view("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10));
}

}  // namespace
}  // namespace nephila::store
