#include "store/http_message.h"

#include <gtest/gtest.h>

namespace nephila::store {
namespace {

using Outcome = ChunkedDecoder::Outcome;

HttpHead Response(std::string_view text) {
  auto head = ParseHttpHead(text, HttpKind::kResponse);
  EXPECT_TRUE(head.has_value()) << text;
  return head ? *head : HttpHead();
}

struct Decoded {
  bool operator==(const Decoded&) const = default;
  std::string body;
  Outcome outcome;
};

std::ostream& operator<<(std::ostream& out, const Decoded& decoded) {
  return out << decoded.body << " (" << static_cast<int>(decoded.outcome)
             << ")";
}

// The same in one piece and in pieces of one, two and three bytes.
Decoded Dechunk(std::string_view text) {
  Decoded first;
  for (size_t step : {text.size() + 1, size_t{1}, size_t{2}, size_t{3}}) {
    ChunkedDecoder decoder;
    Decoded decoded;
    auto sink = [&](std::string_view piece) { decoded.body += piece; };
    for (size_t at = 0; at < text.size(); at += step) {
      decoder.Feed(text.substr(at, step), sink);
    }
    decoded.outcome = decoder.Finish(sink);
    if (step == text.size() + 1) {
      first = decoded;
    } else {
      EXPECT_EQ(decoded, first) << text << " by " << step;
    }
  }
  return first;
}

TEST(HttpHead, ReadsStatusAndFields) {
  HttpHead head = Response(
      "HTTP/1.1 404 Not Found\r\nContent-Type: Text/HTML; charset=x\r\n"
      "Set-Cookie: a\r\nset-cookie: b\r\n\r\n");
  EXPECT_EQ(head.version, "1.1");
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not Found");
  EXPECT_EQ(head.media_type(), "text/html");
  EXPECT_EQ(head.fields.size(), 3u);
  EXPECT_EQ(head.Get("SET-COOKIE"), "a");
  EXPECT_EQ(head.Find("Location"), nullptr);
  EXPECT_FALSE(head.chunked());
}

TEST(HttpHead, ToleratesWhatServersSend) {
  EXPECT_EQ(Response("HTTP/1.0 302\r\n\r\n").status, 302);
  EXPECT_EQ(Response("HTTP/1.0 302 \r\n\r\n").status, 302);
  EXPECT_EQ(Response("HTTP/1.1  200  OK\n\n").reason, "OK");
  EXPECT_EQ(Response("HTTP/2 200\n").version, "2");
  EXPECT_EQ(Response("http/1.1 200 OK").status, 200);
  HttpHead head = Response("HTTP/1.1 200 OK\nno field\nA: 1\n b\n");
  EXPECT_EQ(head.malformed_lines, 1u);
  EXPECT_EQ(head.Get("a"), "1 b");
}

TEST(HttpHead, RefusesWhatIsNoMessage) {
  for (std::string_view text :
       {"", "<html>", "HTTP/1.1", "HTTP/1.1 2x0 OK", "HTTP/1.1 20",
        "HTTP/1.1 099", "HTTP/1.1 2000", "HTTP/x 200 OK", "ICY 200 OK"}) {
    EXPECT_FALSE(ParseHttpHead(text, HttpKind::kResponse)) << text;
  }
  for (std::string_view text : {"", "GET", "G(T / HTTP/1.1", "GET "}) {
    EXPECT_FALSE(ParseHttpHead(text, HttpKind::kRequest)) << text;
  }
}

TEST(HttpHead, ReadsRequests) {
  auto head =
      ParseHttpHead("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", HttpKind::kRequest);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->target, "/a b");
  EXPECT_EQ(head->version, "1.1");
  EXPECT_EQ(head->Get("host"), "x");
}

TEST(HttpHead, KnowsChunkedAsTheLastCoding) {
  auto chunked = [](std::string_view fields) {
    return Response("HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n\r\n")
        .chunked();
  };
  EXPECT_TRUE(chunked("Transfer-Encoding: chunked"));
  EXPECT_TRUE(chunked("transfer-encoding: gzip, Chunked"));
  EXPECT_TRUE(chunked("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"));
  EXPECT_FALSE(chunked("Transfer-Encoding: identity"));
  EXPECT_FALSE(chunked("Transfer-Encoding: chunked, gzip"));
  EXPECT_FALSE(chunked("Content-Encoding: chunked"));
}

TEST(ChunkedDecoder, JoinsChunks) {
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n6;x=y\r\npedia \r\n0\r\n\r\n"),
            (Decoded{"Wikipedia ", Outcome::kWhole}));
  EXPECT_EQ(Dechunk("000A \n0123456789\n0\nTrailer: x\n\n"),
            (Decoded{"0123456789", Outcome::kWhole}));
  EXPECT_EQ(Dechunk("0\r\n\r\n"), (Decoded{"", Outcome::kWhole}));
}

