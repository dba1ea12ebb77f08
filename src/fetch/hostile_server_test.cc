// The engine against servers that do not behave, one fault a test: how it
// ends, what is kept, and that neither time nor memory is without bound.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "fetch/hostile_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;
using std::chrono::milliseconds;

using HostileServerTest = HostileTest;

TEST_F(HostileServerTest, ConnectionRefused) {
  const ClosedPort closed;
  engine_.Make();
  const ScriptedServer other(std::string{});
  FetchRequest request = engine_.RequestTo(other);
  request.port = closed.port();
  const auto result = engine_.Fetch(std::move(request));
  ExpectEnd(*result, FetchOutcome::kConnectFailed);
  EXPECT_GE(result->contact, result->begin_mono);
  EXPECT_EQ(result->request, "");
}

TEST_F(HostileServerTest, ConnectionNeverAccepted) {
  const DeafServer server;
  engine_.settings.connect_timeout = milliseconds(60);
  engine_.Make();
  FetchRequest request = engine_.RequestTo(ScriptedServer(std::string{}));
  request.port = server.port();
  const auto result = engine_.Fetch(std::move(request));
  ExpectEnd(*result, FetchOutcome::kConnectFailed);
  EXPECT_EQ(result->error, "connect-time");
  EXPECT_GE(result->timings.total, milliseconds(60));
  // It may have heard of us until the end.
  EXPECT_EQ(result->contact, result->end_mono);
}

// libcurl tells nobody that it closes a socket that was never connected.
TEST_F(HostileServerTest, NothingIsKeptOfAConnectionNeverAccepted) {
  const DeafServer deaf;
  ScriptedServer server(
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  engine_.settings.connect_timeout = milliseconds(60);
  engine_.settings.max_kept_connections = 1;
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.port = deaf.port();
  request.keep_connection = true;
  ExpectEnd(*engine_.Fetch(std::move(request)), FetchOutcome::kConnectFailed);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
  for (int i = 0; i < 2; ++i) {
    request = engine_.RequestTo(server);
    request.keep_connection = true;
    request.limits = FetchLimits();
    const auto result = engine_.Fetch(std::move(request));
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_EQ(result->reused, i > 0);
    EXPECT_TRUE(result->kept);
    EXPECT_EQ(engine_.fetcher->kept_connections(), 1U);
  }
}

TEST_F(HostileServerTest, NoDescriptorIsLeft) {
  ScriptedServer server(
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  engine_.Make();
  ExpectEnd(*engine_.Fetch(engine_.RequestTo(server)), FetchOutcome::kResponse);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto result = engine_.Fetch(engine_.RequestTo(server));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ExpectEnd(*result, FetchOutcome::kInterrupted);
  EXPECT_EQ(result->error, "no-sockets");
  EXPECT_EQ(result->contact, MonoTime());
  ExpectEnd(*engine_.Fetch(engine_.RequestTo(server)), FetchOutcome::kResponse);
}

TEST_F(HostileServerTest, TlsHandshakeNeverAnswered) {
  ScriptedServer server([](ServerConnection& c) { c.WaitForClient(); });
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.https = true;
  const uint64_t id = engine_.Start(std::move(request));
  RunUntil([&] { return !engine_.contacts.empty(); });
  engine_.clock.Advance(engine_.options.limits.connect_timeout);
  engine_.Run();
  const auto result = engine_.Take(id);
  ExpectEnd(*result, FetchOutcome::kTimeout);
  EXPECT_LT(result->contact, result->end_mono);
}

TEST_F(HostileServerTest, TlsHandshakeAnsweredWithJunk) {
  ScriptedServer server([](ServerConnection& c) {
    c.Send("HTTP/1.1 400 This is no TLS\r\n\r\n");
    c.WaitForClient();
  });
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.https = true;
  ExpectEnd(*engine_.Fetch(std::move(request)), FetchOutcome::kTlsFailed);
}

TEST_F(HostileServerTest, NoAnswer) {
  engine_.settings.first_byte_timeout = milliseconds(60);
  const auto result = Script([](ServerConnection& c) { c.WaitForClient(); });
  ExpectEnd(*result, FetchOutcome::kTimeout);
  EXPECT_EQ(result->error, "head-time");
}

TEST_F(HostileServerTest, HeadComesByDrips) {
  engine_.settings.first_byte_timeout = milliseconds(60);
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\n");
    Drip(c, "X: y\r\n");
  });
  ExpectEnd(*result, FetchOutcome::kTimeout);
}

