#include "drum/aux_block.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/real_file_system.h"
#include "base/source_path_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

constexpr Codec kAll[] = {Codec::kNone, Codec::kLz4, Codec::kZstd};
constexpr uint32_t kMaxRaw = 64u << 20;

using Records = std::vector<std::pair<uint32_t, std::string>>;

AuxBlockBuilder Built(const Records& records, bool log_buckets) {
  AuxBlockBuilder builder(log_buckets);
  for (const auto& [bucket, aux] : records) builder.Add(bucket, aux);
  return builder;
}

std::string Encoded(const AuxBlockBuilder& builder, Codec codec) {
  Compressor compressor;
  BlockBuffer buffer;
  const size_t bytes = builder.Encode(codec, compressor, buffer);
  return {buffer.payload(), bytes};
}

Result<Records> Decoded(std::string_view payload, bool has_buckets,
                        uint32_t max_raw_bytes = kMaxRaw) {
  Decompressor decompressor;
  AuxBlockReader reader;
  // No bucket in the block: then the reader leaves this as it is.
  uint32_t bucket = 0;
  std::string_view aux;
  auto status = reader.Open(payload, has_buckets, decompressor, max_raw_bytes);
  if (!status) {
    EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
    EXPECT_EQ(reader.records(), 0u);
    EXPECT_FALSE(reader.Next(&bucket, &aux));
    return Unexpected(status.error());
  }
  Records records;
  while (reader.Next(&bucket, &aux)) records.emplace_back(bucket, aux);
  EXPECT_EQ(records.size(), reader.records());
  return records;
}

Records Links(size_t count) {
  Records records;
  for (size_t i = 0; i < count; ++i) {
    records.emplace_back(i * 977 % kMaxLoggedBuckets,
                         "https://example.org/a/" + std::to_string(i * 31));
  }
  return records;
}

Records WithoutBuckets(Records records) {
  for (auto& record : records) record.first = 0;
  return records;
}

// Empty, binary, at the edges of a varint, and long.
Records Mixed() {
  Random random(7);
  Records records = {{0, ""}, {65535, std::string("\0\xFF\x80\n", 4)}, {1, ""}};
  for (size_t size : {127u, 128u, 16383u, 16384u, 1u << 20, 1u}) {
    std::string aux(size, '\0');
    for (char& c : aux) c = static_cast<char>(random.Below(4) * 77);
    records.emplace_back(static_cast<uint32_t>(size % 65536), aux);
  }
  records.emplace_back(2, "");
  return records;
}

TEST(AuxBlock, GivesBackWhatWasAddedInOrder) {
  for (const Records& records : {Records(), Links(1), Links(3000), Mixed()}) {
    for (Codec codec : kAll) {
      EXPECT_EQ(*Decoded(Encoded(Built(records, true), codec), true), records);
      EXPECT_EQ(*Decoded(Encoded(Built(records, false), codec), false),
                WithoutBuckets(records));
    }
  }
}

TEST(AuxBlock, CountsWhatItHoldsAndForgetsIt) {
  AuxBlockBuilder builder(true);
  EXPECT_TRUE(builder.empty());
  builder.Add(5, "abc");
  builder.Add(6, std::string(200, 'x'));
  EXPECT_EQ(builder.records(), 2u);
  EXPECT_EQ(builder.raw_bytes(), (1u + 3 + 2) + (2 + 200 + 2));
  const size_t memory = builder.memory_bytes();
  builder.Clear();
  EXPECT_EQ(builder.records(), 0u);
  EXPECT_EQ(builder.raw_bytes(), 0u);
  EXPECT_EQ(builder.memory_bytes(), memory);
  builder.Add(7, "d");
  EXPECT_EQ(*Decoded(Encoded(builder, Codec::kZstd), true),
            (Records{{7, "d"}}));
}

TEST(AuxBlock, HasTheBytesThatTheFormatSays) {
  const Records records = {{0x0102, "ab"}, {3, ""}};
  EXPECT_EQ(Encoded(Built(records, true), Codec::kNone), std::string("\0\2\2\2"
                                                                     "\2\1\3\0"
                                                                     "\2\0ab",
                                                                     12));
  EXPECT_EQ(Encoded(Built(records, false), Codec::kNone), std::string("\0\2\2\2"
                                                                      "\2\0ab",
                                                                      8));
}

