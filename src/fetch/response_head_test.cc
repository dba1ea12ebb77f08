#include "fetch/response_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::fetch {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr WallTime kNow{seconds(1'767'225'600)};  // 2026-01-01

// Feeds all of it, in one piece and byte by byte; returns what was not taken.
std::string Feed(std::string_view bytes, ResponseHead* head) {
  ResponseHead slow;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string_view one = bytes.substr(i, 1);
    if (slow.Add(&one) != HeadState::kMore) break;
  }
  std::string_view rest = bytes;
  head->Add(&rest);
  EXPECT_EQ(slow.state(), head->state()) << bytes;
  EXPECT_EQ(slow.text(), head->text()) << bytes;
  EXPECT_EQ(slow.fields().size(), head->fields().size()) << bytes;
  return std::string(rest);
}

TEST(ResponseHead, ReadsStatusAndFields) {
  ResponseHead head;
  EXPECT_EQ(Feed("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n"
                 "Content-Length:  12 \r\nLink: a\r\nlink: b\r\n\r\nbody",
                 &head),
            "body");
  EXPECT_EQ(head.state(), HeadState::kComplete);
  EXPECT_EQ(head.status(), 404);
  EXPECT_EQ(head.version(), "1.1");
  EXPECT_EQ(head.reason(), "Not Found");
  EXPECT_EQ(head.fields().size(), 4u);
  EXPECT_EQ(head.content_type(), "text/html");
  EXPECT_EQ(head.content_length(), 12u);
  EXPECT_EQ(head.Get("LINK"), "a");
  EXPECT_EQ(head.Combined("Link"), "a, b");
  EXPECT_TRUE(head.Has("link"));
  EXPECT_FALSE(head.Has("Location"));
  EXPECT_EQ(head.location(), "");
  EXPECT_FALSE(head.chunked());
  EXPECT_TRUE(head.text().ends_with("link: b\r\n\r\n"));
  std::vector<std::string_view> links;
  head.ForEach("Link", [&](std::string_view value) { links.push_back(value); });
  EXPECT_EQ(links, (std::vector<std::string_view>{"a", "b"}));
}

TEST(ResponseHead, ReadsHttp2AsItIsPrinted) {
  ResponseHead head;
  Feed("HTTP/2 200 \r\netag: \"x\"\r\nlast-modified: y\r\n\r\n", &head);
  EXPECT_EQ(head.version(), "2");
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.reason(), "");
  EXPECT_EQ(head.etag(), "\"x\"");
  EXPECT_EQ(head.last_modified(), "y");
}

TEST(ResponseHead, PassesOverEarlierHeads) {
  ResponseHead head;
  Feed(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n"
      "\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
      &head);
  EXPECT_EQ(head.state(), HeadState::kComplete);
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.earlier_heads(), 2u);
  EXPECT_EQ(head.text(), "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
  EXPECT_FALSE(head.Has("Link"));
}

TEST(ResponseHead, IsAsTolerantAsBrowsers) {
  ResponseHead head;
  EXPECT_EQ(Feed("\r\n\nhttp/1.0  302\nLocation : /x\nno field\n: none\n"
                 "b@d: 1\nFolded: one\n two\n\tthree\nEmpty:\n more\n\nrest",
                 &head),
            "rest");
  EXPECT_EQ(head.status(), 302);
  EXPECT_EQ(head.version(), "1.0");
  EXPECT_EQ(head.location(), "/x");
  EXPECT_EQ(head.malformed_lines(), 3u);
  EXPECT_EQ(head.Get("Folded"), "one two three");
  EXPECT_EQ(head.Get("Empty"), "more");
  EXPECT_TRUE(head.text().starts_with("http/1.0"));
}

TEST(ResponseHead, AFoldWithoutAFieldIsJunk) {
  ResponseHead head;
  Feed("HTTP/1.1 200 OK\r\n x: y\r\njunk\r\n more junk\r\n\r\n", &head);
  EXPECT_EQ(head.malformed_lines(), 3u);
  EXPECT_TRUE(head.fields().empty());
}

