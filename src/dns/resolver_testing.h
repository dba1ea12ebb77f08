// What the tests of the resolver have in common: a loop, answers collected, and
// the world run until something holds.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "dns/cares_resolver.h"
#include "dns/dns_server_testing.h"
#include "dns/message.h"
#include "net/address_guard.h"
#include "net/event_loop.h"

namespace nephila::dns {

template <typename ClockType>
class ResolverTestOf : public testing::Test {
 protected:
  void SetUp() override {
    auto made = net::EventLoop::Make(clock_);
    ASSERT_TRUE(made);
    loop_ = *std::move(made);
    settings_.timeout = std::chrono::seconds(10);
    settings_.rate = 1'000'000;
  }

  void TearDown() override {
    if (resolver_ == nullptr) return;
    // Nothing vanished, nothing came from nowhere.
    EXPECT_EQ(resolver_->account().Imbalance(), 0);
  }

  TestDnsServer& Serve(TestDnsServer::Script script) {
    servers_.push_back(
        std::make_unique<TestDnsServer>(*loop_, std::move(script)));
    settings_.servers.push_back(servers_.back()->Address());
    return *servers_.back();
  }

  void Allow(std::string_view network) {
    guard_ = net::AddressGuard({*net::Network::Parse(network)});
  }

  void Start() {
    auto made = CaresResolver::Make(*loop_, guard_, settings_);
    ASSERT_TRUE(made) << made.error().message;
    resolver_ = *std::move(made);
  }

  // Far longer than anything here takes, then it fails.
  void RunUntil(const std::function<bool()>& done) {
    const RealClock real;
    const MonoTime end = real.Now() + std::chrono::minutes(2);
    while (!done()) {
      ASSERT_LT(real.Now(), end) << "it did not come to pass";
      loop_->RunOnce(clock_.Now() + std::chrono::milliseconds(5));
    }
  }

  void Ask(std::string_view host) {
    resolver_->Resolve(
        host, [this](const Answer& answer) { answers_.push_back(answer); });
  }

  Answer Resolve(std::string_view host) {
    if (resolver_ == nullptr) Start();
    const size_t before = answers_.size();
    Ask(host);
    EXPECT_EQ(answers_.size(), before);  // never inside Resolve
    RunUntil([&] { return answers_.size() > before; });
    return answers_.size() > before ? answers_.back() : Answer();
  }

  ClockType clock_;
  std::unique_ptr<net::EventLoop> loop_;
  net::AddressGuard guard_;
  config::DnsSettings settings_;
  std::vector<std::unique_ptr<TestDnsServer>> servers_;
  std::unique_ptr<CaresResolver> resolver_;
  std::vector<Answer> answers_;
};

inline std::vector<std::string> AddressTexts(const Answer& answer) {
  std::vector<std::string> texts;
  texts.reserve(answer.addresses.size());
  for (const auto& address : answer.addresses) {
    texts.push_back(address.ToString());
  }
  return texts;
}

}  // namespace nephila::dns
