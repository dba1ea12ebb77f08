// Web: what a crawl reaches the web by. RealWeb is libcurl and c-ares; tests
// have a web in one process.
//   Threads: made by one; what it makes belongs to the thread of its loop.
#pragma once

#include <memory>

#include "base/result.h"
#include "config/settings.h"
#include "dns/resolver.h"
#include "fetch/fetcher.h"
#include "net/event_loop.h"

namespace nephila::crawl {

class Web {
 public:
  virtual ~Web() = default;
  virtual Result<std::unique_ptr<dns::Resolver>> MakeResolver(
      net::EventLoop& loop) = 0;
  // It must not outlive the web.
  virtual Result<std::unique_ptr<fetch::Fetcher>> MakeFetcher(
      net::EventLoop& loop) = 0;
  virtual const fetch::FetchLimits& limits() const = 0;
  // Pages and bytes a second, from now on; by any thread. A web in memory has
  // no limit of its own.
  virtual void SetRates(const config::FetchSettings& /*settings*/) {}
};

}  // namespace nephila::crawl