TEST(ResponseHead, TellsWhatIsNoHttp) {
  for (std::string_view text :
       {"<html>\n", "HTTP\n", "HTTP/ 200 OK\n", "HTTP/1.1\n", "HTTP/1.1 20\n",
        "HTTP/1.1 2000\n", "HTTP/1.1 099 x\n", "HTTP/1.1 abc\n",
        "HTTP/1.1.1.1 200 OK\n", "ICY 200 OK\n"}) {
    ResponseHead head;
    Feed(text, &head);
    EXPECT_EQ(head.state(), HeadState::kNotHttp) << text;
  }
}

TEST(ResponseHead, ReadsAHeadThatWasCut) {
  ResponseHead head;
  EXPECT_EQ(Feed("HTTP/1.1 200 OK\r\nA: b\r\nC: d", &head), "");
  EXPECT_EQ(head.state(), HeadState::kMore);
  EXPECT_EQ(head.Finish(), HeadState::kComplete);
  EXPECT_EQ(head.Get("C"), "d");
  head.Clear();
  EXPECT_EQ(Feed("HTTP/1.1 200", &head), "");
  EXPECT_EQ(head.Finish(), HeadState::kMore);
}

TEST(ResponseHead, HasABoundInBytes) {
  HeadLimits limits;
  limits.max_bytes = 100;
  ResponseHead head(limits);
  const std::string start = "HTTP/1.1 200 OK\r\nA: ";
  std::string fits = start + std::string(100 - start.size() - 4, 'x');
  fits += "\r\n\r\n";
  std::string_view bytes = fits;
  EXPECT_EQ(head.Add(&bytes), HeadState::kComplete);
  for (const std::string& text :
       {"HTTP/1.1 200 OK\r\nA: " + std::string(100, 'x'),
        std::string(200, '\n'),
        std::string("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n"
                    "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n"
                    "HTTP/1.1 100 Go on\r\n\r\n")}) {
    head.Clear();
    bytes = text;
    EXPECT_EQ(head.Add(&bytes), HeadState::kTooLong) << text;
    EXPECT_LE(head.text().size(), 100u);
  }
}

TEST(ResponseHead, HasABoundInFields) {
  HeadLimits limits;
  limits.max_fields = 3;
  ResponseHead head(limits);
  std::string_view bytes = "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n";
  EXPECT_EQ(head.Add(&bytes), HeadState::kComplete);
  for (std::string_view text :
       {"HTTP/1.1 200 OK\r\nA: 1\r\njunk\r\nC: 3\r\nD: 4\r\n\r\n",
        "HTTP/1.1 100 Go\r\nA: 1\r\nB: 2\r\n\r\nHTTP/1.1 200 OK\r\nC: "
        "3\r\n\r\n"}) {
    head.Clear();
    bytes = text;
    EXPECT_EQ(head.Add(&bytes), HeadState::kTooManyFields) << text;
  }
}

TEST(ResponseHead, CountsALineThatIsCutOff) {
  HeadLimits limits;
  limits.max_fields = 2;
  const std::string two = "HTTP/1.1 200 OK\nA: b\nC: d\n";
  for (const auto& [text, state] :
       {std::pair(two, HeadState::kComplete),
        std::pair(two.substr(0, two.size() - 1), HeadState::kComplete),
        std::pair(two + "E", HeadState::kTooManyFields)}) {
    ResponseHead head(limits);
    std::string_view bytes = text;
    EXPECT_EQ(head.Add(&bytes), HeadState::kMore) << text;
    EXPECT_EQ(head.Finish(), state) << text;
  }
}

