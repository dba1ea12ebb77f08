#include "drum/rice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

unsigned BestParameter(const std::vector<uint64_t>& keys) {
  return RiceParameter(keys.back() - keys.front(), keys.size() - 1);
}

// `count` keys as hashes have them: gaps are geometric.
std::vector<uint64_t> RandomKeys(Random& random, size_t count, double mean) {
  std::vector<uint64_t> keys = {random.Below(1000)};
  while (keys.size() < count) {
    const double gap = -std::log1p(-random.Uniform()) * mean;
    keys.push_back(keys.back() + 1 + static_cast<uint64_t>(gap));
  }
  return keys;
}

void ExpectRoundTrip(const std::vector<uint64_t>& keys, unsigned parameter) {
  std::string code;
  RiceEncode(keys, parameter, code);
  uint64_t bits = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    bits += RiceBits(keys[i] - keys[i - 1], parameter);
  }
  EXPECT_LE(code.size() * 8, bits + kRiceExtraBits);
  // Behind the code stands something else, or nothing: both are fine.
  for (const size_t behind : {0U, 1U, 7U, 8U, 100U}) {
    std::vector<uint64_t> decoded(keys.size(), 0);
    decoded[0] = keys[0];
    // Its own memory, so that a sanitizer sees a read past its end.
    std::vector<char> bytes(code.begin(), code.end());
    bytes.resize(code.size() + behind, '\xff');
    const auto used = RiceDecode({bytes.data(), bytes.size()}, decoded);
    ASSERT_TRUE(used.has_value()) << parameter << " " << behind;
    EXPECT_EQ(*used, code.size());
    EXPECT_EQ(decoded, keys);
  }
  for (const size_t missing : {size_t{1}, code.size() / 2, code.size()}) {
    std::vector<uint64_t> decoded(keys.size(), keys[0]);
    std::vector<char> bytes(code.begin(), code.end());
    bytes.resize(code.size() - missing);
    EXPECT_FALSE(RiceDecode({bytes.data(), bytes.size()}, decoded).has_value());
  }
}

TEST(Rice, KeysComeBackForEveryParameter) {
  Random random(1);
  for (unsigned parameter = 0; parameter <= kMaxRiceParameter; ++parameter) {
    const double mean = std::exp2(parameter);
    for (const size_t count : {1U, 2U, 3U, 17U, 100U}) {
      ExpectRoundTrip(RandomKeys(random, count, mean), parameter);
    }
  }
}

TEST(Rice, KeysComeBackFromAParameterThatDoesNotFit) {
  Random random(2);
  for (const unsigned parameter : {0U, 1U, 20U, 55U, 56U}) {
    for (const double mean : {1.0, 1e3, 1e9, 1e17}) {
      ExpectRoundTrip(RandomKeys(random, 90, mean), parameter);
    }
  }
}

TEST(Rice, TheLargestGapsHaveACode) {
  for (unsigned parameter = 0; parameter <= kMaxRiceParameter; ++parameter) {
    ExpectRoundTrip({0, kMax}, parameter);
    ExpectRoundTrip({0, 1, kMax - 1, kMax}, parameter);
    ExpectRoundTrip({5, uint64_t{1} << 63, kMax}, parameter);
    // Both sides of the escape.
    const uint64_t edge = kRiceEscape << parameter;
    ExpectRoundTrip({0, edge, 2 * edge + 1, 3 * edge + 3}, parameter);
  }
}

TEST(Rice, NeighboursTakeOneBit) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 65535; ++i) keys.push_back(kMax - 65534 + i);
  EXPECT_EQ(BestParameter(keys), 0U);
  ExpectRoundTrip(keys, 0);
  std::string code;
  RiceEncode(keys, 0, code);
  EXPECT_EQ(code.size(), 2U + 65534 / 8 + 1);
}

TEST(Rice, RandomKeysCostWhatTheoryAllows) {
  Random random(3);
  for (const double exponent : {1.0, 2.5, 8.0, 20.3, 34.1, 37.42, 44.07}) {
    const double mean = std::exp2(exponent);
    const auto keys = RandomKeys(random, 60000, mean);
    std::string code;
    RiceEncode(keys, BestParameter(keys), code);
    const double bits =
        static_cast<double>(code.size()) * 8 / static_cast<double>(keys.size());
    // Gaps are one more than the mean drawn.
    EXPECT_LT(bits, (std::log2(mean + 1) + 1.5) * 1.01 + 0.04) << exponent;
  }
}

