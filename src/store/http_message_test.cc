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
