#include "store/warc_record.h"

#include <gtest/gtest.h>

#include "store/header_lines.h"

namespace nephila::store {
namespace {

constexpr std::string_view kText =
    "WARC/1.1\r\n"
    "WARC-Type: response\r\n"
    "warc-record-id: <urn:uuid:1>\r\n"
    "WARC-Target-URI: http://example.com/\r\n"
    "X-Folded: one\r\n"
    "  two\r\n"
    "Content-Type: Application/HTTP; msgtype=response\r\n"
    "Content-Length: 12\r\n"
    "\r\n";

WarcHeader Parsed(std::string_view text) {
  WarcHeader header;
  auto length = ParseWarcHeader(text, kLongestHeader, &header);
  EXPECT_TRUE(length.has_value()) << text;
  return header;
}

HeaderError Refused(std::string_view text, size_t max = kLongestHeader) {
  WarcHeader header;
  auto length = ParseWarcHeader(text, max, &header);
  EXPECT_FALSE(length.has_value()) << text;
  return length ? HeaderError::kIncomplete : length.error();
}

TEST(WarcHeader, ReadsFieldsInOrderAndInAnyCase) {
  WarcHeader header;
  std::string text = std::string(kText) + "the block";
  auto length = ParseWarcHeader(text, kLongestHeader, &header);
  ASSERT_TRUE(length.has_value());
  EXPECT_EQ(*length, kText.size());
  EXPECT_EQ(header.version(), "1.1");
  EXPECT_EQ(header.fields().size(), 6u);
  EXPECT_EQ(header.fields()[1].name, "warc-record-id");
  EXPECT_EQ(header.type(), RecordType::kResponse);
  EXPECT_EQ(header.record_id(), "urn:uuid:1");
  EXPECT_EQ(header.target_uri(), "http://example.com/");
  EXPECT_EQ(header.Get("x-folded"), "one two");
  EXPECT_EQ(header.content_type(), "application/http");
  EXPECT_EQ(header.content_length(), 12u);
  EXPECT_EQ(header.Count("WARC-RECORD-ID"), 1u);
  EXPECT_EQ(header.Find("WARC-Date"), nullptr);
}

TEST(WarcHeader, IsIncompleteUntilItsEmptyLineIsThere) {
  for (size_t size = 0; size < kText.size(); ++size) {
    EXPECT_EQ(Refused(kText.substr(0, size)), HeaderError::kIncomplete) << size;
  }
}

TEST(WarcHeader, TakesLinesThatEndWithLineFeedAlone) {
  WarcHeader header = Parsed("WARC/0.18\nWARC-Type: warcinfo\n\nrest");
  EXPECT_EQ(header.version(), "0.18");
  EXPECT_EQ(header.type(), RecordType::kWarcinfo);
}

TEST(WarcHeader, RefusesWhatDoesNotBeginWithAVersion) {
  for (std::string_view text :
       {"X", "WARX", "WARC/\r\n", "WARC/1\r\n\r\n", "WARC/1.x\r\n\r\n",
        "WARC/1.0\r\r\n\r\r\n", "WARC/1.00000000000000000000000000000000000",
        "\r\nWARC/1.0\r\n\r\n", "warc/1.0\r\n\r\n"}) {
    EXPECT_EQ(Refused(text), HeaderError::kNoVersion) << text;
  }
}

TEST(WarcHeader, HasABoundOnBytesAndFields) {
  EXPECT_EQ(Refused(kText, kText.size() - 1), HeaderError::kTooLong);
  EXPECT_EQ(Refused(kText.substr(0, 60), 60), HeaderError::kTooLong);
  std::string many = "WARC/1.1\r\n";
  for (size_t i = 0; i < kMostFields; ++i) many += "a: b\r\n";
  EXPECT_EQ(Parsed(many + "\r\n").fields().size(), kMostFields);
  EXPECT_EQ(Refused(many + "a: b\r\n\r\n"), HeaderError::kTooManyFields);
}

TEST(WarcHeader, CountsLinesThatAreNoFields) {
  WarcHeader header =
      Parsed("WARC/1.0\r\n folded\r\nno colon\r\nbad name: x\r\nok: y\r\n\r\n");
  EXPECT_EQ(header.malformed_lines(), 3u);
  ASSERT_EQ(header.fields().size(), 1u);
  EXPECT_EQ(header.Get("OK"), "y");
}

TEST(WarcHeader, WritesWhatItReads) {
  WarcHeader header;
  header.Reset("1.1");
  header.Add("WARC-Type", "response");
  header.Add("WARC-Target-URI", "http://example.com/");
  header.Add("Content-Length", "0");
  std::string text;
  header.AppendTo(text);
  EXPECT_EQ(text,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: "
            "http://example.com/\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Parsed(text).fields(), header.fields());
}

TEST(WarcHeader, KeepsAValueFromBecomingAnotherField) {
  WarcHeader header;
  header.Reset("1.1");
  header.Add("WARC-Target-URI",
             "http://a/\r\nContent-Length: 5\r\n\r\nx\0y\x7f");
  std::string text;
  header.AppendTo(text);
  EXPECT_EQ(Parsed(text).fields().size(), 1u);
}

TEST(WarcHeader, ReadsOnlyWholeNumbersAsLength) {
  auto length = [](std::string_view value) {
    return Parsed("WARC/1.0\nContent-Length: " + std::string(value) + "\n\n")
        .content_length();
  };
  EXPECT_EQ(length("007"), 7u);
  EXPECT_EQ(length("18446744073709551615"), UINT64_MAX);
  for (std::string_view bad :
       {"", "-1", "+1", "1x", "0x10", "1 2", "18446744073709551616"}) {
    EXPECT_EQ(length(bad), std::nullopt) << bad;
  }
}

TEST(WarcHeader, StripsBracketsOfUrisOnly) {
  WarcHeader header =
      Parsed("WARC/1.0\nWARC-Target-URI: <http://a/>\nb: <\n\n");
  EXPECT_EQ(header.target_uri(), "http://a/");
  EXPECT_EQ(header.Get("WARC-Target-URI"), "<http://a/>");
  EXPECT_EQ(header.GetUri("b"), "<");
}

TEST(RecordType, NamesAndBack) {
  for (int i = 0; i < 8; ++i) {
    auto type = static_cast<RecordType>(i);
    EXPECT_EQ(RecordTypeOf(RecordTypeName(type)), type);
  }
  EXPECT_EQ(RecordTypeOf("x-own"), RecordType::kOther);
  EXPECT_EQ(RecordTypeOf("other"), RecordType::kOther);
}

TEST(Timestamp, IsTheDateInFourteenDigits) {
  EXPECT_EQ(TimestampOf("2014-01-03T03:03:21Z"), "20140103030321");
  EXPECT_EQ(TimestampOf("2014-01-03T03:03:21.123456789Z"), "20140103030321");
  EXPECT_EQ(TimestampOf("2014-01-03T03:03Z"), "20140103030300");
  EXPECT_EQ(TimestampOf("2014-12-31"), "20141231000000");
  EXPECT_EQ(TimestampOf("2014-12"), "20141201000000");
  EXPECT_EQ(TimestampOf("2014"), "20140101000000");
}

TEST(Timestamp, RefusesWhatIsNoDate) {
  for (std::string_view bad :
       {"", "Z", "201", "2014-1-3", "2014-13-01", "2014-01-32", "2014-01-00",
        "2008-10-294T05:21:46-0700", "2014-01-03T03:03:21.Z",
        "2014-01-03T03:03:21+01:00", "2014-01-03 03:03:21Z",
        "2014-01-03T24:00:00Z", "2014-01-03T03:03:21ZZ"}) {
    EXPECT_EQ(TimestampOf(bad), std::nullopt) << bad;
  }
}

TEST(HeaderLines, FindsTheEndOfATextThatGrows) {
  for (std::string_view text : {"a\r\nb\r\n\r\nc", "a\nb\n\nc", "a\r\n\nc"}) {
    size_t whole = FindHeaderEnd(text, 0);
    ASSERT_NE(whole, std::string_view::npos);
    EXPECT_EQ(text.substr(whole), "c");
    for (size_t size = 1; size <= text.size(); ++size) {
      size_t end = FindHeaderEnd(text.substr(0, size), size - 1);
      if (size < whole) {
        EXPECT_EQ(end, std::string_view::npos);
      } else if (size == whole) {
        EXPECT_EQ(end, whole);
      }
    }
  }
}

}  // namespace
}  // namespace nephila::store
