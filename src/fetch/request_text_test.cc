#include "fetch/request_text.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::fetch {
namespace {

TEST(RequestTarget, IsWhatFollowsTheAuthority) {
  EXPECT_EQ(RequestTarget("http://a.example/"), "/");
  EXPECT_EQ(RequestTarget("https://a.example:8/b/c?d=/e"), "/b/c?d=/e");
  EXPECT_EQ(RequestTarget("http://[::1]/x#frag?no"), "/x");
  EXPECT_EQ(RequestTarget("http://u:p@a.example/?#"), "/?");
}

TEST(RequestTarget, IsNothingForWhatNoParserSerializes) {
  for (const std::string_view url :
       {"", "/a", "http:/a", "http://a.example", "http://a.example?x",
        "http://a.example/a b", "http://a.example/\x7f",
        "http://a.example/\r\n", "http://a.example/\xc3\xa4"}) {
    EXPECT_FALSE(RequestTarget(url).has_value()) << url;
  }
}

TEST(RequestText, IsTheSameForCurlAndForTheArchive) {
  RequestText text;
  text.Build({.target = "/a",
              .host = "a.example",
              .port = 443,
              .https = true,
              .agent_fields =
                  FormatAgentFields({.user_agent = "nephila", .accept = "*/*"}),
              .if_none_match = "\"x\"",
              .cookie = "a=b"});
  std::string lines = "GET /a HTTP/1.1\r\n";
  for (const curl_slist* node = text.fields(); node != nullptr;
       node = node->next) {
    lines.append(node->data).append("\r\n");
  }
  EXPECT_EQ(text.text(), lines + "\r\n");
  EXPECT_EQ(text.text(),
            "GET /a HTTP/1.1\r\nHost: a.example\r\nUser-Agent: nephila\r\n"
            "Accept: */*\r\nIf-None-Match: \"x\"\r\nCookie: a=b\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(text.TextForHttp2(),
            "GET /a HTTP/1.1\r\nHost: a.example\r\nUser-Agent: nephila\r\n"
            "Accept: */*\r\nIf-None-Match: \"x\"\r\nCookie: a=b\r\n\r\n");
}

TEST(RequestText, NamesPortsThatAreNotTheSchemes) {
  RequestText text;
  for (const auto& [port, https, host] :
       {std::tuple(80, false, "a"), std::tuple(443, true, "a"),
        std::tuple(443, false, "a:443"), std::tuple(80, true, "a:80"),
        std::tuple(65535, false, "a:65535")}) {
    text.Build({.target = "/",
                .host = "a",
                .port = static_cast<uint16_t>(port),
                .https = https,
                .keep_connection = true});
    EXPECT_EQ(text.text(),
              "GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
  }
}

TEST(RequestText, LeavesOutWhatCouldForgeAField) {
  RequestText text;
  text.Build({.target = "/",
              .host = "a",
              .keep_connection = true,
              .if_none_match = "x\r\nEvil: 1",
              .if_modified_since = std::string_view("a\0b", 3),
              .cookie = "a\nb"});
  EXPECT_EQ(text.text(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(IsFieldValue("a\x7f"));
  EXPECT_TRUE(IsFieldValue("a\tb \xc3\xa4"));
}

}  // namespace
}  // namespace nephila::fetch
