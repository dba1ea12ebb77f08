#include "crawl/memory_plan.h"

#include <algorithm>

#include "caps/caps.h"

namespace nephila::crawl {
namespace {

// What no plan reaches: the program and its libraries, stacks, the archive's
// buffers, what malloc leaves between blocks.
constexpr uint64_t kFixedBytes = uint64_t{40} << 20;
// Of a transfer with TLS, besides its body (docs/performance.md).
constexpr uint64_t kTransferBytes = 100 << 10;
// Of a host in memory, with some URLs.
constexpr uint64_t kHostBytes = 1024;
constexpr uint64_t kUrlBytes = 400;

}  // namespace

MemoryPlan PlanMemory(const config::Settings& settings) {
  const uint64_t all = settings.crawl.memory_bytes;
  const uint64_t left = all - std::min(all / 2, kFixedBytes);
  const auto share = [left](uint64_t thousandths) {
    return left / 1000 * thousandths;
  };
  MemoryPlan plan;
  plan.bodies = std::min(share(200), settings.fetch.body_memory_bytes);
  plan.cookies = std::min(share(20), settings.fetch.cookie_memory_bytes);
  plan.dns = std::min(share(20), settings.dns.cache_memory_bytes);
  const uint64_t engine = share(150);
  plan.transfers = std::clamp<uint64_t>(engine / kTransferBytes, 16, 10'000);
  if (settings.crawl.max_transfers > 0) {
    plan.transfers = static_cast<size_t>(settings.crawl.max_transfers);
  }
  plan.politeness = share(150);
  plan.ready = share(50);
  plan.robots = share(100);
  if (settings.crawl.budgets) {
    plan.seen = share(160);
    plan.reputation = share(50);
    plan.budget_drum = share(60);
    plan.budget_queues = share(40);
  } else {
    plan.seen = share(310);
  }
  const uint64_t disk = settings.crawl.disk_bytes;
  if (settings.crawl.budgets) {
    plan.seen_disk = disk / 100 * 50;
    plan.reputation_disk = disk / 100 * 15;
    plan.budget_disk = disk / 100 * 20;
    plan.robots_disk = disk / 100 * 15;
  } else {
    plan.seen_disk = disk / 100 * 80;
    plan.robots_disk = disk / 100 * 20;
  }
  if (caps::Caps::AreSet(settings.scope)) {
    // What caps let through `seen` has let through before: they have as many
    // tuples as that has new URLs, and smaller records.
    plan.caps = plan.seen / 3;
    plan.seen -= plan.caps;
    plan.caps_disk = plan.seen_disk / 3;
    plan.seen_disk -= plan.caps_disk;
  }
  return plan;
}

config::Settings WithPlan(const MemoryPlan& plan, config::Settings settings) {
  settings.fetch.body_memory_bytes = plan.bodies;
  settings.fetch.cookie_memory_bytes = plan.cookies;
  settings.dns.cache_memory_bytes = plan.dns;
  const auto hosts = static_cast<int64_t>(plan.politeness / 2 / kHostBytes);
  const auto urls = static_cast<int64_t>(plan.politeness / 2 / kUrlBytes);
  settings.politeness.max_hosts =
      std::min(settings.politeness.max_hosts, std::max<int64_t>(hosts, 16));
  settings.politeness.max_urls =
      std::min(settings.politeness.max_urls, std::max<int64_t>(urls, 64));
  return settings;
}

}  // namespace nephila::crawl
