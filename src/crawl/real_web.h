// RealWeb: libcurl and c-ares, and what all crawl threads share of them: the
// memory for bodies, the limit of the rate, the budget of connections, the
// cookies, the guard.
//   In: settings   Out: resolvers and fetchers, one a loop   Threads: web.h
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/web.h"
#include "fetch/body_pool.h"
#include "fetch/connection_budget.h"
#include "fetch/cookie_jar.h"
#include "fetch/fetch_options.h"
#include "fetch/rate_limit.h"
#include "net/address_guard.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

class RealWeb final : public Web {
 public:
  // All of it outlives this. Without a budget connections have no limit.
  static Result<std::unique_ptr<RealWeb>> Make(
      const config::Settings& settings, const url::PublicSuffixList& suffixes,
      const Clock& clock, fetch::ConnectionBudget* connections);
  ~RealWeb() override;

  Result<std::unique_ptr<dns::Resolver>> MakeResolver(
      net::EventLoop& loop) override;
  Result<std::unique_ptr<fetch::Fetcher>> MakeFetcher(
      net::EventLoop& loop) override;
  const fetch::FetchLimits& limits() const override { return options_.limits; }
  void SetRates(const config::FetchSettings& settings) override;
  const fetch::BodyPool& bodies() const { return *pool_; }

 private:
  RealWeb(const config::Settings& settings,
          fetch::ConnectionBudget* connections)
      : settings_(settings), connections_(connections) {}

  const config::Settings& settings_;
  fetch::ConnectionBudget* const connections_;
  fetch::FetchOptions options_;
  net::AddressGuard guard_;
  std::unique_ptr<fetch::BodyPool> pool_;
  std::vector<std::unique_ptr<fetch::BodyShare>> shares_;
  std::unique_ptr<fetch::RateLimit> rate_;
  std::unique_ptr<fetch::CookieJar> cookies_;
};

}  // namespace nephila::crawl
