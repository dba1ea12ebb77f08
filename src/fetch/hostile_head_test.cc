// The engine against heads that lie, flood or say what we do not want.

#include <gtest/gtest.h>

#include <string>

#include "fetch/hostile_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;

using HostileHeadTest = HostileTest;

TEST_F(HostileHeadTest, WhatIsNoHttp) {
  for (const std::string& junk :
       {std::string("<html>hello from 1993</html>\n"),
        std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string("\0\1\2\3", 4),
        std::string("HTTP/1.1 2x0 OK\r\n\r\n"),
        // libcurl's rule, not ours: browsers pass over such a line.
        std::string("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
        std::string("HTTP/9.9 200 OK\r\n\r\n"),
        std::string("220 ftp ready\r\n"), std::string(5000, 'A')}) {
    ExpectEnd(*Answer(junk), FetchOutcome::kBadResponse);
  }
}

// Their head would be rewritten, their body read as what it is not.
TEST_F(HostileHeadTest, VersionsThatWereNotAgreedUpon) {
  for (const std::string_view version :
       {"HTTP/2", "http/2", "HTTP/2.0", "HTTP/3"}) {
    const auto result =
        Answer(std::string(version) + " 200 OK\r\nContent-Length: 2\r\n\r\nno");
    ExpectEnd(*result, FetchOutcome::kBadResponse);
    EXPECT_EQ(result->head, "") << version;
  }
}

TEST_F(HostileHeadTest, TooManyHeaderBytes) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() < 200'000) {
    head += "X: " + std::string(5000, 'y') + "\r\n";
  }
  const auto result = Answer(head + "\r\nbody");
  ExpectEnd(*result, FetchOutcome::kHeadTooLarge);
  EXPECT_EQ(result->error, "head-size");
  EXPECT_LE(result->head.size(), 70'000U);
}

TEST_F(HostileHeadTest, TooManyHeaderFields) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 3000; ++i) head += "X: y\r\n";
  const auto result = Answer(head + "\r\nbody");
  ExpectEnd(*result, FetchOutcome::kHeadTooLarge);
  EXPECT_EQ(result->error, "head-size");
}

TEST_F(HostileHeadTest, AHeaderLineWithoutEnd) {
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nX: ");
    const std::string block(8192, 'b');
    while (c.Send(block)) {
    }
  });
  ExpectEnd(*result, FetchOutcome::kHeadTooLarge);
}

TEST_F(HostileHeadTest, InterimAnswersArePassedOver) {
  const auto result = Answer(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
      "\r\nHTTP/1.1 404 Gone\r\nContent-Length: 2\r\n\r\nno");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(result->status, 404);
  EXPECT_EQ(result->head, "HTTP/1.1 404 Gone\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(BodyOf(*result), "no");
}

TEST_F(HostileHeadTest, InterimAnswersForEver) {
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    while (c.Send("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  ExpectEnd(*result, FetchOutcome::kHeadTooLarge);
  EXPECT_EQ(result->error, "head-size");
}

TEST_F(HostileHeadTest, AProtocolThatNobodyAskedFor) {
  ExpectEnd(*Answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"
                    "whatever"),
            FetchOutcome::kBadResponse);
}

TEST_F(HostileHeadTest, BodiesThatMustNotBeAreNotKept) {
  for (const std::string_view status : {"204 No Content", "304 Not Modified"}) {
    const auto result = Answer("HTTP/1.1 " + std::string(status) +
                               "\r\nContent-Length: 5\r\n\r\nhello");
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_EQ(BodyOf(*result), "");
  }
}

TEST_F(HostileHeadTest, BytesBehindTheLengthAreNotKept) {
  const auto result =
      Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*result), "hello");
}

TEST_F(HostileHeadTest, LengthsThatAreNone) {
  const auto answer = [this](std::string_view length) {
    return Answer("HTTP/1.1 200 OK\r\nContent-Length: " + std::string(length) +
                  "\r\n\r\nhello");
  };
  for (const std::string_view length : {"-5", "x"}) {
    ExpectEnd(*answer(length), FetchOutcome::kBadResponse);
  }
  // libcurl takes the digits that it begins with.
  for (const auto& [length, body] :
       {std::pair("5 5", "hello"), std::pair("1e3", "h")}) {
    const auto result = answer(length);
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_EQ(BodyOf(*result), body) << length;
  }
}

TEST_F(HostileHeadTest, CodedBodiesAreKeptCoded) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n";
  const auto result = Answer(head + "notgzip");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*result), "notgzip");
}

TEST_F(HostileHeadTest, RedirectsAreNotFollowed) {
  const auto result = Answer(
      "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n"
      "Content-Length: 0\r\n\r\n");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(result->status, 301);
}

TEST_F(HostileHeadTest, OddHeadsAreKeptByteForByte) {
  for (const std::string_view head :
       {"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 1\n\n",
        "HTTP/1.1 200 OK\r\nX-Folded: a\r\n  b\r\n\tc\r\nContent-Length: 1\r\n"
        "\r\n",
        "HTTP/1.1 299 \xc3\xa4\xff\r\ncontent-length:1\r\nX:\r\n: none\r\n"
        "\r\n"}) {
    const auto result = Answer(std::string(head) + "x");
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_EQ(result->head, head);
    EXPECT_EQ(BodyOf(*result), "x") << head;
  }
}

TEST_F(HostileHeadTest, UnwantedTypesAreNotDownloaded) {
  engine_.settings.accept_types = {"text/*", "application/xhtml+xml"};
  const auto page = [](std::string_view type) {
    return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) +
           "\r\n\r\nbody";
  };
  const auto image = Answer(page("image/png"));
  ExpectEnd(*image, FetchOutcome::kUnwanted);
  EXPECT_EQ(image->status, 200);
  EXPECT_EQ(BodyOf(*image), "");
  ExpectEnd(*Answer(page("TEXT/html; charset=utf-8")), FetchOutcome::kResponse);
  ExpectEnd(*Answer(page("application/xhtml+xml")), FetchOutcome::kResponse);
  ExpectEnd(*Answer("HTTP/1.1 200 OK\r\n\r\nbody"), FetchOutcome::kResponse);
  // What is no page yet is for others to judge.
  ExpectEnd(*Answer("HTTP/1.1 404 No\r\nContent-Type: image/png\r\n\r\nbody"),
            FetchOutcome::kResponse);
}

TEST_F(HostileHeadTest, UnwantedLengthsAreNotDownloaded) {
  engine_.settings.max_declared_bytes = 1000;
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
    c.WaitForClient();
  });
  ExpectEnd(*result, FetchOutcome::kUnwanted);
  ExpectEnd(*Answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" +
                    std::string(1000, 'x')),
            FetchOutcome::kResponse);
}

TEST_F(HostileHeadTest, RobotsFilesAreWantedWhateverTheyAre) {
  engine_.settings.accept_types = {"text/html"};
  engine_.Make();
  ScriptedServer server(
      "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: "
      "2\r\n\r\nok");
  FetchRequest request = engine_.RequestTo(server);
  request.kind = item::FetchKind::kRobots;
  ExpectEnd(*engine_.Fetch(std::move(request)), FetchOutcome::kResponse);
}

}  // namespace
}  // namespace nephila::fetch