TEST(AuxBlock, CompressesOnlyWhatShrinks) {
  EXPECT_EQ(Encoded(Built(Links(3000), false), Codec::kLz4)[0], 1);
  EXPECT_EQ(Encoded(Built(Links(3000), false), Codec::kZstd)[0], 2);
  const AuxBlockBuilder tiny = Built({{0, "q"}}, false);
  for (Codec codec : kAll) {
    EXPECT_EQ(Encoded(tiny, codec), Encoded(tiny, Codec::kNone));
  }
}

TEST(AuxBlock, OnlyRecordsWithANewlineNeedLengths) {
  Records records = Links(500);
  const size_t lines = Encoded(Built(records, false), Codec::kZstd).size();
  records[100].second += '\n';
  const std::string with_lengths = Encoded(Built(records, false), Codec::kZstd);
  EXPECT_LT(lines, with_lengths.size());
  EXPECT_EQ(*Decoded(with_lengths, false), WithoutBuckets(records));
}

TEST(AuxBlock, AReaderIsReused) {
  Decompressor decompressor;
  AuxBlockReader reader;
  uint32_t bucket;
  std::string_view aux;
  for (size_t count : {3000u, 10u, 5000u}) {
    const std::string payload =
        Encoded(Built(Links(count), true), Codec::kZstd);
    ASSERT_TRUE(reader.Open(payload, true, decompressor, kMaxRaw));
    ASSERT_EQ(reader.records(), count);
    for (const auto& record : Links(count)) {
      ASSERT_TRUE(reader.Next(&bucket, &aux));
      EXPECT_EQ(bucket, record.first);
      EXPECT_EQ(aux, record.second);
    }
    EXPECT_FALSE(reader.Next(&bucket, &aux));
  }
}

TEST(AuxBlock, RefusesMoreThanTheMostRawBytes) {
  const AuxBlockBuilder builder = Built(Links(100), true);
  const auto raw = static_cast<uint32_t>(builder.raw_bytes());
  for (Codec codec : kAll) {
    const std::string payload = Encoded(builder, codec);
    EXPECT_TRUE(Decoded(payload, true, raw));
    EXPECT_FALSE(Decoded(payload, true, raw - 1));
  }
}

TEST(AuxBlock, RefusesEveryCutAndEveryByteTooMany) {
  for (Codec codec : kAll) {
    const std::string payload = Encoded(Built(Links(60), true), codec);
    for (size_t size = 0; size < payload.size(); ++size) {
      EXPECT_FALSE(Decoded(payload.substr(0, size), true)) << size;
    }
    EXPECT_FALSE(Decoded(payload + '\0', true));
    EXPECT_FALSE(Decoded(payload, false));
  }
}

TEST(AuxBlock, FlippedBytesGiveWholeRecordsOrNone) {
  for (Codec codec : kAll) {
    const std::string payload = Encoded(Built(Links(60), true), codec);
    for (size_t i = 0; i < payload.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string broken = payload;
        broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
        // Under the sanitizers this also looks for reads outside.
        auto records = Decoded(broken, true);
        if (records) {
          EXPECT_LE(records->size(), payload.size() * 300);
        }
      }
    }
  }
}

std::string Plain(uint64_t records, uint64_t lengths, uint64_t text,
                  std::string_view body) {
  std::string payload;
  ByteWriter writer(payload);
  writer.U8(0);
  writer.Varint(records);
  writer.Varint(lengths);
  writer.Varint(text);
  writer.Raw(body);
  return payload;
}

