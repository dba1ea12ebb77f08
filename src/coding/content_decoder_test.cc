#include "coding/content_decoder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "coding/coding_testing.h"

namespace nephila::coding {
namespace {

struct Decoded {
  std::string text;
  DecodeState state;
};

Decoded Decode(std::string_view codings, std::string_view bytes, size_t step,
               const DecodeLimits& limits = {}) {
  ContentDecoder decoder(limits);
  decoder.Begin(codings);
  Decoded decoded;
  auto sink = [&](std::string_view piece) { decoded.text += piece; };
  for (size_t at = 0; at < bytes.size(); at += step) {
    decoder.Feed(bytes.substr(at, step), sink);
  }
  decoded.state = decoder.Finish(sink);
  return decoded;
}

std::string Page() {
  std::string page;
  for (int i = 0; i < 20'000; ++i) page += "<p>" + std::to_string(i * 7919);
  return page;
}

TEST(ContentDecoder, UndoesEveryCodingInPiecesOfAnySize) {
  std::string page = Page();
  const std::pair<const char*, std::string> kCases[] = {
      {"gzip", Gzip(page)},
      {"X-GZIP", Gzip(page)},
      {"deflate", Zlib(page)},
      {"deflate", BareDeflate(page)},
      {"deflate", Gzip(page)},
      {"gzip", Zlib(page)},
      {"br", Brotli(page)},
      {"zstd", Zstd(page)},
      {"br, gzip", Gzip(Brotli(page))},
      {"identity", page},
      {"", page},
  };
  for (const auto& [codings, bytes] : kCases) {
    for (size_t step : {size_t{1}, size_t{1000}, bytes.size()}) {
      Decoded decoded = Decode(codings, bytes, step);
      EXPECT_EQ(decoded.state, DecodeState::kWhole) << codings << step;
      EXPECT_TRUE(decoded.text == page) << codings << step;
    }
  }
}

TEST(ContentDecoder, GivesOutWhatWasDecodedBefore) {
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    for (size_t step : {size_t{1}, size_t{4}, size_t{100}}) {
      Decoded decoded = Decode(coding, "<html> it is not coded", step);
      EXPECT_EQ(decoded.text, "<html> it is not coded") << coding << step;
      EXPECT_EQ(decoded.state, DecodeState::kAsItIs) << coding << step;
    }
  }
}

TEST(ContentDecoder, TellsACutPayload) {
  std::string page = Page();
  std::string packed = Gzip(page);
  Decoded decoded = Decode("gzip", packed.substr(0, packed.size() / 2), 1'000);
  EXPECT_EQ(decoded.state, DecodeState::kCut);
  EXPECT_TRUE(page.starts_with(decoded.text));
  EXPECT_FALSE(decoded.text.empty());
  packed[packed.size() - 5] ^= 1;
  EXPECT_EQ(Decode("gzip", packed, 1'000).state, DecodeState::kBroken);
}

TEST(ContentDecoder, LeavesUnknownCodingsOn) {
  Decoded decoded = Decode("gzip, aes", "bytes", 2);
  EXPECT_EQ(decoded.state, DecodeState::kUnknown);
  EXPECT_EQ(decoded.text, "bytes");
  EXPECT_EQ(Decode("gzip,gzip,gzip,gzip,gzip", "x", 1).state,
            DecodeState::kUnknown);
}

TEST(ContentDecoder, TakesNothingForNothing) {
  EXPECT_EQ(Decode("gzip", "", 1).state, DecodeState::kWhole);
}

TEST(ContentDecoder, JoinsMembersAndFrames) {
  for (size_t step : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    Decoded gzip = Decode("gzip", Gzip("one, ") + Gzip("") + Gzip("two"), step);
    EXPECT_EQ(gzip.text, "one, two") << step;
    EXPECT_EQ(gzip.state, DecodeState::kWhole) << step;
    Decoded zstd = Decode("zstd", Zstd("one, ") + Zstd("two"), step);
    EXPECT_EQ(zstd.text, "one, two") << step;
    EXPECT_EQ(zstd.state, DecodeState::kWhole) << step;
  }
  std::string damaged = Gzip("second");
  damaged[damaged.size() - 5] ^= 1;  // of the checksum
  for (size_t step : {size_t{1}, size_t{1000}}) {
    Decoded decoded = Decode("gzip", Gzip("first, ") + damaged, step);
    EXPECT_EQ(decoded.text, "first, second") << step;
    EXPECT_EQ(decoded.state, DecodeState::kBroken) << step;
  }
  std::string half = Gzip("second");
  half.resize(half.size() - 4);
  EXPECT_EQ(Decode("gzip", Gzip("first") + half, 3).state, DecodeState::kCut);
}

TEST(ContentDecoder, LeavesOutWhatStandsBehind) {
  const std::string kTails[] = {std::string(100, '\0'),
                                "\n",
                                "\r\n",
                                "\r\n\n",
                                "\x1f",
                                "\x1f\x8b",
                                "\x1f\x8b...",
                                "\x28\xb5\x2f",
                                "<!-- served by -->"};
  for (const std::string& tail : kTails) {
    for (size_t step : {size_t{1}, size_t{1000}}) {
      for (const auto& [coding, packed] :
           {std::pair("gzip", Gzip("text")), std::pair("deflate", Zlib("text")),
            std::pair("br", Brotli("text")), std::pair("zstd", Zstd("text"))}) {
        Decoded decoded = Decode(coding, packed + tail, step);
        EXPECT_EQ(decoded.text, "text") << coding << tail;
        EXPECT_EQ(decoded.state, DecodeState::kWhole) << coding << tail;
      }
    }
  }
}

TEST(ContentDecoder, ABegunMemberOrFrameIsCut) {
  for (size_t step : {size_t{1}, size_t{1000}}) {
    EXPECT_EQ(Decode("gzip", Gzip("text") + "\x1f\x8b\x08", step).state,
              DecodeState::kCut);
    EXPECT_EQ(Decode("gzip", Gzip("text").substr(0, 2), step).state,
              DecodeState::kAsItIs);
    EXPECT_EQ(Decode("zstd", Zstd("text") + "\x28\xb5\x2f\xfd", step).state,
              DecodeState::kCut);
  }
}

TEST(ContentDecoder, KeepsNoLargeWindows) {
  const std::string packed =
      Brotli(std::string(size_t{16} << 20, 'x'), /*window_bits=*/24);
  ContentDecoder decoder;
  auto sink = [](std::string_view) {};
  // To its end, and left in the middle.
  for (const size_t size : {packed.size(), packed.size() - 1}) {
    decoder.Begin("br");
    decoder.Feed(std::string_view(packed).substr(0, size), sink);
    EXPECT_GT(decoder.memory_bytes(), size_t{8} << 20);
    decoder.Finish(sink);
    EXPECT_LT(decoder.memory_bytes(), size_t{2} << 20);
    EXPECT_GT(decoder.memory_bytes(), 0u);
  }
}

// A frame with a window of 2^(10 + exponent) bytes, and "text" in a block that
// is not compressed (RFC 8878 s3.1.1).
std::string ZstdFrame(int exponent) {
  std::string frame = "\x28\xb5\x2f\xfd";
  frame += '\0';
  frame += static_cast<char>(exponent << 3);
  return frame + std::string("\x21\0\0text", 7);
}

TEST(ContentDecoder, LargeWindowsOfZstdAreNotKept) {
  ContentDecoder decoder;
  std::string text;
  const auto sink = [&](std::string_view piece) { text += piece; };
  constexpr int k2Mib = 11;
  constexpr int k8Mib = 13;
  // The one that is cut off too; and it decodes on with what it has then.
  for (const bool whole : {true, false, true}) {
    const std::string frame = ZstdFrame(k8Mib);
    text.clear();
    decoder.Begin("zstd");
    decoder.Feed(
        std::string_view(frame).substr(0, frame.size() - (whole ? 0 : 1)),
        sink);
    EXPECT_GT(decoder.memory_bytes(), size_t{8} << 20);
    EXPECT_EQ(decoder.Finish(sink),
              whole ? DecodeState::kWhole : DecodeState::kCut);
    EXPECT_EQ(text, whole ? "text" : "tex");
    EXPECT_LT(decoder.memory_bytes(), size_t{1} << 20);
  }
  decoder.Begin("zstd");
  decoder.Feed(ZstdFrame(k2Mib), sink);
  EXPECT_EQ(decoder.Finish(sink), DecodeState::kWhole);
  EXPECT_GT(decoder.memory_bytes(), size_t{2} << 20);
  EXPECT_LE(decoder.memory_bytes(), size_t{3} << 20);
}

TEST(ContentDecoder, StopsAtTheLargestContent) {
  DecodeLimits limits;
  limits.max_bytes = 100'000;
  std::string page = Page().substr(0, 150'000);
  for (const auto& [coding, packed] :
       {std::pair("gzip", Gzip(page)), std::pair("deflate", BareDeflate(page)),
        std::pair("br", Brotli(page)), std::pair("zstd", Zstd(page)),
        std::pair("gzip, br", Brotli(Gzip(page))), std::pair("", page)}) {
    for (size_t step : {size_t{100}, packed.size()}) {
      Decoded decoded = Decode(coding, packed, step, limits);
      EXPECT_EQ(decoded.state, DecodeState::kTooLarge) << coding;
      EXPECT_TRUE(decoded.text == page.substr(0, 100'000)) << coding;
    }
    limits.max_bytes = page.size();
    EXPECT_EQ(Decode(coding, packed, 1000, limits).state, DecodeState::kWhole);
    limits.max_bytes = 100'000;
  }
}

TEST(ContentDecoder, StopsBombsOfEveryCoding) {
  DecodeLimits limits;
  limits.max_ratio = 100;
  const std::string zeros(size_t{16} << 20, '\0');
  for (const auto& [coding, packed] :
       {std::pair("gzip", Gzip(zeros)), std::pair("deflate", Zlib(zeros)),
        std::pair("br", Brotli(zeros)), std::pair("zstd", Zstd(zeros)),
        std::pair("gzip, gzip", Gzip(Gzip(zeros)))}) {
    for (size_t step : {size_t{10}, packed.size()}) {
      Decoded decoded = Decode(coding, packed, step, limits);
      EXPECT_EQ(decoded.state, DecodeState::kBomb) << coding;
      EXPECT_LE(decoded.text.size(),
                std::max<size_t>(100 * packed.size(), size_t{1} << 20) +
                    2 * kDecodedPieceBytes)
          << coding;
    }
  }
  // A MiB of anything is nobody's trouble.
  EXPECT_EQ(
      Decode("br", Brotli(zeros.substr(0, size_t{1} << 20)), 10, limits).state,
      DecodeState::kWhole);
}

TEST(ContentDecoder, BoundsWhatIsBetweenTwoCodings) {
  // 16 MiB that the second coding makes nothing of: stored blocks of no length.
  std::string empty_blocks;
  for (int i = 0; i < 3'300'000; ++i) {
    empty_blocks.append("\0\0\0\xff\xff", 5);
  }
  DecodeLimits limits;
  limits.max_ratio = 100;
  EXPECT_EQ(Decode("deflate, gzip", Gzip(empty_blocks), 1000, limits).state,
            DecodeState::kBomb);
}

TEST(ContentDecoder, SaysWhenNothingMoreWillCome) {
  ContentDecoder decoder;
  auto sink = [](std::string_view) {};
  decoder.Begin("gzip");
  std::string packed = Gzip(Page());
  packed[packed.size() / 2] ^= 0x55;
  packed[packed.size() / 2 + 1] ^= 0x55;
  EXPECT_TRUE(decoder.Feed(packed.substr(0, 1000), sink));
  EXPECT_FALSE(decoder.Feed(packed.substr(1000), sink));
  EXPECT_EQ(decoder.Finish(sink), DecodeState::kBroken);
}

TEST(ContentDecoder, GivesOutNothingUndecodedIfAsked) {
  ContentDecoder decoder;
  std::string text;
  auto sink = [&](std::string_view piece) { text += piece; };
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    decoder.Begin(coding, ContentDecoder::Undecodable::kLeaveOut);
    decoder.Feed("<html> it is not coded", sink);
    EXPECT_EQ(decoder.Finish(sink), DecodeState::kBroken) << coding;
    EXPECT_EQ(text, "") << coding;
  }
}

TEST(ContentDecoder, IsUsedAgainAfterAnyPayload) {
  ContentDecoder decoder;
  std::string text;
  auto sink = [&](std::string_view piece) { text += piece; };
  const std::string page = Page();
  const std::pair<const char*, std::string> kWhole[] = {
      {"gzip", Gzip(page)},
      {"deflate", BareDeflate(page)},
      {"br", Brotli(page)},
      {"zstd", Zstd(page)},
      {"gzip, gzip", Gzip(Gzip(page))}};
  for (const auto& [before, bytes] : kWhole) {
    for (const auto& [coding, packed] : kWhole) {
      decoder.Begin(before);
      decoder.Feed(std::string_view(bytes).substr(0, bytes.size() / 2), sink);
      if (bytes.size() % 2 == 0) decoder.Finish(sink);
      text.clear();
      decoder.Begin(coding);
      decoder.Feed(packed, sink);
      EXPECT_EQ(decoder.content_bytes(), page.size()) << before << coding;
      EXPECT_EQ(decoder.Finish(sink), DecodeState::kWhole) << before << coding;
      EXPECT_TRUE(text == page) << before << coding;
    }
  }
}

// Which bytes zlib takes for whole is what we take for whole, and the content
// is the same: ISA-L is another implementation, and its own.
TEST(ContentDecoder, AgreesWithZlibAboutDamage) {
  const std::string page = Page().substr(0, 3'000);
  const std::string good = Gzip(page);
  for (size_t i = 0; i < good.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = good;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      std::string expected;
      const bool whole = ZlibInflates(damaged, &expected);
      Decoded decoded = Decode("gzip", damaged, damaged.size());
      EXPECT_EQ(decoded.state == DecodeState::kWhole, whole)
          << i << " " << flip;
      if (whole) {
        EXPECT_EQ(decoded.text, expected) << i << " " << flip;
      }
    }
  }
}

// All that a header may have, and each of its bytes damaged.
TEST(ContentDecoder, AgreesWithZlibAboutHeaders) {
  std::string header("\x1f\x8b\x08\x1e\1\2\3\4\0\3", 10);
  header += std::string("\3\0ext", 5);
  header += std::string("name\0comment\0", 13);
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(header.data()),
                          static_cast<uInt>(header.size()));
  header += static_cast<char>(crc);
  header += static_cast<char>(crc >> 8);
  const std::string good = header + Gzip("some text").substr(10);
  for (size_t i = 0; i < header.size(); ++i) {
    for (int flip : {0x00, 0x01, 0x02, 0x08, 0x20, 0x80, 0xff}) {
      std::string damaged = good;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      std::string expected;
      const bool whole = ZlibInflates(damaged, &expected);
      EXPECT_TRUE(flip != 0 || whole);
      for (const size_t step : {size_t{1}, size_t{13}, damaged.size()}) {
        const Decoded decoded = Decode("gzip", damaged, step);
        EXPECT_EQ(decoded.state == DecodeState::kWhole, whole)
            << i << " " << flip << " " << step;
        if (whole) {
          EXPECT_EQ(decoded.text, expected);
        }
      }
    }
  }
}

// Bare deflate: literals 'a', then a match of ten bytes that begins before the
// first of them (RFC 1951 s3.2.6: fixed codes).
std::string MatchFromBefore(int literals) {
  std::string bytes;
  int used = 0;
  auto put = [&](unsigned code, int bits, bool high_first) {
    for (int i = 0; i < bits; ++i) {
      if (used++ % 8 == 0) bytes += '\0';
      const unsigned bit = code >> (high_first ? bits - 1 - i : i) & 1;
      bytes.back() = static_cast<char>(
          static_cast<unsigned char>(bytes.back()) | bit << ((used - 1) % 8));
    }
  };
  put(0b011, 3, false);  // the last block, fixed codes
  for (int i = 0; i < literals; ++i) put(0x30 + 'a', 8, true);
  put(264 - 256, 7, true);  // ten bytes
  put(20, 5, true);         // from 1 025 bytes before, and
  put(0, 9, false);         // none more
  for (int i = 0; i < 40; ++i) put(0x30 + 'b', 8, true);
  put(0, 7, true);
  return bytes;
}

TEST(ContentDecoder, GivesOutNothingOfThePageBefore) {
  const std::string secret(100'000, 'S');
  ContentDecoder decoder;
  std::string text;
  auto sink = [&](std::string_view piece) { text += piece; };
  for (const int literals : {0, 1, 30, 1'000}) {
    const std::string bytes = MatchFromBefore(literals);
    for (const size_t step : {size_t{1}, size_t{7}, bytes.size()}) {
      decoder.Begin("deflate");
      decoder.Feed(BareDeflate(secret), sink);
      decoder.Finish(sink);
      text.clear();
      decoder.Begin("deflate", ContentDecoder::Undecodable::kLeaveOut);
      for (size_t at = 0; at < bytes.size(); at += step) {
        decoder.Feed(std::string_view(bytes).substr(at, step), sink);
      }
      EXPECT_EQ(decoder.Finish(sink), DecodeState::kBroken) << literals;
      EXPECT_EQ(text.find_first_not_of('a'), std::string::npos)
          << literals << " by " << step << ": " << text;
    }
  }
  // What lies within the page is no such thing.
  EXPECT_EQ(Decode("deflate", MatchFromBefore(1'025), 100).text.size(), 1'075u);
}

TEST(ContentDecoder, SkipsFramesThatAreToBeSkipped) {
  const std::string skippable("\x53\x2a\x4d\x18\x03\0\0\0abc", 11);
  std::string bytes = skippable;
  bytes.append(Zstd("text")).append(skippable);
  for (size_t step : {size_t{1}, size_t{1000}}) {
    Decoded decoded = Decode("zstd", bytes, step);
    EXPECT_EQ(decoded.text, "text") << step;
    EXPECT_EQ(decoded.state, DecodeState::kWhole) << step;
  }
}

// A damaged frame in the format of zstd 0.6, which the library would take; it
// then leaves the size of its buffer as that of the output.
TEST(ContentDecoder, GivesOutNothingThatWasNotDecoded) {
  constexpr unsigned char kFrame[] = {
      0x26, 0xb5, 0x2f, 0xfd, 0x04, 0x5a, 0x58, 0x71, 0x01, 0x00,
      0x1f, 0x8b, 0x88, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
      0xb3, 0xc9, 0x28, 0xc9, 0x24, 0xec, 0x01, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xb9, 0x92, 0xbb};
  const std::string frame(reinterpret_cast<const char*>(kFrame),
                          sizeof(kFrame));
  for (size_t step : {size_t{1}, frame.size()}) {
    Decoded decoded = Decode("zstd", frame, step);
    EXPECT_EQ(decoded.state, DecodeState::kAsItIs) << step;
    EXPECT_EQ(decoded.text, frame) << step;
  }
}

TEST(ContentDecoder, TakesItsLimitsFromTheSettings) {
  config::FetchSettings settings;
  settings.max_content_bytes = 5'000;
  settings.max_content_ratio = 50;
  EXPECT_EQ(DecodeLimitsOf(settings).max_bytes, 5'000u);
  EXPECT_EQ(DecodeLimitsOf(settings).max_ratio, 50u);
}

TEST(ContentDecoder, StatesHaveNames) {
  EXPECT_EQ(DecodeStateName(DecodeState::kWhole), "whole");
  EXPECT_EQ(DecodeStateName(DecodeState::kBomb), "bomb");
}

}  // namespace
}  // namespace nephila::coding
