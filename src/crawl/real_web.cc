#include "crawl/real_web.h"

#include "dns/cares_resolver.h"
#include "fetch/curl_fetcher.h"

namespace nephila::crawl {

RealWeb::~RealWeb() = default;

Result<std::unique_ptr<RealWeb>> RealWeb::Make(
    const config::Settings& settings, const url::PublicSuffixList& suffixes,
    const Clock& clock, fetch::ConnectionBudget* connections) {
  std::unique_ptr<RealWeb> web(new RealWeb(settings, connections));
  NEPHILA_TRY(web->options_,
              fetch::FetchOptions::Make(settings.agent, settings.fetch));
  NEPHILA_TRY(web->guard_, net::AddressGuard::Make(settings.guard));
  NEPHILA_TRY(web->pool_,
              fetch::BodyPool::Make(settings.fetch.body_memory_bytes));
  web->rate_ = std::make_unique<fetch::RateLimit>(settings.fetch, clock);
  if (settings.fetch.cookies) {
    web->cookies_ =
        std::make_unique<fetch::CookieJar>(settings.fetch, suffixes, clock);
  }
  return web;
}

Result<std::unique_ptr<dns::Resolver>> RealWeb::MakeResolver(
    net::EventLoop& loop) {
  NEPHILA_TRY(auto resolver,
              dns::CaresResolver::Make(loop, guard_, settings_.dns));
  return std::unique_ptr<dns::Resolver>(std::move(resolver));
}

Result<std::unique_ptr<fetch::Fetcher>> RealWeb::MakeFetcher(
    net::EventLoop& loop) {
  shares_.push_back(std::make_unique<fetch::BodyShare>(*pool_));
  NEPHILA_TRY(auto fetcher, fetch::CurlFetcher::Make(
                                {loop, options_, guard_, *shares_.back(),
                                 rate_.get(), cookies_.get(), connections_}));
  return std::unique_ptr<fetch::Fetcher>(std::move(fetcher));
}

void RealWeb::SetRates(const config::FetchSettings& settings) {
  rate_->SetPagesPerSecond(
      static_cast<uint64_t>(settings.max_pages_per_second));
  rate_->SetBytesPerSecond(settings.max_bytes_per_second);
}

}  // namespace nephila::crawl
