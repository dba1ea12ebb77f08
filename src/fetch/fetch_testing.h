// What the tests of the engine share: one that may talk to loopback
// addresses, and calls that wait for its results.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "fetch/body_pool.h"
#include "fetch/curl_fetcher.h"
#include "fetch/fetch_options.h"
#include "fetch/server_testing.h"
#include "net/address_guard.h"
#include "net/event_loop.h"

namespace nephila::fetch {

inline std::string BodyOf(const FetchResult& result) {
  std::string body;
  for (const std::string_view piece : AsPage(result).body) body.append(piece);
  return body;
}

// Real time, which can be put forward. (Waiting for sockets is real all the
// same.)
class ForwardClock final : public Clock {
 public:
  MonoTime Now() const override { return real_.Now() + ahead_; }
  WallTime WallNow() const override { return real_.WallNow() + ahead_; }
  Result<std::string> BootId() const override { return real_.BootId(); }
  bool WaitUntil(CondVar& changed, Mutex& mutex,
                 MonoTime deadline) const override NEPHILA_REQUIRES(mutex) {
    return real_.WaitUntil(changed, mutex, deadline - ahead_);
  }
  void Advance(std::chrono::nanoseconds length) { ahead_ += length; }

 private:
  RealClock real_;
  std::chrono::nanoseconds ahead_{};
};

// Settings are the defaults but for what a test changes before Make.
class Engine : public FetchHandler {
 public:
  Engine() { agent.contact = "https://example.org/bot"; }
  ~Engine() override = default;

  void Make() {
    auto made_options = FetchOptions::Make(agent, settings);
    ASSERT_TRUE(made_options.has_value()) << made_options.error().message;
    options = *std::move(made_options);
    guard = net::AddressGuard({*net::Network::Parse(allow)});
    auto made_loop = net::EventLoop::Make(clock);
    ASSERT_TRUE(made_loop.has_value());
    loop = *std::move(made_loop);
    auto made_pool = BodyPool::Make(body_memory);
    ASSERT_TRUE(made_pool.has_value());
    pool = *std::move(made_pool);
    share = std::make_unique<BodyShare>(*pool);
    auto made = CurlFetcher::Make(
        {*loop, options, guard, *share, rate.get(), cookies.get(), budget});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    fetcher = *std::move(made);
  }

  struct Contact {
    uint64_t id;
    MonoTime when;
    bool fresh;
  };
  void OnContact(uint64_t id, MonoTime when, bool fresh) override {
    EXPECT_FALSE(results.contains(id));
    contacts.push_back({id, when, fresh});
  }
  void OnFetched(std::unique_ptr<FetchResult> result) override {
    const uint64_t id = result->id;
    EXPECT_TRUE(results.emplace(id, std::move(result)).second);
  }

  FetchRequest RequestTo(const ScriptedServer& server,
                         std::string_view path = "/") {
    FetchRequest request;
    request.id = ++last_id;
    request.host = "test.example";
    request.port = server.port();
    request.address = server.address();
    request.url = "http://test.example:" + std::to_string(request.port) +
                  std::string(path);
    return request;
  }

  // Until nothing is in flight; a test that waits for ever is ended by its
  // own timeout.
  void Run() {
    while (fetcher->in_flight() > 0) {
      loop->RunOnce(loop->clock().Now() + std::chrono::seconds(1));
    }
  }
  uint64_t Start(FetchRequest request) {
    const uint64_t id = request.id;
    fetcher->Start(std::move(request), this);
    return id;
  }
  std::unique_ptr<FetchResult> Take(uint64_t id) {
    const auto found = results.find(id);
    if (found == results.end()) return nullptr;
    std::unique_ptr<FetchResult> result = std::move(found->second);
    results.erase(found);
    return result;
  }
  std::unique_ptr<FetchResult> Fetch(FetchRequest request) {
    const uint64_t id = Start(std::move(request));
    Run();
    return Take(id);
  }

  config::AgentSettings agent;
  config::FetchSettings settings;
  std::string allow = "127.0.0.0/8";
  ForwardClock clock;
  FetchOptions options;
  net::AddressGuard guard;
  uint64_t body_memory = uint64_t{64} << 20;
  std::unique_ptr<BodyPool> pool;
  std::unique_ptr<BodyShare> share;
  // Set before Make.
  std::unique_ptr<RateLimit> rate;
  std::unique_ptr<CookieJar> cookies;
  ConnectionBudget* budget = nullptr;  // outlives this
  std::unique_ptr<net::EventLoop> loop;
  std::unique_ptr<CurlFetcher> fetcher;
  std::map<uint64_t, std::unique_ptr<FetchResult>> results;
  std::vector<Contact> contacts;
  uint64_t last_id = 0;
};

}  // namespace nephila::fetch