TEST(ChunkedDecoder, TakesAnEndWithoutATrailer) {
  EXPECT_EQ(Dechunk("1\r\na\r\n0\r\n"), (Decoded{"a", Outcome::kWhole}));
}

TEST(ChunkedDecoder, SaysWhereABodyWasCut) {
  EXPECT_EQ(Dechunk("4\r\nWi"), (Decoded{"Wi", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki"), (Decoded{"Wiki", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n"), (Decoded{"Wiki", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n0\r\nX"), (Decoded{"Wiki", Outcome::kCut}));
}

TEST(ChunkedDecoder, GivesOutABodyThatIsNotChunked) {
  for (std::string_view text : {"<html>\n<p>4\r\n", "<html>", "", "\r\nabc",
                                "fedcba98765432100\r\nx", "-1\r\nx"}) {
    EXPECT_EQ(Dechunk(text), (Decoded{std::string(text), Outcome::kNotChunked}))
        << text;
  }
  std::string line(10'000, 'a');
  EXPECT_EQ(Dechunk(line), (Decoded{line, Outcome::kNotChunked}));
}

TEST(ChunkedDecoder, GivesOutTheRestOfABodyThatBreaksOff) {
  EXPECT_EQ(Dechunk("1\r\na\r\nrest of it\n more"),
            (Decoded{"arest of it\n more", Outcome::kBroken}));
  EXPECT_EQ(Dechunk("1\r\nab\r\n0\r\n\r\n").outcome, Outcome::kBroken);
}

TEST(ChunkedDecoder, LeavesOutWhatComesBehindTheEnd) {
  ChunkedDecoder decoder;
  std::string body;
  auto sink = [&](std::string_view piece) { body += piece; };
  decoder.Feed("1\r\na\r\n0\r\n\r\nHTTP/1.1", sink);
  EXPECT_EQ(decoder.Finish(sink), Outcome::kWhole);
  EXPECT_EQ(body, "a");
  EXPECT_EQ(decoder.extra_bytes(), 8u);
}

struct Taken {
  std::string payload;
  std::string raw;
  HttpHead head;
  bool has_head = false;
  Outcome transfer = Outcome::kWhole;
};

Taken TakeApart(std::string_view block, size_t step,
                size_t max_head = kLongestHttpHead) {
  Taken taken;
  HttpBlock http(HttpKind::kResponse, max_head);
  http.set_raw_sink([&](std::string_view piece) { taken.raw += piece; });
  auto sink = [&](std::string_view piece) { taken.payload += piece; };
  for (size_t at = 0; at < block.size(); at += step) {
    http.Feed(block.substr(at, step), sink);
  }
  http.Finish(sink);
  taken.has_head = http.has_head();
  if (taken.has_head) taken.head = http.head();
  taken.transfer = http.transfer();
  return taken;
}

TEST(HttpBlock, SplitsHeadAndPayloadInPiecesOfAnySize) {
  std::string_view block =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
      "0\r\n\r\n";
  for (size_t step : {1, 2, 3, 7, 1000}) {
    Taken taken = TakeApart(block, step);
    ASSERT_TRUE(taken.has_head);
    EXPECT_EQ(taken.head.status, 200);
    EXPECT_EQ(taken.head.bytes, block.find("3\r\nabc"));
    EXPECT_EQ(taken.payload, "abc");
    EXPECT_EQ(taken.raw, "3\r\nabc\r\n0\r\n\r\n");
    EXPECT_EQ(taken.transfer, Outcome::kWhole);
  }
}

TEST(HttpBlock, TakesAHeadWithoutAnEnd) {
  Taken taken = TakeApart("HTTP/1.1 304 Not Modified\r\nETag: x", 5);
  ASSERT_TRUE(taken.has_head);
  EXPECT_EQ(taken.head.Get("etag"), "x");
  EXPECT_EQ(taken.payload, "");
}

TEST(HttpBlock, TakesAllForPayloadWhereThereIsNoHead) {
  for (size_t step : {1, 4, 1000}) {
    Taken taken = TakeApart("<html>\n\n<p>", step);
    EXPECT_FALSE(taken.has_head);
    EXPECT_EQ(taken.payload, "<html>\n\n<p>");
    EXPECT_EQ(taken.raw, taken.payload);
  }
}

TEST(HttpBlock, HasABoundOnTheHead) {
  std::string block =
      "HTTP/1.1 200 OK\r\nA: " + std::string(100, 'x') + "\r\n\r\nbody";
  EXPECT_TRUE(TakeApart(block, 10, block.size() - 4).has_head);
  Taken taken = TakeApart(block, 10, 50);
  EXPECT_FALSE(taken.has_head);
  EXPECT_EQ(taken.payload, block);
}

}  // namespace
}  // namespace nephila::store
