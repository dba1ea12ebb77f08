#include "base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "base/random.h"

namespace nephila {
namespace {

using std::chrono::nanoseconds;
using std::string_literals::operator""s;

std::string SizeError(std::string_view text) {
  const Result<uint64_t> size = ParseSize(text);
  if (size.has_value()) return "no error";
  EXPECT_EQ(size.error().code, ErrorCode::kInvalidArgument);
  return size.error().message;
}

std::string DurationError(std::string_view text) {
  const Result<nanoseconds> duration = ParseDuration(text);
  if (duration.has_value()) return "no error";
  EXPECT_EQ(duration.error().code, ErrorCode::kInvalidArgument);
  return duration.error().message;
}

int64_t Duration(std::string_view text) {
  const Result<nanoseconds> duration = ParseDuration(text);
  if (!duration.has_value()) ADD_FAILURE() << duration.error().message;
  return duration.has_value() ? duration->count() : -1;
}

TEST(EscapeForTerminal, LeavesReadableTextAlone) {
  EXPECT_EQ(EscapeForTerminal(""), "");
  EXPECT_EQ(EscapeForTerminal("http://a.org/?q=1 ~"), "http://a.org/?q=1 ~");
  const std::string utf8 = "M\xC3\xBCnchen \xE2\x82\xAC \xF0\x9F\x95\xB7";
  EXPECT_EQ(EscapeForTerminal(utf8), utf8);
}

TEST(EscapeForTerminal, EscapesWhatSteersATerminal) {
  EXPECT_EQ(EscapeForTerminal("a\nb\r\tc\0d"s), "a\\x0Ab\\x0D\\x09c\\x00d");
  EXPECT_EQ(EscapeForTerminal("\x1B[2J\x7F"), "\\x1B[2J\\x7F");
  // C1's CSI, a right-to-left override, a line separator.
  EXPECT_EQ(EscapeForTerminal("\xC2\x9B"), "\\xC2\\x9B");
  EXPECT_EQ(EscapeForTerminal("\xE2\x80\xAE"), "\\xE2\\x80\\xAE");
  EXPECT_EQ(EscapeForTerminal("\xE2\x80\xA8"), "\\xE2\\x80\\xA8");
}

TEST(EscapeForTerminal, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(EscapeForTerminal("\x80"), "\\x80");
  EXPECT_EQ(EscapeForTerminal("\xC3"), "\\xC3");
  EXPECT_EQ(EscapeForTerminal("\xC3("), "\\xC3(");
  EXPECT_EQ(EscapeForTerminal("\xC0\x8A"), "\\xC0\\x8A");
  EXPECT_EQ(EscapeForTerminal("\xE0\x80\x8A"), "\\xE0\\x80\\x8A");
  EXPECT_EQ(EscapeForTerminal("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(EscapeForTerminal("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  EXPECT_EQ(EscapeForTerminal("\xF0\x80\x80\x8A"), "\\xF0\\x80\\x80\\x8A");
  EXPECT_EQ(EscapeForTerminal("\xFE\xFF"), "\\xFE\\xFF");
}

TEST(EscapeForTerminal, DoesNothingTheSecondTime) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random.Below(12), '\0');
    for (char& c : text) c = static_cast<char>(random.Next());
    const std::string once = EscapeForTerminal(text);
    ASSERT_EQ(EscapeForTerminal(once), once);
    for (const char c : once) {
      ASSERT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == '\x7F');
    }
  }
}

