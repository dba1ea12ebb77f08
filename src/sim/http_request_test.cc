#include "sim/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::sim {
namespace {

Result<size_t, RequestError> Parse(std::string_view bytes, Request* request) {
  size_t searched = 0;
  return ParseRequest(bytes, &searched, request);
}

RequestError ErrorOf(std::string_view bytes) {
  Request request;
  const auto size = Parse(bytes, &request);
  EXPECT_FALSE(size) << bytes;
  return size ? RequestError::kIncomplete : size.error();
}

TEST(HttpRequestTest, ReadsWhatAServerNeedsToKnow) {
  constexpr std::string_view kText =
      "GET /a?b=c HTTP/1.1\r\nHost: WWW.Example.com.:8080\r\n"
      "Accept-Encoding: br;q=1, gzip;q=0.8\r\nCookie: a=b\r\n"
      "If-None-Match: \"x\"\r\n\r\n";
  Request request;
  const std::string with_more = std::string(kText) + "GET";
  const auto size = Parse(with_more, &request);
  ASSERT_TRUE(size);
  EXPECT_EQ(*size, kText.size());
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_EQ(request.host, "www.example.com");
  EXPECT_EQ(request.if_none_match, "\"x\"");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_TRUE(request.takes_gzip);
  EXPECT_TRUE(request.has_cookie);
}

TEST(HttpRequestTest, ForgetsTheRequestBefore) {
  Request request;
  ASSERT_TRUE(Parse(
      "GET / HTTP/1.1\r\nHost: a\r\nCookie: x\r\nAccept-Encoding: gzip\r\n"
      "If-None-Match: y\r\nConnection: close\r\n\r\n",
      &request));
  ASSERT_TRUE(Parse("GET / HTTP/1.1\r\nHost: b\r\n\r\n", &request));
  EXPECT_EQ(request.host, "b");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.has_cookie);
  EXPECT_FALSE(request.takes_gzip);
  EXPECT_EQ(request.if_none_match, "");
}

TEST(HttpRequestTest, KeepsOrClosesAsAsked) {
  auto keeps = [](std::string_view version, std::string_view connection) {
    Request request;
    EXPECT_TRUE(Parse("GET / " + std::string(version) + "\r\nHost: a\r\n" +
                          "Connection: " + std::string(connection) + "\r\n\r\n",
                      &request));
    return request.keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", "x"));
  EXPECT_FALSE(keeps("HTTP/1.1", "TE, Close"));
  EXPECT_FALSE(keeps("HTTP/1.0", "x"));
  EXPECT_TRUE(keeps("HTTP/1.0", "Keep-Alive"));
}

TEST(HttpRequestTest, HearsWhoRefusesGzip) {
  Request request;
  ASSERT_TRUE(
      Parse("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip;q=0\r\n\r\n",
            &request));
  EXPECT_FALSE(request.takes_gzip);
}

TEST(HttpRequestTest, TakesTheFormThatProxiesGet) {
  Request request;
  ASSERT_TRUE(
      Parse("GET http://A.b:81/c HTTP/1.1\r\nHost: other\r\n\r\n", &request));
  EXPECT_EQ(request.host, "a.b");
  EXPECT_EQ(request.target, "/c");
}

TEST(HttpRequestTest, WaitsForTheRestByteByByte) {
  constexpr std::string_view kText = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  size_t searched = 0;
  Request request;
  for (size_t size = 0; size < kText.size(); ++size) {
    const auto parsed =
        ParseRequest(kText.substr(0, size), &searched, &request);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error(), RequestError::kIncomplete);
  }
  EXPECT_TRUE(ParseRequest(kText, &searched, &request));
}

TEST(HttpRequestTest, RefusesWhatIsNoRequest) {
  for (std::string_view bad :
       {"GET / HTTP/1.1\r\n\r\n",                           // no host
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n",                // version
        "GET /\r\nHost: a\r\n\r\n",                         // none
        "GET  HTTP/1.1\r\nHost: a\r\n\r\n",                 // no target
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",             // space
        "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",            // control
        "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n",        // not escaped
        "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",              // fragment
        "GET x HTTP/1.1\r\nHost: a\r\n\r\n",                // no path
        "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",         // no path
        "GET / HTTP/1.1\r\nHost: \r\n\r\n",                 // empty host
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",              // no host
        "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",             // no host
        "GET / HTTP/1.1\r\nHost: a\r\nX y\r\n\r\n",         // no colon
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: 1\r\n\r\n",  // bare LF
        "GET / HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n",      // space in a name
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    EXPECT_EQ(ErrorOf(bad), RequestError::kBad) << bad;
  }
}

TEST(HttpRequestTest, BoundsTheHead) {
  const std::string long_line =
      "GET /" + std::string(kMaxRequestBytes, 'a') + " HTTP/1.1\r\n";
  EXPECT_EQ(ErrorOf(long_line), RequestError::kTooLong);
  EXPECT_EQ(ErrorOf(long_line + "Host: a\r\n\r\n"), RequestError::kTooLong);
}

}  // namespace
}  // namespace nephila::sim
