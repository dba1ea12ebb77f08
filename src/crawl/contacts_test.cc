#include "crawl/contacts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "url/parser.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;

// Every name has the one address.
class OneAddress final : public dns::Resolver {
 public:
  explicit OneAddress(net::EventLoop& loop) : loop_(loop) {}
  void Resolve(std::string_view /*host*/, Callback callback) override {
    loop_.Post([callback = std::move(callback)] {
      dns::Answer answer;
      answer.outcome = dns::Outcome::kFound;
      answer.addresses = {net::IpAddress::V4(192, 0, 2, 1)};
      callback(answer);
    });
  }
  void CancelAll() override {}

 private:
  net::EventLoop& loop_;
};

// Holds what is asked until the test lets it end.
class HeldFetcher final : public fetch::Fetcher {
 public:
  void Start(fetch::FetchRequest request,
             fetch::FetchHandler* handler) override {
    started.push_back(std::move(request));
    handler_ = handler;
  }
  bool Cancel(uint64_t /*id*/) override { return false; }
  size_t in_flight() const override { return started.size() - ended_; }
  void Recycle(std::unique_ptr<fetch::FetchResult> /*result*/) override {}

  void Contact(size_t index, MonoTime when) {
    handler_->OnContact(started[index].id, when, true);
  }
  void End(size_t index, MonoTime when) {
    ++ended_;
    auto result = std::make_unique<fetch::FetchResult>();
    result->id = started[index].id;
    result->outcome = item::FetchOutcome::kResponse;
    result->status = 200;
    result->contact = result->end_mono = when;
    handler_->OnFetched(std::move(result));
  }

  std::vector<fetch::FetchRequest> started;

 private:
  fetch::FetchHandler* handler_ = nullptr;
  size_t ended_ = 0;
};

class ContactsTest : public testing::Test {
 protected:
  void SetUp() override {
    settings_.politeness.server_delay = milliseconds(500);
    settings_.politeness.server_delay_floor = milliseconds(1);
    loop_ = *net::EventLoop::Make(clock_);
    resolver_ = std::make_unique<OneAddress>(*loop_);
    contacts_ = std::make_unique<Contacts>(
        Contacts::Parts{*loop_, *resolver_, fetcher_, limits_, settings_, 10});
  }

  void Ask(std::string_view text) {
    url::Url url;
    ASSERT_TRUE(url::Parse(text, nullptr, &url));
    contacts_->Ask(url, politeness::Kind::kPage, std::nullopt,
                   [this](std::unique_ptr<fetch::FetchResult>,
                          const dns::Answer&) { ++done_; });
  }
  void Run(milliseconds length) {
    clock_.Advance(length);
    for (int i = 0; i < 5; ++i) loop_->RunOnce(clock_.Now());
  }

  config::Settings settings_;
  fetch::FetchLimits limits_;
  ManualClock clock_;
  std::unique_ptr<net::EventLoop> loop_;
  std::unique_ptr<OneAddress> resolver_;
  HeldFetcher fetcher_;
  std::unique_ptr<Contacts> contacts_;
  int done_ = 0;
};

TEST_F(ContactsTest, AnAddressIsFreeOnceTheContactIsKnown) {
  Ask("http://a.example/");
  Ask("http://b.example/");
  Run(milliseconds(0));
  ASSERT_EQ(fetcher_.started.size(), 1U);
  // Not by time alone: when the server hears of it is not known.
  Run(std::chrono::seconds(60));
  ASSERT_EQ(fetcher_.started.size(), 1U);
  fetcher_.Contact(0, clock_.Now());
  Run(milliseconds(499));
  EXPECT_EQ(fetcher_.started.size(), 1U);
  Run(milliseconds(1));
  // The first is still in flight.
  ASSERT_EQ(fetcher_.started.size(), 2U);
  EXPECT_EQ(fetcher_.started[1].host, "b.example");
  fetcher_.End(0, clock_.Now());
  fetcher_.End(1, clock_.Now());
  Run(milliseconds(0));
  EXPECT_EQ(done_, 2);
}

TEST_F(ContactsTest, AHostWaitsForTheEndOfItsTransfer) {
  settings_.politeness.host_delay = std::chrono::seconds(1);
  Ask("http://a.example/1");
  Ask("http://a.example/2");
  Run(milliseconds(0));
  ASSERT_EQ(fetcher_.started.size(), 1U);
  fetcher_.Contact(0, clock_.Now());
  Run(std::chrono::seconds(60));
  EXPECT_EQ(fetcher_.started.size(), 1U);
  fetcher_.End(0, clock_.Now());
  Run(std::chrono::seconds(60));
  ASSERT_EQ(fetcher_.started.size(), 2U);
  fetcher_.End(1, clock_.Now());
}

}  // namespace
}  // namespace nephila::crawl