TEST_F(HostileServerTest, BodyComesByDrips) {
  engine_.settings.min_speed_bytes = 100'000;
  ScriptedServer server([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n");
    Drip(c, "x");
  });
  engine_.Make();
  const uint64_t id = engine_.Start(engine_.RequestTo(server));
  RunUntil([&] { return engine_.share->held_bytes() > 0; });
  engine_.clock.Advance(engine_.options.limits.speed_window);
  engine_.Run();
  const auto result = engine_.Take(id);
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kTime);
  EXPECT_EQ(result->error, "too-slow");
  EXPECT_GT(result->body.size_bytes(), 0U);
}

TEST_F(HostileServerTest, ASlowWindowDoesNotEndAFastBody) {
  constexpr std::chrono::seconds kWindow(60);
  constexpr uint64_t kPieces = 6;
  engine_.settings.min_speed_bytes = 10;
  engine_.settings.speed_window = kWindow;
  engine_.settings.timeout = std::chrono::hours(1);
  // A piece comes when it may.
  std::atomic<uint64_t> may{1};
  ScriptedServer server([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: " +
           std::to_string(kPieces * BodyPool::kBlockBytes) + "\r\n\r\n");
    for (uint64_t piece = 1; piece <= kPieces; ++piece) {
      while (may < piece) std::this_thread::yield();
      c.Send(std::string(BodyPool::kBlockBytes, 'x'));
    }
    c.WaitForClient();
  });
  engine_.Make();
  const uint64_t id = engine_.Start(engine_.RequestTo(server));
  for (uint64_t piece = 1; piece < kPieces; ++piece) {
    RunUntil([&] {
      return engine_.results.contains(id) ||
             engine_.share->held_bytes() >= piece * BodyPool::kBlockBytes;
    });
    // Some 200 bytes a second.
    engine_.clock.Advance(kWindow * 2 / 3);
    ++may;
  }
  may = kPieces;
  engine_.Run();
  const auto result = engine_.Take(id);
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(result->body.size_bytes(), kPieces * BodyPool::kBlockBytes);
  EXPECT_GE(result->timings.total, 3 * kWindow);
}

TEST_F(HostileServerTest, BodyComesForEver) {
  engine_.settings.min_speed_bytes = 1;
  ScriptedServer server([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\n\r\n");
    Drip(c, "drip");
  });
  engine_.Make();
  const auto longest = engine_.options.limits.timeout;
  const uint64_t id = engine_.Start(engine_.RequestTo(server));
  RunUntil([&] { return engine_.share->held_bytes() > 0; });
  engine_.clock.Advance(longest);
  engine_.Run();
  const auto result = engine_.Take(id);
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kTime);
  EXPECT_EQ(result->error, "total-time");
  EXPECT_GE(result->timings.total, longest);
}

TEST_F(HostileServerTest, BodyHasNoEnd) {
  engine_.settings.max_body_bytes = 100'000;
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(8192, 'b');
    while (c.Send(block)) {
    }
  });
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kLength);
  EXPECT_EQ(BodyOf(*result), std::string(100'000, 'b'));
}

TEST_F(HostileServerTest, BodyAsLongAsAllowedIsWhole) {
  engine_.settings.max_body_bytes = 2048;
  const auto result = Answer("HTTP/1.1 200 OK\r\nContent-Length: 2048\r\n\r\n" +
                             std::string(2048, 'x'));
  ExpectEnd(*result, FetchOutcome::kResponse);
}

TEST_F(HostileServerTest, ConnectionClosedInTheBody) {
  const auto result =
      Answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kDisconnect);
  EXPECT_EQ(BodyOf(*result), "part");
}

TEST_F(HostileServerTest, ConnectionResetInTheBody) {
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
    // The client closes only if the part has reached it.
    c.Reset();
  });
  // The kernel may drop what came before the reset.
  if (result->outcome != FetchOutcome::kConnectionLost) {
    ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kDisconnect);
  }
}