TEST(Rice, NoParameterBeatsTheOneThatIsChosen) {
  Random random(4);
  for (const double mean : {0.1, 0.9, 1.7, 5.0, 700.0, 1e6, 1.5e6, 1e11}) {
    const auto keys = RandomKeys(random, 20000, mean);
    std::string chosen;
    RiceEncode(keys, BestParameter(keys), chosen);
    for (unsigned parameter = 0; parameter <= 50; ++parameter) {
      std::string code;
      RiceEncode(keys, parameter, code);
      EXPECT_LE(static_cast<double>(chosen.size()),
                static_cast<double>(code.size()) * 1.005)
          << mean << " " << parameter;
    }
  }
}

TEST(Rice, TakesAsManyKeysAsFit) {
  Random random(5);
  const auto keys = RandomKeys(random, 5000, 1e10);
  const unsigned parameter = BestParameter(keys);
  for (const uint64_t capacity : {6U, 7U, 100U, 1000U, 20000U}) {
    const size_t fits =
        RiceFit(keys, parameter, capacity * 8, [](size_t) { return 0U; });
    ASSERT_LT(fits, keys.size());
    ASSERT_GT(fits, 0U);
    std::string code;
    RiceEncode(std::span(keys).first(fits), parameter, code);
    EXPECT_LE(code.size(), capacity);
    code.clear();
    RiceEncode(std::span(keys).first(fits + 2), parameter, code);
    EXPECT_GT(code.size() + 8, capacity);
  }
  EXPECT_EQ(RiceFit(keys, parameter, uint64_t{1} << 30,
                    [](size_t n) { return n > 17 ? uint64_t{1} << 40 : 0; }),
            17U);
}

std::string Code(unsigned parameter, const std::vector<uint64_t>& escapes,
                 const std::string& rows) {
  std::string code;
  ByteWriter writer(code);
  writer.U8(static_cast<uint8_t>(parameter));
  writer.Varint(escapes.size());
  for (const uint64_t escape : escapes) writer.U64(escape);
  writer.Raw(rows);
  return code;
}

TEST(Rice, WhatIsNoCodeIsRefused) {
  const auto decode = [](const std::string& code, size_t count,
                         uint64_t first = 0) {
    std::vector<uint64_t> keys(count, first);
    return RiceDecode(code, keys).has_value();
  };
  EXPECT_TRUE(decode(Code(0, {}, "\x03"), 3));
  EXPECT_TRUE(decode(Code(kMaxRiceParameter, {}, ""), 1));
  EXPECT_FALSE(decode("", 1));
  EXPECT_FALSE(decode(Code(kMaxRiceParameter + 1, {}, ""), 1));
  // Fewer quotients than keys; no room for the remainders.
  EXPECT_FALSE(decode(Code(0, {}, "\x03"), 4));
  EXPECT_FALSE(decode(Code(9, {}, "\x03"), 2));
  // Past the largest key.
  EXPECT_TRUE(decode(Code(0, {}, "\x03"), 3, kMax - 2));
  EXPECT_FALSE(decode(Code(0, {}, "\x03"), 3, kMax - 1));
  // A mark and no escape, an escape and no mark, a quotient above the mark.
  const std::string mark("\0\0\0\0\0\x01", 6);
  EXPECT_TRUE(decode(Code(0, {kMax - 1}, mark), 2));
  EXPECT_FALSE(decode(Code(0, {kMax}, mark), 2));
  EXPECT_FALSE(decode(Code(0, {}, mark), 2));
  EXPECT_FALSE(decode(Code(0, {77, 78}, mark), 2));
  EXPECT_FALSE(decode(Code(0, {77}, std::string("\0\0\0\0\0\x02", 6)), 2));
  // An escape that needs none, and one that the shift would cut.
  EXPECT_FALSE(decode(Code(0, {kRiceEscape - 1}, mark), 2));
  EXPECT_TRUE(decode(Code(8, {kMax >> 8}, "a" + mark), 2));
  EXPECT_FALSE(decode(Code(8, {(kMax >> 8) + 1}, "a" + mark), 2));
  // More escapes than there are bytes.
  std::string many = Code(0, {}, "");
  many[1] = '\x7f';
  EXPECT_FALSE(decode(many, 2));
}

TEST(Rice, AnyBytesAreDecodedOrRefused) {
  Random random(6);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random.Below(80), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Next());
    if (bytes.size() > 2 && random.Chance(0.9)) {
      bytes[0] = static_cast<char>(random.Below(kMaxRiceParameter + 1));
      bytes[1] = static_cast<char>(random.Below(3));
    }
    std::vector<uint64_t> keys(1 + random.Below(200), random.Next());
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const auto used = RiceDecode({exact.data(), exact.size()}, keys);
    if (!used.has_value()) continue;
    EXPECT_LE(*used, bytes.size());
    for (size_t i = 1; i < keys.size(); ++i) ASSERT_LT(keys[i - 1], keys[i]);
  }
}

}  // namespace
}  // namespace nephila::drum
