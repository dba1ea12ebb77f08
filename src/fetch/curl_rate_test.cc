// The engine under limits on its rate: how fast, and whose time a wait is.

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fetch/fetch_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;
using std::chrono::milliseconds;

class CurlRateTest : public testing::Test {
 protected:
  Engine engine_;
  ScriptedServer server_{
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")};
};

TEST_F(CurlRateTest, PagesBeginNoFasterThanTheLimit) {
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetPagesPerSecond(20);
  engine_.Make();
  const MonoTime begin = engine_.clock.Now();
  for (int i = 0; i < 30; ++i) engine_.Start(engine_.RequestTo(server_));
  EXPECT_TRUE(engine_.fetcher->Cancel(engine_.last_id));
  engine_.Run();
  // A tenth of a second was saved up.
  EXPECT_GE(engine_.clock.Now() - begin, milliseconds(1200));
  EXPECT_EQ(engine_.results.size(), 30U);
  EXPECT_EQ(engine_.Take(engine_.last_id)->outcome, FetchOutcome::kInterrupted);
  std::vector<MonoTime> begins;
  for (const auto& [id, result] : engine_.results) {
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse);
    EXPECT_EQ(result->timings.total, result->end_mono - result->begin_mono);
    begins.push_back(result->begin_mono);
  }
  // None has begun before it was its turn: the wait is no time of it.
  std::sort(begins.begin(), begins.end());
  for (size_t i = 0; i < begins.size(); ++i) {
    EXPECT_GE(begins[i], begin + milliseconds(50) * static_cast<int>(i) -
                             TokenBucket::kSaved)
        << i;
  }
  // And a new limit holds at once.
  engine_.rate->SetPagesPerSecond(0);
  EXPECT_EQ(engine_.Fetch(engine_.RequestTo(server_))->outcome,
            FetchOutcome::kResponse);
}

TEST_F(CurlRateTest, BytesComeNoFasterThanTheLimit) {
  const std::string body(400'000, 'x');
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetBytesPerSecond(1'000'000);
  // What we do not read is not the server's fault.
  engine_.settings.speed_window = milliseconds(500);
  engine_.settings.min_speed_bytes = 10'000'000;
  engine_.Make();
  const MonoTime begin = engine_.clock.Now();
  for (int i = 0; i < 4; ++i) engine_.Start(engine_.RequestTo(server));
  engine_.Run();
  EXPECT_GE(engine_.clock.Now() - begin, milliseconds(1200));
  for (const auto& [id, result] : engine_.results) {
    EXPECT_EQ(result->truncation, Truncation::kNone) << result->error;
    EXPECT_TRUE(BodyOf(*result) == body);
  }
}

// Each of its bytes finds the limit used up by the other.
TEST_F(CurlRateTest, PausesHideNoSlowServer) {
  ScriptedServer drips([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (c.Send("x")) {
      pollfd gone{c.fd(), POLLIN | POLLRDHUP, 0};
      if (poll(&gone, 1, 200) > 0) return;
    }
  });
  ScriptedServer flood([](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(65536, 'x');
    while (c.Send(block)) {
    }
  });
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetBytesPerSecond(1'000'000);
  engine_.settings.max_body_bytes = uint64_t{40} << 20;
  engine_.settings.min_speed_bytes = 100'000;
  engine_.settings.speed_window = milliseconds(500);
  engine_.Make();
  const uint64_t slow = engine_.Start(engine_.RequestTo(drips));
  FetchRequest request = engine_.RequestTo(flood);
  request.limits =
      FetchLimits{.min_speed_bytes = 0, .max_body_bytes = uint64_t{40} << 20};
  const uint64_t fast = engine_.Start(std::move(request));
  const MonoTime end = engine_.clock.Now() + std::chrono::seconds(30);
  while (engine_.clock.Now() < end && !engine_.results.contains(slow)) {
    engine_.loop->RunOnce(end);
  }
  ASSERT_TRUE(engine_.results.contains(slow));
  EXPECT_EQ(engine_.Take(slow)->error, "too-slow");
  EXPECT_FALSE(engine_.results.contains(fast));
  engine_.fetcher->Cancel(fast);
  engine_.Run();
}

TEST_F(CurlRateTest, PausesAreNotTimeOfTheServers) {
  const std::string body(200'000, 'x');
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetBytesPerSecond(100'000);
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server);
  request.limits = FetchLimits{.timeout = milliseconds(1000)};
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->error, "");
  EXPECT_TRUE(BodyOf(*result) == body);
  EXPECT_GT(result->timings.total, milliseconds(1000));
}

TEST_F(CurlRateTest, ANewLimitHoldsAtOnceForWhatWaits) {
  const std::string body(400'000, 'x');
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetBytesPerSecond(100);
  engine_.Make();
  const uint64_t reading = engine_.Start(engine_.RequestTo(server));
  while (engine_.share->held_bytes() == 0) {
    engine_.loop->RunOnce(engine_.clock.Now() + std::chrono::seconds(1));
  }
  // One is paused now, and one may not begin, each for minutes.
  const uint64_t waiting = engine_.Start(engine_.RequestTo(server));
  const MonoTime begin = engine_.clock.Now();
  while (engine_.clock.Now() < begin + milliseconds(50)) {
    engine_.loop->RunOnce(begin + milliseconds(50));
  }
  EXPECT_EQ(engine_.fetcher->in_flight(), 2U);
  engine_.rate->SetBytesPerSecond(0);
  engine_.Run();
  EXPECT_LT(engine_.clock.Now() - begin, std::chrono::minutes(2));
  EXPECT_TRUE(BodyOf(*engine_.Take(reading)) == body);
  EXPECT_TRUE(BodyOf(*engine_.Take(waiting)) == body);
}

}  // namespace
}  // namespace nephila::fetch