TEST_F(HostileServerTest, ConnectionClosedWithoutAWord) {
  ExpectEnd(*Answer(""), FetchOutcome::kConnectionLost);
}

TEST_F(HostileServerTest, ConnectionResetWithoutAWord) {
  const auto result = Script([](ServerConnection& c) {
    c.ReadHead();
    c.Reset();
  });
  ExpectEnd(*result, FetchOutcome::kConnectionLost);
}

TEST_F(HostileServerTest, ConnectionClosedInTheHead) {
  ExpectEnd(*Answer("HTTP/1.1 200 OK\r\nContent-Le"),
            FetchOutcome::kConnectionLost);
  ExpectEnd(*Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
            FetchOutcome::kConnectionLost);
}

TEST_F(HostileServerTest, HalfClosedConnectionIsReadToItsEnd) {
  const auto result = Answer("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*result), "until the end");
}

TEST_F(HostileServerTest, ChunksAreKeptAsTheyCame) {
  const std::string chunks =
      "5;name=value\r\nhello\r\n00006\r\n world\r\n0\r\nTrailer: yes\r\n\r\n";
  const std::string head =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto result = Answer(head + chunks);
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(result->transfer_coding, item::TransferCoding::kChunked);
  EXPECT_EQ(result->head, head);
  EXPECT_EQ(BodyOf(*result), chunks);
}

// libcurl chunks, whichever place it has among the codings.
TEST_F(HostileServerTest, ChunksEndWhereLibcurlEndsThem) {
  const std::string chunks = "5\r\nhello\r\n0\r\n\r\n";
  for (const std::string_view fields :
       {"Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: gzip , CHUNKED,\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"}) {
    const auto result = Answer("HTTP/1.1 200 OK\r\n" + std::string(fields) +
                               "\r\n" + chunks + "HTTP/1.1 200 no\r\n\r\n");
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_EQ(result->transfer_coding, item::TransferCoding::kChunked);
    EXPECT_EQ(BodyOf(*result), chunks) << fields;
  }
}

TEST_F(HostileServerTest, ChunksBytewise) {
  const std::string chunks = "a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n";
  const auto result = Script([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char byte : chunks) c.Send({&byte, 1});
    c.WaitForClient();
  });
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*result), chunks);
}

TEST_F(HostileServerTest, NothingBehindTheLastChunkIsKept) {
  const std::string chunks = "5\r\nhello\r\n0\r\n\r\n";
  const auto result =
      Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks +
             "HTTP/1.1 200 smuggled\r\n\r\n");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*result), chunks);
}

TEST_F(HostileServerTest, BrokenChunksAreKeptUpToTheBreak) {
  const auto result = Answer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\nzz\r\nrest");
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kUnspecified);
  EXPECT_TRUE(BodyOf(*result).starts_with("5\r\nhello\r\n"));
}

TEST_F(HostileServerTest, ChunksCutShort) {
  const auto result =
      Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kDisconnect);
  EXPECT_EQ(BodyOf(*result), "5\r\nhel");
}

TEST_F(HostileServerTest, AChunkAsLongAsTheUniverse) {
  engine_.settings.max_body_bytes = 4096;
  const auto result = Answer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "7fffffffffffffff\r\n" +
      std::string(10000, 'x'));
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kLength);
  EXPECT_EQ(result->body.size_bytes(), 4096U);
}

TEST_F(HostileServerTest, LimitsOfARequestTakeThePlaceOfTheSettings) {
  engine_.Make();
  ScriptedServer server(
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
  FetchRequest request = engine_.RequestTo(server);
  request.limits = FetchLimits{.max_body_bytes = 4};
  const auto result = engine_.Fetch(std::move(request));
  ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kLength);
  EXPECT_EQ(BodyOf(*result), "0123");
}

