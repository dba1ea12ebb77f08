#include "crawl/memory_plan.h"

#include <algorithm>
#include <thread>

#include "caps/caps.h"
#include "crawl/ended_attempts.h"

namespace nephila::crawl {
namespace {

// What no plan reaches: the program and its libraries, stacks, the archive's
// buffers, what malloc leaves between blocks.
constexpr uint64_t kFixedBytes = uint64_t{40} << 20;
// Of a transfer with TLS, besides its body (docs/performance.md).
constexpr uint64_t kTransferBytes = 100 << 10;
// Of a host in memory, with some URLs.
constexpr uint64_t kHostBytes = 1024;
constexpr uint64_t kParkedBytes = 256;
constexpr uint64_t kUrlBytes = 400;
// Of a crawl thread: its loop, the engine, TLS, a stack.
constexpr uint64_t kThreadBytes = uint64_t{2} << 20;
constexpr uint64_t kAttemptBytes = 80;
constexpr uint64_t kNameBytes = 48;
// Of an open request of robots.txt, its URL included (robots/request_queue.h).
constexpr uint64_t kRequestBytes = 700;
constexpr uint64_t kEarlyEndBytes = 72;
// URLs of one step, at most.
constexpr size_t kMostStepUrls = 1000;
constexpr size_t kFewStepUrls = 16;

}  // namespace

size_t CrawlThreads(const config::CrawlSettings& settings) {
  if (settings.threads > 0) return static_cast<size_t>(settings.threads);
  return std::max<size_t>(std::thread::hardware_concurrency() / 2, 1);
}

size_t StepUrls(const MemoryPlan& plan, const config::Settings& settings) {
  // A record has a URL, its parent and the target of a redirect.
  const uint64_t longest = 3 * settings.url.max_length_bytes + 256;
  return std::clamp<size_t>(plan.steps / longest, kFewStepUrls, kMostStepUrls);
}

MemoryPlan PlanMemory(const config::Settings& settings) {
  const uint64_t all = settings.crawl.memory_bytes;
  const uint64_t fixed =
      kFixedBytes + (CrawlThreads(settings.crawl) - 1) * kThreadBytes;
  const uint64_t left = all - std::min(all / 2, fixed);
  const auto share = [left](uint64_t thousandths) {
    return left / 1000 * thousandths;
  };
  MemoryPlan plan;
  plan.bodies = std::min(share(150), settings.fetch.body_memory_bytes);
  plan.cookies = std::min(share(10), settings.fetch.cookie_memory_bytes);
  plan.dns = std::min(share(10), settings.dns.cache_memory_bytes);
  const uint64_t engine = share(100);
  plan.transfers = std::clamp<uint64_t>(engine / kTransferBytes, 16, 10'000);
  if (settings.crawl.max_transfers > 0) {
    plan.transfers = static_cast<size_t>(settings.crawl.max_transfers);
  }
  plan.politeness = share(120);
  plan.visits = plan.politeness * 2 / 5;
  plan.ready = share(30);
  plan.robots = share(80);
  // All of these have enough at some size; the rest is for `seen`.
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  plan.in_transit = std::min(share(30), 64 * kMiB);
  plan.page_links = std::min(share(30), settings.parse.max_links_size);
  plan.steps = std::min(share(4), 8 * kMiB);
  plan.frontier_page = std::min(share(30), settings.fetch.max_content_bytes);
  plan.thread_pages = std::min(share(20), 128 * kMiB);
  plan.revisits = std::min(share(20), CrawlThreads(settings.crawl) *
                                          settings.store.revisit_memory_bytes);
  plan.indexes = std::min(share(20), CrawlThreads(settings.crawl) *
                                         settings.store.index_memory_bytes);
  const uint64_t attempts = std::min(share(12), 80 * kMiB);
  plan.ended_attempts =
      std::clamp<size_t>(attempts / kAttemptBytes, 8192, EndedAttempts::kMost);
  plan.names = static_cast<size_t>(std::min(share(3), 16 * kMiB) / kNameBytes);
  plan.robots_requests =
      std::clamp<uint64_t>(plan.robots / 8 / kRequestBytes, 16, 200'000);
  plan.robots_early_ends = std::clamp<uint64_t>(
      plan.robots / 16 / kEarlyEndBytes, 1024, uint64_t{64} << 10);
  plan.robots_ahead = std::clamp<uint64_t>(plan.robots / 64, 1000, 200'000);
  const uint64_t taken =
      plan.bodies + plan.cookies + plan.dns + engine + plan.politeness +
      plan.ready + plan.robots + plan.in_transit + plan.page_links +
      3 * plan.steps + 3 * plan.frontier_page + 2 * plan.thread_pages +
      plan.revisits + plan.indexes + attempts + plan.names * kNameBytes;
  const uint64_t rest = left - std::min(left, taken);
  if (settings.crawl.budgets) {
    plan.seen = rest / 1000 * 490;
    plan.reputation = rest / 1000 * 170;
    plan.budget_drum = rest / 1000 * 210;
    plan.budget_queues = rest / 1000 * 130;
  } else {
    plan.seen = rest;
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

uint64_t MaxRobotsRequests(const config::Settings& settings,
                           const MemoryPlan& plan) {
  return static_cast<uint64_t>(
      std::clamp<int64_t>(settings.politeness.max_urls / 2, 16,
                          static_cast<int64_t>(plan.robots_requests)));
}

config::Settings WithPlan(const MemoryPlan& plan, config::Settings settings) {
  settings.fetch.body_memory_bytes = plan.bodies;
  settings.fetch.cookie_memory_bytes = plan.cookies;
  settings.dns.cache_memory_bytes = plan.dns;
  const auto hosts = static_cast<int64_t>(plan.politeness * 2 / 5 / kHostBytes);
  const auto parked = static_cast<int64_t>(plan.politeness / 5 / kParkedBytes);
  const auto urls = static_cast<int64_t>(plan.visits / kUrlBytes);
  settings.politeness.max_hosts =
      std::min(settings.politeness.max_hosts, std::max<int64_t>(hosts, 16));
  settings.politeness.max_urls =
      std::min(settings.politeness.max_urls, std::max<int64_t>(urls, 64));
  settings.politeness.max_parked =
      std::min(settings.politeness.max_parked, std::max<int64_t>(parked, 64));
  settings.parse.max_tag_size =
      std::min(settings.parse.max_tag_size,
               std::max<decltype(settings.parse.max_tag_size)>(
                   plan.in_transit / 8, 64 << 10));
  // One body leaves room for others in the pool, and one is read again by the
  // frontier's thread.
  settings.fetch.max_body_bytes =
      std::min(settings.fetch.max_body_bytes, plan.bodies / 2);
  settings.fetch.max_content_bytes = plan.frontier_page;
  return settings;
}

}  // namespace nephila::crawl
