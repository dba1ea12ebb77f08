// The engine and the one memory for all bodies: who has to give way, and what
// counts.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "fetch/hostile_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;
using std::chrono::milliseconds;

constexpr uint64_t kBlock = BodyPool::kBlockBytes;

class CurlMemoryTest : public HostileTest {
 protected:
  void EndAll() {
    for (uint64_t id = 1; id <= engine_.last_id; ++id) {
      engine_.fetcher->Cancel(id);
    }
    engine_.Run();
    engine_.results.clear();
    EXPECT_EQ(engine_.pool->used_bytes(), 0U);
  }
};

TEST_F(CurlMemoryTest, TheSlowestGiveWayWhenAllBodiesAreTooMuch) {
  // 64 blocks for 40 drips of 5 MB that hold a block or two each, and a page
  // of 300 KB.
  engine_.body_memory = 64 * BodyPool::kBlockBytes;
  engine_.settings.min_speed_bytes = 0;
  engine_.Make();
  std::atomic<int> dripping{0};
  ScriptedServer drips([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" +
           std::string(100, 'd'));
    ++dripping;
    Drip(c, "d");
  });
  ScriptedServer pages("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" +
                       std::string(300'000, 'p'));
  for (int i = 0; i < 40; ++i) engine_.Start(engine_.RequestTo(drips));
  while (engine_.share->held_bytes() < 40 * BodyPool::kBlockBytes) {
    engine_.loop->RunOnce(engine_.clock.Now() + milliseconds(10));
  }
  const uint64_t id = engine_.Start(engine_.RequestTo(pages));
  while (!engine_.results.contains(id)) {
    engine_.loop->RunOnce(engine_.clock.Now() + milliseconds(10));
    // Whoever takes results lets their blocks go.
    for (auto& [other, result] : engine_.results) {
      if (other == id) continue;
      ExpectEnd(*result, FetchOutcome::kResponse, Truncation::kPool);
      EXPECT_EQ(result->error, "pool");
      result->body.Clear();
    }
    EXPECT_LE(engine_.pool->used_bytes(), engine_.pool->capacity_bytes());
  }
  ExpectEnd(*engine_.results.at(id), FetchOutcome::kResponse);
  EXPECT_GT(
      engine_.fetcher->counts().stops[static_cast<size_t>(Stop::kPool)].value(),
      0U);
  engine_.results.clear();
  for (uint64_t other = 1; other <= 40; ++other) {
    engine_.fetcher->Cancel(other);
  }
  engine_.Run();
  engine_.results.clear();
  EXPECT_EQ(engine_.pool->used_bytes(), 0U);
}

// One that was fast and stands still holds more than one that goes on, and by
// the mean of all its time it is the faster of the two.
TEST_F(CurlMemoryTest, TheSlowestAreThoseThatAreSlowNow) {
  engine_.body_memory = 64 * kBlock;
  engine_.settings.min_speed_bytes = 0;
  engine_.Make();
  std::atomic<bool> later{false};
  const auto send = [](ServerConnection& c, size_t bytes) {
    c.Send(std::string(bytes, 'b'));
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n";
  ScriptedServer stands([&](ServerConnection& c) {
    c.ReadHead();
    c.Send(head);
    send(c, 30 * kBlock);
    c.WaitForClient();
  });
  ScriptedServer goes([&](ServerConnection& c) {
    c.ReadHead();
    c.Send(head);
    send(c, 2 * kBlock);
    while (!later) std::this_thread::yield();
    send(c, 4 * kBlock);
    c.WaitForClient();
  });
  const uint64_t standing = engine_.Start(engine_.RequestTo(stands));
  const uint64_t going = engine_.Start(engine_.RequestTo(goes));
  RunUntil([&] { return engine_.share->held_bytes() >= 32 * kBlock; });
  engine_.clock.Advance(std::chrono::seconds(20));
  later = true;
  RunUntil([&] { return engine_.share->held_bytes() >= 36 * kBlock; });
  ScriptedServer page("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" +
                      std::string(200'000, 'p'));
  const uint64_t last = engine_.Start(engine_.RequestTo(page));
  RunUntil([&] { return engine_.results.contains(last); });
  ASSERT_TRUE(engine_.results.contains(standing));
  ExpectEnd(*engine_.results[standing], FetchOutcome::kResponse,
            Truncation::kPool);
  EXPECT_FALSE(engine_.results.contains(going));
  ExpectEnd(*engine_.results[last], FetchOutcome::kResponse);
  EndAll();
}

TEST_F(CurlMemoryTest, NothingBeginsWhileFinishedBodiesFillThePool) {
  engine_.body_memory = 64 * kBlock;
  engine_.Make();
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" +
                        std::string(400'000, 'p'));
  const uint64_t first = engine_.Start(engine_.RequestTo(server));
  engine_.Run();
  // 49 blocks of 64, and nobody has parsed them.
  const uint64_t second = engine_.Start(engine_.RequestTo(server));
  const uint64_t third = engine_.Start(engine_.RequestTo(server));
  EXPECT_EQ(engine_.fetcher->in_flight(), 2U);
  for (int i = 0; i < 10; ++i) {
    engine_.loop->RunOnce(engine_.clock.Now() + milliseconds(5));
  }
  EXPECT_EQ(server.accepted(), 1U);
  // What waits can be cancelled.
  EXPECT_TRUE(engine_.fetcher->Cancel(third));
  RunUntil([&] { return engine_.results.contains(third); });
  ExpectEnd(*engine_.Take(third), FetchOutcome::kInterrupted);
  engine_.Take(first);
  engine_.Run();
  const auto result = engine_.Take(second);
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(server.accepted(), 2U);
}

// libcurl keeps a line until it ends: 40 of 60 KB are four times the pool.
TEST_F(CurlMemoryTest, HeadsCountAsBodiesDo) {
  const std::string line = "X: " + std::string(60'000, 'h');
  for (const std::string& end : {std::string(), std::string("\r\n")}) {
    Engine fresh;
    fresh.body_memory = 64 * kBlock;
    fresh.settings.first_byte_timeout = std::chrono::minutes(4);
    fresh.Make();
    ScriptedServer heads([&](ServerConnection& c) {
      c.ReadHead();
      c.Send("HTTP/1.1 200 OK\r\n");
      c.Send(line + end);
      c.WaitForClient();
    });
    ScriptedServer pages("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    for (int i = 0; i < 40; ++i) fresh.Start(fresh.RequestTo(heads));
    const MonoTime give_up = fresh.clock.Now() + std::chrono::minutes(2);
    while (fresh.results.size() < 32 && fresh.clock.Now() < give_up) {
      fresh.loop->RunOnce(fresh.clock.Now() + milliseconds(10));
      EXPECT_LE(fresh.pool->used_bytes(), fresh.pool->capacity_bytes());
      for (auto& [id, result] : fresh.results) {
        ExpectEnd(*result, FetchOutcome::kHeadTooLarge);
        EXPECT_EQ(result->error, "pool");
        result->Clear();
        result->outcome = FetchOutcome::kHeadTooLarge;
        result->error = "pool";
      }
    }
    EXPECT_GE(fresh.results.size(), 32U);
    // The handles that held them do not keep that.
    EXPECT_GE(fresh.fetcher->counts().renewed.value(), 32U);
    for (uint64_t id = 1; id <= fresh.last_id; ++id) fresh.fetcher->Cancel(id);
    fresh.Run();
    fresh.results.clear();  // or what they hold presses the page
    const uint64_t page = fresh.Start(fresh.RequestTo(pages));
    fresh.Run();
    ExpectEnd(*fresh.Take(page), FetchOutcome::kResponse);
    EXPECT_EQ(fresh.pool->used_bytes(), 0U);
  }
}

TEST_F(CurlMemoryTest, HeadsOfUsualSizeCountForNothing) {
  engine_.Make();
  const auto result =
      Answer("HTTP/1.1 200 OK\r\nX: " + std::string(3'000, 'h') +
             "\r\nContent-Length: 2\r\n\r\nok");
  ExpectEnd(*result, FetchOutcome::kResponse);
  EXPECT_EQ(result->body.held_bytes(), kBlock);
  EXPECT_EQ(engine_.fetcher->counts().renewed.value(), 0U);
  const auto large =
      Answer("HTTP/1.1 200 OK\r\nX: " + std::string(30'000, 'h') +
             "\r\nContent-Length: 2\r\n\r\nok");
  ExpectEnd(*large, FetchOutcome::kResponse);
  EXPECT_EQ(BodyOf(*large), "ok");
  // Ours and libcurl's copy.
  EXPECT_GE(large->body.held_bytes(), 60'000 - kFreeHeadBytes);
  large->Clear();
  EXPECT_LE(large->head.capacity(), 8192U);
}

// What is over the bound of a body is at most what one reading brings.
TEST_F(CurlMemoryTest, ATransferReadsSoMuchAtOnce) {
  constexpr uint64_t kBound = 4096;
  engine_.settings.max_body_bytes = kBound;
  engine_.settings.read_buffer_bytes = 1024;
  const auto cut = Answer("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" +
                          std::string(300'000, 'p'));
  ExpectEnd(*cut, FetchOutcome::kResponse, Truncation::kLength);
  EXPECT_LE(cut->bytes_in, kBound + 2 * 1024);
}

TEST_F(CurlMemoryTest, ReadingByReadingAllOfItComes) {
  engine_.settings.read_buffer_bytes = 1024;
  const auto whole =
      Answer("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" +
             std::string(300'000, 'p'));
  ExpectEnd(*whole, FetchOutcome::kResponse);
  EXPECT_EQ(whole->body.size_bytes(), 300'000U);
}

}  // namespace
}  // namespace nephila::fetch