// libcurl would ask again at once, over a new connection.
TEST_F(HostileServerTest, AKeptConnectionThatBreaksIsNotReplaced) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](ServerConnection& c) {
    while (!c.ReadHead().empty()) {
      if (requests.fetch_add(1) == 1) return;
      c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.keep_connection = true;
  ExpectEnd(*engine_.Fetch(std::move(request)), FetchOutcome::kResponse);
  request = engine_.RequestTo(server);
  request.keep_connection = true;
  const auto result = engine_.Fetch(std::move(request));
  ExpectEnd(*result, FetchOutcome::kConnectionLost);
  EXPECT_TRUE(result->reused);
  EXPECT_EQ(requests.load(), 2);
  EXPECT_EQ(server.accepted(), 1U);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
}

// Nor does another kept connection take its place.
TEST_F(HostileServerTest, AKeptConnectionThatBreaksIsNotReplacedByAnother) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](ServerConnection& c) {
    while (!c.ReadHead().empty()) {
      if (requests.fetch_add(1) == 2) return;
      c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  engine_.Make();
  const auto ask = [&] {
    FetchRequest request = engine_.RequestTo(server);
    request.keep_connection = true;
    return request;
  };
  engine_.Start(ask());
  engine_.Start(ask());
  engine_.Run();
  ASSERT_EQ(engine_.fetcher->kept_connections(), 2U);
  const auto result = engine_.Fetch(ask());
  ExpectEnd(*result, FetchOutcome::kConnectionLost);
  EXPECT_EQ(result->error, "second-contact");
  EXPECT_EQ(requests.load(), 3);
}

TEST_F(HostileServerTest, ConnectionsThatNobodyUsesAreClosed) {
  engine_.settings.idle_timeout = milliseconds(50);
  engine_.Make();
  std::atomic<int> closed{0};
  ScriptedServer server([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    c.WaitForClient();
    ++closed;
  });
  for (int i = 0; i < 2; ++i) {
    FetchRequest request = engine_.RequestTo(server);
    request.keep_connection = true;
    const auto result = engine_.Fetch(std::move(request));
    ExpectEnd(*result, FetchOutcome::kResponse);
    EXPECT_TRUE(result->kept);
    EXPECT_FALSE(result->reused);
    const MonoTime end = engine_.clock.Now() + std::chrono::seconds(10);
    while (engine_.clock.Now() < end &&
           engine_.fetcher->kept_connections() > 0) {
      engine_.loop->RunOnce(end);
    }
    EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
    EXPECT_GE(engine_.clock.Now() - result->end_mono, milliseconds(50));
  }
  EXPECT_EQ(server.accepted(), 2U);
}

TEST_F(HostileServerTest, ConnectionsThatNobodyUsesAreClosedBesideTransfers) {
  engine_.settings.idle_timeout = milliseconds(50);
  engine_.Make();
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ScriptedServer slow([&](ServerConnection& c) {
    c.ReadHead();
    c.WaitForClient();
  });
  const uint64_t id = engine_.Start(engine_.RequestTo(slow));
  FetchRequest request = engine_.RequestTo(server);
  request.keep_connection = true;
  const uint64_t kept = engine_.Start(std::move(request));
  const MonoTime end = engine_.clock.Now() + std::chrono::seconds(20);
  while (engine_.clock.Now() < end &&
         (!engine_.results.contains(kept) ||
          engine_.fetcher->kept_connections() > 0)) {
    engine_.loop->RunOnce(end);
  }
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
  // In the same multi, which is not disturbed; nor is anyone contacted.
  EXPECT_FALSE(engine_.results.contains(id));
  EXPECT_EQ(server.accepted(), 1U);
  EXPECT_EQ(slow.accepted(), 1U);
  engine_.fetcher->Cancel(id);
  engine_.Run();
}

TEST_F(HostileServerTest, AKeptConnectionThatEndedIsReplacedByANewOne) {
  std::atomic<bool> closed{false};
  ScriptedServer server([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    if (c.number() == 0) {
      c.EndSending();
      closed = true;
    }
    c.WaitForClient();
  });
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.keep_connection = true;
  ExpectEnd(*engine_.Fetch(std::move(request)), FetchOutcome::kResponse);
  while (!closed) std::this_thread::yield();
  request = engine_.RequestTo(server);
  request.keep_connection = true;
  const auto result = engine_.Fetch(std::move(request));
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_FALSE(result->reused);
  EXPECT_EQ(server.accepted(), 2U);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 1U);
}

TEST_F(HostileServerTest, AServerMayCloseWhatWeWouldKeep) {
  ScriptedServer server(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.keep_connection = true;
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_FALSE(result->kept);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
}

}  // namespace
}  // namespace nephila::fetch
