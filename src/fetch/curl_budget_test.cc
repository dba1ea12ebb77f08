// Transfers and kept connections within a ConnectionBudget, against real
// sockets.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fetch/connection_budget.h"
#include "fetch/fetch_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;

class CurlBudgetTest : public testing::Test {
 protected:
  void Make(size_t limit) {
    budget_ = std::make_unique<ConnectionBudget>(limit);
    engine_ = std::make_unique<Engine>();
    engine_->settings.multi_transfers = 4;
    engine_->budget = budget_.get();
    engine_->Make();
  }
  FetchRequest To(Engine* engine, size_t host) const {
    FetchRequest request = engine->RequestTo(server_);
    request.host = "h" + std::to_string(host) + ".example";
    request.keep_connection = true;
    return request;
  }
  // Slots are those of connections, and at most as many as there are.
  void ExpectWithinBudget() const {
    EXPECT_LE(budget_->used(), budget_->limit());
    EXPECT_EQ(budget_->used(), engine_->fetcher->kept_connections());
    EXPECT_EQ(engine_->fetcher->idle_connections(),
              engine_->fetcher->kept_connections());
  }

  ScriptedServer server_{
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")};
  std::unique_ptr<ConnectionBudget> budget_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CurlBudgetTest, KeepsConnectionsAsLongAsThereAreSlots) {
  Make(16);
  for (size_t host = 0; host < 13; ++host) {
    EXPECT_TRUE(engine_->Fetch(To(engine_.get(), host))->kept) << host;
  }
  ExpectWithinBudget();
  // Nearly all slots are taken: the next is closed behind its page, and those
  // that are open stay.
  EXPECT_FALSE(engine_->Fetch(To(engine_.get(), 13))->kept);
  for (size_t host = 0; host < 13; ++host) {
    const auto result = engine_->Fetch(To(engine_.get(), host));
    EXPECT_TRUE(result->reused) << host;
    EXPECT_TRUE(result->kept) << host;
  }
  EXPECT_EQ(server_.accepted(), 14U);
  ExpectWithinBudget();
}

TEST_F(CurlBudgetTest, IdleConnectionsGiveWayToTransfers) {
  constexpr size_t kLimit = 16;
  Make(kLimit);
  for (size_t host = 0; host < 13; ++host) {
    engine_->Fetch(To(engine_.get(), host));
  }
  EXPECT_EQ(engine_->fetcher->kept_connections(), 13U);
  // Far more transfers than slots, of hosts without a connection.
  for (size_t host = 100; host < 200; ++host) {
    engine_->Start(To(engine_.get(), host));
  }
  while (engine_->fetcher->in_flight() > 0) {
    engine_->loop->RunOnce(engine_->clock.Now() + std::chrono::seconds(1));
    EXPECT_LE(budget_->used(), kLimit);
    EXPECT_LE(engine_->fetcher->kept_connections(), kLimit);
  }
  EXPECT_EQ(engine_->results.size(), 100U);
  for (const auto& [id, result] : engine_->results) {
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  }
  ExpectWithinBudget();
}

TEST_F(CurlBudgetTest, ClosesTheConnectionThatWasIdleForLongest) {
  Make(64);
  engine_.reset();
  // One handle of libcurl, so that all connections are in one list.
  engine_ = std::make_unique<Engine>();
  engine_->budget = budget_.get();
  engine_->Make();
  for (size_t host = 0; host < 5; ++host) {
    engine_->Fetch(To(engine_.get(), host));
  }
  // libcurl counts milliseconds: the others are younger in its eyes too.
  const RealClock real;
  const MonoTime later = real.Now() + std::chrono::milliseconds(2);
  while (real.Now() < later) engine_->loop->RunOnce(engine_->clock.Now());
  for (size_t host = 5; host < 20; ++host) {
    engine_->Fetch(To(engine_.get(), host));
  }
  // It is used again, so it is not among the oldest any more.
  EXPECT_TRUE(engine_->Fetch(To(engine_.get(), 0))->reused);
  budget_->Squeeze(nullptr, 4);
  engine_->loop->RunOnce(engine_->clock.Now());
  EXPECT_EQ(engine_->fetcher->kept_connections(), 16U);
  EXPECT_EQ(budget_->used(), 16U);
  for (size_t host = 0; host < 20; ++host) {
    const auto result = engine_->Fetch(To(engine_.get(), host));
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << host;
    EXPECT_EQ(result->reused, host == 0 || host >= 5) << host;
  }
}

TEST_F(CurlBudgetTest, NeverClosesAConnectionThatATransferCountsOn) {
  Make(64);
  engine_->Fetch(To(engine_.get(), 0));
  engine_->Start(To(engine_.get(), 0));
  // libcurl has not begun it: its connection is still idle in its eyes.
  budget_->Squeeze(nullptr, 10);
  engine_->Run();
  EXPECT_EQ(server_.accepted(), 1U);
  ASSERT_EQ(engine_->results.size(), 1U);
  EXPECT_TRUE(engine_->results.begin()->second->reused);
}

TEST_F(CurlBudgetTest, IdleConnectionsOfAnotherFetcherGiveWay) {
  Make(16);
  for (size_t host = 0; host < 13; ++host) {
    engine_->Fetch(To(engine_.get(), host));
  }
  Engine other;
  other.budget = budget_.get();
  other.Make();
  for (size_t host = 0; host < 12; ++host) other.Start(To(&other, host));
  while (other.fetcher->in_flight() > 0) {
    other.loop->RunOnce(other.clock.Now() + std::chrono::milliseconds(1));
    engine_->loop->RunOnce(engine_->clock.Now());
    EXPECT_LE(budget_->used(), 16U);
  }
  EXPECT_EQ(other.results.size(), 12U);
  for (const auto& [id, result] : other.results) {
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  }
  EXPECT_LT(engine_->fetcher->kept_connections(), 13U);
}

TEST_F(CurlBudgetTest, SlotsComeBackWhenServersCloseAndFetchersEnd) {
  ScriptedServer closing([](ServerConnection& c) {
    c.ReadHead();
    c.Send(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        "ok");
  });
  Make(16);
  for (size_t host = 0; host < 30; ++host) {
    FetchRequest request = engine_->RequestTo(closing);
    request.host = "h" + std::to_string(host) + ".example";
    request.keep_connection = true;
    engine_->Start(std::move(request));
  }
  engine_->Run();
  EXPECT_EQ(budget_->used(), 0U);
  engine_->Fetch(To(engine_.get(), 1));
  EXPECT_EQ(budget_->used(), 1U);
  // In flight and waiting for a slot when the fetcher ends.
  for (size_t host = 0; host < 30; ++host) {
    engine_->Start(To(engine_.get(), host));
  }
  engine_.reset();
  EXPECT_EQ(budget_->used(), 0U);
}

TEST_F(CurlBudgetTest, SocketsLeaveTheHighestDescriptorsToFiles) {
  budget_ = std::make_unique<ConnectionBudget>(100, /*max_descriptor=*/3);
  engine_ = std::make_unique<Engine>();
  engine_->budget = budget_.get();
  engine_->Make();
  const auto result = engine_->Fetch(To(engine_.get(), 0));
  EXPECT_EQ(result->outcome, FetchOutcome::kInterrupted);
  EXPECT_EQ(result->error, "no-sockets");
  EXPECT_EQ(result->contact, MonoTime());
  EXPECT_EQ(server_.accepted(), 0U);
  EXPECT_EQ(budget_->used(), 0U);
}

}  // namespace
}  // namespace nephila::fetch