TEST(AuxBlock, RefusesSizesThatContradictEachOther) {
  constexpr uint64_t kHuge = ~uint64_t{0};
  EXPECT_TRUE(Decoded(Plain(1, 1, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(1, 1, 2, "\1ab"), false));
  EXPECT_FALSE(Decoded(Plain(1, 1, 2, "\3ab"), false));
  EXPECT_FALSE(Decoded(Plain(0, 1, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(2, 1, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(2, 2, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(kHuge, 1, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(kHuge, 1, 2, "\2ab"), true));
  EXPECT_FALSE(Decoded(Plain(1, kHuge, 2, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(1, 1, kHuge, "\2ab"), false));
  EXPECT_FALSE(Decoded(Plain(1, kHuge, kHuge, "\2ab"), true));
  // Lengths: cut in a varint, overlong, and above 32 bits.
  EXPECT_FALSE(Decoded(Plain(1, 1, 2,
                             "\x82"
                             "ab"),
                       false));
  EXPECT_FALSE(Decoded(Plain(1, 2, 2, std::string("\x82\0ab", 4)), false));
  EXPECT_FALSE(Decoded(Plain(1, 6, 2, "\x82\x80\x80\x80\x80\1ab"), false));
  EXPECT_FALSE(Decoded(Plain(1, 5, 2,
                             "\x82\x80\x80\x80\x10"
                             "ab"),
                       false));
  // Lines: the last without its end, one too many, one too few.
  EXPECT_TRUE(Decoded(Plain(2, 0, 3, "a\n\n"), false));
  EXPECT_FALSE(Decoded(Plain(2, 0, 4, "a\n\nb"), false));
  EXPECT_FALSE(Decoded(Plain(1, 0, 3, "a\n\n"), false));
  EXPECT_FALSE(Decoded(Plain(3, 0, 3, "a\n\n"), false));
  EXPECT_FALSE(Decoded(Plain(0, 0, 3, "a\n\n"), false));
  EXPECT_TRUE(Decoded(Plain(0, 0, 0, ""), false));
  // No such codec.
  EXPECT_FALSE(Decoded(std::string("\3\0\0\0", 4), false));
}

TEST(AuxBlock, SpilledRecordsComeBackFromAnyPlace) {
  for (bool log_buckets : {false, true}) {
    const Records records = Mixed();
    const AuxBlockBuilder builder = Built(records, log_buckets);
    for (size_t first = 0; first <= records.size(); ++first) {
      std::string spilled = "before";
      builder.AppendRecordsFrom(first, spilled);
      spilled += "behind";
      AuxBlockBuilder again = Built(
          {records.begin(), records.begin() + static_cast<ptrdiff_t>(first)},
          log_buckets);
      ByteReader reader(std::string_view(spilled).substr(6));
      ASSERT_TRUE(again.AddSpilled(reader));
      EXPECT_EQ(*reader.Raw(reader.remaining()), "behind");
      EXPECT_EQ(again.records(), builder.records());
      EXPECT_EQ(Encoded(again, Codec::kNone), Encoded(builder, Codec::kNone));
    }
  }
}

TEST(AuxBlock, BrokenSpillsAddNothing) {
  std::string spilled;
  Built(Links(20), true).AppendRecordsFrom(0, spilled);
  AuxBlockBuilder builder = Built(Links(3), true);
  const std::string before = Encoded(builder, Codec::kNone);
  for (size_t size = 0; size < spilled.size(); ++size) {
    ByteReader reader(std::string_view(spilled).substr(0, size));
    auto status = builder.AddSpilled(reader);
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  }
  // Compressed is not what a spill is.
  const std::string packed = Encoded(Built(Links(20), true), Codec::kZstd);
  ByteReader reader(packed);
  EXPECT_FALSE(builder.AddSpilled(reader));
  EXPECT_EQ(Encoded(builder, Codec::kNone), before);
}

// The seeds of drum_aux_fuzz: its byte of flags (bit 0: has buckets), then a
// payload. NEPHILA_MAKE_SEEDS=1 writes them, else they have to open: blocks
// that were once written must be read by every later build.
TEST(AuxBlock, TheSeedsOfTheFuzzerOpen) {
  Records records = Links(12);
  records.emplace_back(9, "");
  records.emplace_back(9, std::string(200, 'l'));
  auto real = MakeRealFileSystem();
  FileSystem& fs = *real;
  for (Codec codec : kAll) {
    for (bool log_buckets : {false, true}) {
      const std::string path = SourcePath("testdata/fuzz/drum_aux_fuzz/") +
                               std::string(CodecName(codec)) +
                               (log_buckets ? "_buckets" : "");
      if (std::getenv("NEPHILA_MAKE_SEEDS") != nullptr) {
        ASSERT_TRUE(
            PublishFile(fs, path,
                        std::string(1, log_buckets ? '\1' : '\0') +
                            Encoded(Built(records, log_buckets), codec)));
      }
      const std::string seed = *ReadWholeFile(fs, path, 1 << 20);
      EXPECT_EQ(seed[0], log_buckets ? 1 : 0) << path;
      EXPECT_EQ(seed[1], static_cast<char>(codec)) << path;
      EXPECT_EQ(*Decoded(std::string_view(seed).substr(1), log_buckets),
                log_buckets ? records : WithoutBuckets(records))
          << path;
    }
  }
}

}  // namespace
}  // namespace nephila::drum
