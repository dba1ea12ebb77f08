#include "base/codec.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila {
namespace {

constexpr Codec kAll[] = {Codec::kNone, Codec::kLz4, Codec::kZstd};

std::string Links(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "https://example.org/articles/" + std::to_string(i * 7) + ".html";
  }
  return text;
}

std::string Noise(size_t size) {
  Random random(1);
  std::string noise(size, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next());
  return noise;
}

std::string Compressed(Codec codec, std::string_view in) {
  Compressor compressor;
  std::string out(compressor.Bound(in.size()), '\0');
  auto bytes = compressor.Compress(codec, in, out.data(), out.size());
  EXPECT_TRUE(bytes.has_value()) << CodecName(codec);
  out.resize(*bytes);
  return out;
}

TEST(Codec, NamesGoBothWays) {
  for (Codec codec : kAll) {
    EXPECT_EQ(*ParseCodec(CodecName(codec)), codec);
    EXPECT_EQ(CodecFromByte(static_cast<uint8_t>(codec)), codec);
  }
  EXPECT_EQ(CodecFromByte(3), std::nullopt);
  auto wrong = ParseCodec("gzip");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(wrong.error().message,
            "gzip: no such codec; there are none lz4 zstd");
}

TEST(Codec, WhatGoesInComesOut) {
  Decompressor decompressor;
  for (const std::string& in :
       {std::string(), std::string("a"), Links(1000), Noise(100'000)}) {
    for (Codec codec : kAll) {
      const std::string packed = Compressed(codec, in);
      std::string out(in.size(), '?');
      auto status =
          decompressor.Decompress(codec, packed, out.data(), in.size());
      EXPECT_TRUE(status) << CodecName(codec);
      EXPECT_EQ(out, in) << CodecName(codec);
    }
  }
}

TEST(Codec, LinksShrinkAndZstdShrinksThemMost) {
  const std::string in = Links(5000);
  EXPECT_EQ(Compressed(Codec::kNone, in), in);
  const size_t lz4 = Compressed(Codec::kLz4, in).size();
  EXPECT_LT(lz4, in.size() / 3);
  EXPECT_LT(Compressed(Codec::kZstd, in).size(), lz4);
}

TEST(Codec, RefusesASizeThatIsNotExact) {
  const std::string in = Links(50);
  Decompressor decompressor;
  for (Codec codec : kAll) {
    const std::string packed = Compressed(codec, in);
    for (size_t size : {size_t{0}, in.size() - 1, in.size() + 1}) {
      std::string out(size, '?');
      auto status = decompressor.Decompress(codec, packed, out.data(), size);
      ASSERT_FALSE(status) << CodecName(codec) << ' ' << size;
      EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
    }
  }
}

TEST(Codec, RefusesWhatIsCutShortOrNothing) {
  const std::string in = Links(50);
  Decompressor decompressor;
  std::string out(in.size(), '?');
  for (Codec codec : kAll) {
    const std::string packed = Compressed(codec, in);
    for (size_t size = 0; size < packed.size(); ++size) {
      EXPECT_FALSE(decompressor.Decompress(
          codec, std::string_view(packed).substr(0, size), out.data(),
          out.size()))
          << CodecName(codec) << ' ' << size;
    }
  }
}

TEST(Codec, FlippedBytesNeverWriteOutside) {
  const std::string in = Links(50);
  Decompressor decompressor;
  for (Codec codec : {Codec::kLz4, Codec::kZstd}) {
    const std::string packed = Compressed(codec, in);
    for (size_t i = 0; i < packed.size(); ++i) {
      std::string broken = packed;
      broken[i] = static_cast<char>(~broken[i]);
      std::string out(in.size() + 1, '?');
      IgnoreError(
          decompressor.Decompress(codec, broken, out.data(), in.size()),
          "some flips stay well-formed; the block's checksum is for those");
      EXPECT_EQ(out.back(), '?');
    }
  }
}

TEST(Codec, RefusesTooLittleRoom) {
  const std::string in = Noise(1000);
  Compressor compressor;
  std::string out(in.size() / 2, '\0');
  for (Codec codec : kAll) {
    auto bytes = compressor.Compress(codec, in, out.data(), out.size());
    ASSERT_FALSE(bytes) << CodecName(codec);
    EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Codec, ContextsAreMadeWhenNeededAndCounted) {
  Compressor compressor;
  Decompressor decompressor;
  const size_t before = compressor.memory_bytes();
  EXPECT_LT(before, 100u);
  EXPECT_EQ(decompressor.memory_bytes(), 0u);
  const std::string in = Links(100);
  std::string packed(compressor.Bound(in.size()), '\0');
  const size_t bytes =
      *compressor.Compress(Codec::kZstd, in, packed.data(), packed.size());
  EXPECT_GT(compressor.memory_bytes(), before + 10'000);
  std::string out(in.size(), '\0');
  ASSERT_TRUE(decompressor.Decompress(Codec::kZstd, {packed.data(), bytes},
                                      out.data(), out.size()));
  EXPECT_GT(decompressor.memory_bytes(), 10'000u);
  // They move with their owner.
  Compressor moved = std::move(compressor);
  EXPECT_TRUE(moved.Compress(Codec::kZstd, in, packed.data(), packed.size()));
}

}  // namespace
}  // namespace nephila
