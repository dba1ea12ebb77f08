#include "bench/fetch_memory.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "bench/fetch_target.h"
#include "bench/process.h"
#include "fetch/curl_fetcher.h"

namespace nephila::bench {
namespace {

constexpr std::chrono::minutes kPatience(5);

class Counter final : public fetch::FetchHandler {
 public:
  void OnFetched(std::unique_ptr<fetch::FetchResult> result) override {
    ++count_;
    error_ = std::move(result->error);
  }
  size_t count() const { return count_; }
  const std::string& error() const { return error_; }

 private:
  size_t count_ = 0;
  std::string error_;
};

}  // namespace

Result<HeldMemory> HoldTransfers(const cli::Setup& setup,
                                 const fetch::TestNginx& nginx,
                                 size_t transfers, bool https) {
  const RealClock clock;
  config::FetchSettings settings = setup.settings.fetch;
  settings.min_speed_bytes = 0;
  settings.connect_timeout = settings.first_byte_timeout = settings.timeout =
      kPatience;
  NEPHILA_TRY(const auto options,
              fetch::FetchOptions::Make(setup.settings.agent, settings));
  NEPHILA_TRY(const auto loopback, net::Network::Parse("127.0.0.0/8"));
  const net::AddressGuard guard({loopback});
  NEPHILA_TRY(auto loop, net::EventLoop::Make(clock));
  constexpr uint64_t kBlock = fetch::BodyPool::kBlockBytes;
  NEPHILA_TRY(auto pool, fetch::BodyPool::Make(4 * transfers * kBlock));
  fetch::BodyShare share(*pool);
  Counter counter;
  NEPHILA_TRY(auto fetcher,
              fetch::CurlFetcher::Make({*loop, options, guard, share}));
  const uint64_t before = ResidentBytes();
  const auto targets = NginxTargets(nginx, transfers);
  for (size_t i = 0; i < transfers; ++i) {
    fetch::FetchRequest request;
    request.id = i;
    request.https = https;
    request.host = targets[i].host;
    request.port = https ? fetch::TestNginx::kTls13 : fetch::TestNginx::kPlain;
    request.address = nginx.address();
    request.url = "https://" + request.host + "/slow";
    fetcher->Start(std::move(request), &counter);
  }
  const MonoTime give_up = clock.Now() + kPatience;
  while (share.held_bytes() < transfers * kBlock && counter.count() == 0 &&
         clock.Now() < give_up) {
    loop->RunOnce(clock.Now() + std::chrono::seconds(1));
  }
  if (share.held_bytes() < transfers * kBlock) {
    return Unexpected(
        Error{ErrorCode::kIo, "not all transfers began: " + counter.error()});
  }
  HeldMemory held;
  held.body_bytes = share.held_bytes();
  // A block of which little was used takes a page of memory or two.
  const uint64_t resident = ResidentBytes() - before;
  held.engine_bytes = resident - std::min(resident, transfers * 4096);
  fetcher.reset();
  return held;
}

}  // namespace nephila::bench