TEST(ResponseHead, TakesItsBoundsFromTheSettings) {
  config::FetchSettings settings;
  settings.max_head_bytes = 2'000;
  settings.max_head_fields = 7;
  EXPECT_EQ(HeadLimitsOf(settings).max_bytes, 2'000u);
  EXPECT_EQ(HeadLimitsOf(settings).max_fields, 7u);
}

TEST(ResponseHead, IsUsedAgain) {
  ResponseHead head;
  Feed("HTTP/1.1 200 OK\r\nA: b\r\nFold: a\r\n b\r\njunk\r\n\r\n", &head);
  head.Clear();
  Feed("HTTP/1.1 204 None\r\n\r\n", &head);
  EXPECT_EQ(head.status(), 204);
  EXPECT_TRUE(head.fields().empty());
  EXPECT_EQ(head.malformed_lines(), 0u);
  EXPECT_EQ(head.earlier_heads(), 0u);
}

std::optional<uint64_t> Length(const std::string& fields) {
  ResponseHead head;
  Feed("HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n", &head);
  return head.content_length();
}

TEST(ResponseHead, ContentLengthIsOneNumberOrNone) {
  EXPECT_EQ(Length("A: b"), std::nullopt);
  EXPECT_EQ(Length("Content-Length: 0"), 0u);
  EXPECT_EQ(Length("Content-Length: 5\r\ncontent-length: 5"), 5u);
  EXPECT_EQ(Length("Content-Length: 5, 5"), 5u);
  EXPECT_EQ(Length("Content-Length: 5\r\nContent-Length: 6"), std::nullopt);
  EXPECT_EQ(Length("Content-Length: 5\r\nContent-Length: x"), std::nullopt);
  EXPECT_EQ(Length("Content-Length: x\r\nContent-Length: 5"), std::nullopt);
  for (const char* value :
       {"", "-1", "+1", "1 2", "0x10", "1.0", "18446744073709551616", "5,"}) {
    EXPECT_EQ(Length(std::string("Content-Length: ") + value), std::nullopt)
        << value;
  }
}

TEST(ResponseHead, ChunkedIsTheLastTransferCoding) {
  auto chunked = [](const std::string& fields) {
    ResponseHead head;
    Feed("HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n", &head);
    return head.chunked();
  };
  EXPECT_TRUE(chunked("Transfer-Encoding: chunked"));
  EXPECT_TRUE(chunked("transfer-encoding: gzip, Chunked"));
  EXPECT_TRUE(chunked("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"));
  EXPECT_TRUE(chunked("Transfer-Encoding: chunked, ,"));
  EXPECT_TRUE(chunked("Transfer-Encoding: chunked\r\nTransfer-Encoding: ,"));
  EXPECT_TRUE(chunked("Transfer-Encoding: chunked\r\nTransfer-Encoding:"));
  EXPECT_FALSE(chunked("Transfer-Encoding: ,"));
  EXPECT_FALSE(chunked("Transfer-Encoding: chunked, gzip"));
  EXPECT_FALSE(chunked("Transfer-Encoding: chunked, gzip,"));
  EXPECT_FALSE(chunked("Content-Encoding: chunked"));
}

std::optional<nanoseconds> Wait(const std::string& value,
                                nanoseconds most = hours(24)) {
  ResponseHead head;
  Feed("HTTP/1.1 503 Later\r\nRetry-After: " + value + "\r\n\r\n", &head);
  return head.RetryAfter(kNow, most);
}

TEST(ResponseHead, RetryAfterIsSecondsOrADate) {
  EXPECT_EQ(Wait("120"), seconds(120));
  EXPECT_EQ(Wait("0"), seconds(0));
  EXPECT_EQ(Wait("Thu, 01 Jan 2026 00:10:00 GMT"), seconds(600));
  EXPECT_EQ(Wait("Thursday, 01-Jan-26 00:10:00 GMT"), seconds(600));
  EXPECT_EQ(Wait("Thu Jan  1 00:10:00 2026"), seconds(600));
  EXPECT_EQ(Wait("Thu, 01 Jan 2015 00:00:00 GMT"), seconds(0));
  for (const char* value : {"", "soon", "-5", "1.5", "10 minutes"}) {
    EXPECT_EQ(Wait(value), std::nullopt) << value;
  }
}

TEST(ResponseHead, RetryAfterIsBounded) {
  EXPECT_EQ(Wait("86401"), hours(24));
  EXPECT_EQ(Wait("99999999999999999999999999"), hours(24));
  EXPECT_EQ(Wait("Fri, 31 Dec 9999 23:59:59 GMT"), hours(24));
  EXPECT_EQ(Wait("10", seconds(3)), seconds(3));
  EXPECT_EQ(
      Wait("Fri, 31 Dec 9999 23:59:59 GMT", nanoseconds::max())->count() > 0,
      true);
}

}  // namespace
}  // namespace nephila::fetch
