// What tests against servers that do not behave share.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "fetch/fetch_testing.h"

namespace nephila::fetch {

// Sends a piece every few milliseconds until the client has had enough.
inline void Drip(const ServerConnection& c, std::string_view piece) {
  while (c.Send(piece)) {
    std::this_thread::yield();
    pollfd gone{c.fd(), POLLIN | POLLRDHUP, 0};
    if (poll(&gone, 1, 3) > 0) return;
  }
}

class HostileTest : public testing::Test {
 protected:
  // The server's whole answer to the one request of a connection, which it
  // then closes.
  std::unique_ptr<FetchResult> Answer(std::string answer) {
    ScriptedServer server([answer = std::move(answer)](ServerConnection& c) {
      c.ReadHead();
      c.Send(answer);
      c.EndSending();
      c.WaitForClient();
    });
    if (engine_.fetcher == nullptr) engine_.Make();
    return engine_.Fetch(engine_.RequestTo(server));
  }
  std::unique_ptr<FetchResult> Script(ScriptedServer::Script script) {
    ScriptedServer server(std::move(script));
    if (engine_.fetcher == nullptr) engine_.Make();
    return engine_.Fetch(engine_.RequestTo(server));
  }

  // Far longer than anything here takes, then it fails.
  void RunUntil(const std::function<bool()>& done) {
    const RealClock real;
    const MonoTime end = real.Now() + std::chrono::minutes(2);
    while (!done() && real.Now() < end) {
      engine_.loop->RunOnce(engine_.clock.Now() +
                            std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(done());
  }

  static void ExpectEnd(const FetchResult& result, item::FetchOutcome outcome,
                        item::Truncation truncation = item::Truncation::kNone) {
    EXPECT_EQ(item::FetchOutcomeName(result.outcome),
              item::FetchOutcomeName(outcome))
        << result.error;
    EXPECT_EQ(result.truncation, truncation) << result.error;
  }

  Engine engine_;
};

}  // namespace nephila::fetch