TEST(ParseSize, ReadsEveryUnit) {
  EXPECT_EQ(*ParseSize("0"), 0u);
  EXPECT_EQ(*ParseSize("4096"), 4096u);
  EXPECT_EQ(*ParseSize("7B"), 7u);
  EXPECT_EQ(*ParseSize("2kB"), 2'000u);
  EXPECT_EQ(*ParseSize("2KB"), 2'000u);
  EXPECT_EQ(*ParseSize("2MB"), 2'000'000u);
  EXPECT_EQ(*ParseSize("2GB"), 2'000'000'000u);
  EXPECT_EQ(*ParseSize("2TB"), 2'000'000'000'000u);
  EXPECT_EQ(*ParseSize("2KiB"), 2048u);
  EXPECT_EQ(*ParseSize("2MiB"), 2u << 20);
  EXPECT_EQ(*ParseSize("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseSize("2TiB"), uint64_t{2} << 40);
  EXPECT_EQ(*ParseSize("2K"), 2048u);
  EXPECT_EQ(*ParseSize("2k"), 2048u);
  EXPECT_EQ(*ParseSize("2M"), 2u << 20);
  EXPECT_EQ(*ParseSize("2G"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseSize("2T"), uint64_t{2} << 40);
  EXPECT_EQ(*ParseSize(" 2 mib "), 2u << 20);
}

TEST(ParseSize, ReadsFractions) {
  EXPECT_EQ(*ParseSize("1.5GiB"), uint64_t{3} << 29);
  EXPECT_EQ(*ParseSize("0.1GiB"), 107'374'182u);
  EXPECT_EQ(*ParseSize("1.0"), 1u);
  EXPECT_EQ(*ParseSize("0.0GB"), 0u);
  EXPECT_EQ(*ParseSize("0.999999999999999999TiB"), 1'099'511'627'775u);
}

TEST(ParseSize, SaysWhatIsWrong) {
  EXPECT_EQ(SizeError("2XB"),
            "size \"2XB\": unknown unit; use B, kB, MB, GB, TB, KiB, MiB, GiB "
            "or TiB");
  for (const char* text :
       {"", " ", "MiB", "-1", "+1", ".5K", "1.", "1.K", "0x10", "1e3", "2MiB3",
        "1 2", "2MiBs", "1,5K", "1.0000000000000000000K"}) {
    EXPECT_NE(SizeError(text), "no error") << text;
  }
  EXPECT_EQ(SizeError("1.5"),
            "size \"1.5\": not whole bytes; did you forget the unit?");
  EXPECT_EQ(SizeError("0.0001K"), "size \"0.0001K\": less than one byte");
  EXPECT_EQ(SizeError("\x1B"),
            "size \"\\x1B\": not a number; write a size like 2MiB");
}

TEST(ParseSize, KnowsItsLimit) {
  EXPECT_EQ(*ParseSize("18446744073709551615"),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(*ParseSize("16777215TiB"), uint64_t{16777215} << 40);
  for (const std::string& text :
       {"18446744073709551616"s, "16777216TiB"s, "16777215.99999999999999TiB1"s,
        std::string(50, '9'), std::string(500, '9') + "T"}) {
    EXPECT_NE(SizeError(text), "no error") << text;
  }
  EXPECT_NE(SizeError(std::string(50, '9')).find("too large"),
            std::string::npos);
}

TEST(FormatSize, PicksTheShortestExactForm) {
  EXPECT_EQ(FormatSize(0), "0B");
  EXPECT_EQ(FormatSize(999), "999B");
  EXPECT_EQ(FormatSize(1000), "1kB");
  EXPECT_EQ(FormatSize(1024), "1KiB");
  EXPECT_EQ(FormatSize(1536), "1536B");
  EXPECT_EQ(FormatSize(3u << 19), "1.5MiB");
  EXPECT_EQ(FormatSize(4096), "4KiB");
  EXPECT_EQ(FormatSize(uint64_t{3} << 29), "1.5GiB");
  EXPECT_EQ(FormatSize(1'000'000), "1MB");
  EXPECT_EQ(FormatSize(1'234'567), "1234567B");
  EXPECT_EQ(FormatSize(uint64_t{64} << 40), "64TiB");
}

TEST(FormatSize, CanBeReadBack) {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    uint64_t bytes = random.Next() >> random.Below(64);
    if (random.Chance(0.5)) bytes = bytes << random.Below(30);
    const std::string text = FormatSize(bytes);
    ASSERT_EQ(*ParseSize(text), bytes) << text;
  }
}

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(Duration("7ns"), 7);
  EXPECT_EQ(Duration("7us"), 7'000);
  EXPECT_EQ(Duration("7ms"), 7'000'000);
  EXPECT_EQ(Duration("10s"), 10'000'000'000);
  EXPECT_EQ(Duration("2m"), 120'000'000'000);
  EXPECT_EQ(Duration("2min"), 120'000'000'000);
  EXPECT_EQ(Duration("1h"), 3'600'000'000'000);
  EXPECT_EQ(Duration("1d"), 86'400'000'000'000);
  EXPECT_EQ(Duration("0s"), 0);
}

TEST(ParseDuration, ReadsCompoundsFractionsAndSigns) {
  EXPECT_EQ(Duration("1h30m"), 5'400'000'000'000);
  EXPECT_EQ(Duration(" 1 h 30 min "), 5'400'000'000'000);
  EXPECT_EQ(Duration("1.5s"), 1'500'000'000);
  EXPECT_EQ(Duration("0.1d"), 8'640'000'000'000);
  EXPECT_EQ(Duration("1s0.5ms"), 1'000'500'000);
  EXPECT_EQ(Duration("-1m30s"), -90'000'000'000);
}

TEST(ParseDuration, SaysWhatIsWrong) {
  EXPECT_EQ(DurationError("10"),
            "duration \"10\": the unit is missing; use d, h, m, s, ms, us or "
            "ns");
  EXPECT_EQ(DurationError("1h30"),
            "duration \"1h30\": the unit is missing; use d, h, m, s, ms, us or "
            "ns");
  EXPECT_EQ(DurationError("3w"),
            "duration \"3w\": unknown unit; use d, h, m, s, ms, us or ns");
  EXPECT_EQ(DurationError("30m1h"),
            "duration \"30m1h\": each unit once, the larger before the "
            "smaller");
  EXPECT_EQ(DurationError("0.5ns"),
            "duration \"0.5ns\": finer than a nanosecond");
  for (const char* text : {"", "-", "s", "--1s", "1.s", ".5s", "1s1s", "1m1min",
                           "1h-30m", "1s,", "1S", "inf"}) {
    EXPECT_NE(DurationError(text), "no error") << text;
  }
}

TEST(ParseDuration, KnowsItsLimit) {
  EXPECT_EQ(Duration("9223372036854775807ns"),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Duration("-9223372036854775808ns"),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(DurationError("9223372036854775808ns"),
            "duration \"9223372036854775808ns\": too long; the limit is 292 "
            "years");
  EXPECT_NE(DurationError("-9223372036854775809ns"), "no error");
  EXPECT_NE(DurationError(std::string(300, '9') + "d"), "no error");
}

TEST(FormatDuration, PicksTheShortestExactForm) {
  EXPECT_EQ(FormatDuration(nanoseconds(0)), "0s");
  EXPECT_EQ(FormatDuration(nanoseconds(999)), "999ns");
  EXPECT_EQ(FormatDuration(nanoseconds(1'500)), "1.5us");
  EXPECT_EQ(FormatDuration(nanoseconds(1'500'000)), "1.5ms");
  EXPECT_EQ(FormatDuration(nanoseconds(1'000'001)), "1.000001ms");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(40)), "40s");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(90)), "1m30s");
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(60'500)), "1m0.5s");
  EXPECT_EQ(FormatDuration(std::chrono::minutes(90)), "1h30m");
  EXPECT_EQ(FormatDuration(std::chrono::hours(24 * 365)), "365d");
  EXPECT_EQ(FormatDuration(-std::chrono::seconds(90)), "-1m30s");
}

TEST(FormatDuration, CanBeReadBack) {
  Random random(3);
  for (int round = 0; round < 5000; ++round) {
    const auto ns = static_cast<int64_t>(random.Next()) >> random.Below(64);
    const std::string text = FormatDuration(nanoseconds(ns));
    ASSERT_EQ(Duration(text), ns) << text;
  }
  const auto least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Duration(FormatDuration(nanoseconds(least))), least);
}

TEST(HumanDuration, IsRoundedForPeople) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  EXPECT_EQ(HumanDuration(nanoseconds(0)), "0 s");
  EXPECT_EQ(HumanDuration(nanoseconds(999)), "999 ns");
  EXPECT_EQ(HumanDuration(nanoseconds(1'234)), "1.2 us");
  EXPECT_EQ(HumanDuration(nanoseconds(999'949)), "999.9 us");
  EXPECT_EQ(HumanDuration(nanoseconds(999'950)), "1.0 ms");
  EXPECT_EQ(HumanDuration(nanoseconds(999'950'000)), "1.0 s");
  EXPECT_EQ(HumanDuration(milliseconds(12'345)), "12.3 s");
  EXPECT_EQ(HumanDuration(milliseconds(59'949)), "59.9 s");
  EXPECT_EQ(HumanDuration(milliseconds(59'950)), "1m 0s");
  EXPECT_EQ(HumanDuration(seconds(245)), "4m 5s");
  EXPECT_EQ(HumanDuration(milliseconds(3'599'499)), "59m 59s");
  EXPECT_EQ(HumanDuration(milliseconds(3'599'500)), "1h 0m");
  EXPECT_EQ(HumanDuration(seconds(86'369)), "23h 59m");
  EXPECT_EQ(HumanDuration(seconds(86'370)), "1d 0h");
  EXPECT_EQ(HumanDuration(std::chrono::hours(12 * 24 + 7)), "12d 7h");
  EXPECT_EQ(HumanDuration(-milliseconds(1500)), "-1.5 s");
  EXPECT_EQ(HumanDuration(nanoseconds::max()), "106752d 0h");
  EXPECT_EQ(HumanDuration(nanoseconds::min()), "-106752d 0h");
}

TEST(HumanSize, IsRoundedForPeople) {
  EXPECT_EQ(HumanSize(0), "0 B");
  EXPECT_EQ(HumanSize(1023), "1023 B");
  EXPECT_EQ(HumanSize(1024), "1.0 KiB");
  EXPECT_EQ(HumanSize(1'234'567), "1.2 MiB");
  EXPECT_EQ(HumanSize((1u << 20) - 52), "1023.9 KiB");
  EXPECT_EQ(HumanSize((1u << 20) - 51), "1.0 MiB");
  EXPECT_EQ(HumanSize(uint64_t{5} << 49), "2.5 PiB");
  EXPECT_EQ(HumanSize(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(IsUtf8, RefusesWhatNoEncoderWrites) {
  for (const char* text :
       {"", "a", "\x7F", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << EscapeForTerminal(text);
    EXPECT_TRUE(IsUtf8("a"s + text + "b")) << EscapeForTerminal(text);
  }
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2(", "\xE0\x9F\xBF",
        "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF0\x90\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(text)) << EscapeForTerminal(text);
    EXPECT_FALSE(IsUtf8("a"s + text + "b")) << EscapeForTerminal(text);
  }
  EXPECT_TRUE(IsUtf8("\0"s));
}

TEST(LowerAscii, ChangesOnlyLetters) {
  EXPECT_EQ(LowerAscii("AZaz@[`{\xC3\x84 09_"), "azaz@[`{\xC3\x84 09_");
}

TEST(ReadSize, GivesOnlyTheReason) {
  EXPECT_EQ(*ReadSize("2KiB"), 2048u);
  EXPECT_EQ(ReadSize("-1").error(), "a size is never negative");
  EXPECT_EQ(ReadSize("lots").error(), "not a number; write a size like 2MiB");
}

TEST(ReadDuration, GivesOnlyTheReason) {
  EXPECT_EQ(*ReadDuration("10s"), std::chrono::seconds(10));
  EXPECT_EQ(ReadDuration("10").error(),
            "the unit is missing; use d, h, m, s, ms, us or ns");
}

TEST(EditDistance, CountsTheChanges) {
  EXPECT_EQ(EditDistance("", "", 5), 0u);
  EXPECT_EQ(EditDistance("abc", "abc", 0), 0u);
  EXPECT_EQ(EditDistance("", "abc", 5), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(EditDistance("sitting", "kitten", 3), 3u);
  EXPECT_EQ(EditDistance("ab", "ba", 5), 2u);
}

TEST(EditDistance, StopsAtItsLimit) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(EditDistance("abc", "xyz", 1), 2u);
  EXPECT_EQ(EditDistance("a", "abcdefghij", 2), 3u);
  EXPECT_EQ(EditDistance("abc", "abd", 0), 1u);
}

TEST(NearestName, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 4> kNames = {
      "politeness.host_delay", "politeness.server_delay", "memory", "disk"};
  EXPECT_EQ(NearestName("politeness.hots_delay", kNames),
            "politeness.host_delay");
  EXPECT_EQ(NearestName("politness.server_delay", kNames),
            "politeness.server_delay");
  EXPECT_EQ(NearestName("memori", kNames), "memory");
  EXPECT_EQ(NearestName("disc", kNames), "disk");
  EXPECT_EQ(NearestName("disk", kNames), "disk");
  EXPECT_EQ(NearestName("DISK", kNames), "disk");
  EXPECT_EQ(NearestName("Politeness.Hots_Delay", kNames),
            "politeness.host_delay");
  EXPECT_EQ(NearestName("dns.servers", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName("disk", {}), "");
}

}  // namespace
}  // namespace nephila
