// MemoryPlan: how the one figure of `crawl.memory` is divided. All that a crawl
// keeps is bounded by one of these, so resident memory is flat however many
// URLs, hosts and domains are known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/settings.h"

namespace nephila::crawl {

struct MemoryPlan {
  uint64_t bodies = 0;  // of transfers
  uint64_t seen = 0;
  uint64_t caps = 0;  // 0: there are none
  uint64_t reputation = 0;
  uint64_t budget_drum = 0;
  uint64_t budget_queues = 0;
  uint64_t robots = 0;
  uint64_t ready = 0;       // queues of ready and parked URLs
  uint64_t politeness = 0;  // hosts and URLs in memory
  uint64_t dns = 0;
  uint64_t cookies = 0;
  size_t transfers = 0;  // at once

  // Between the threads and between the stages.
  uint64_t in_transit = 0;  // finished visits, on their way to the frontier
  uint64_t page_links = 0;  // of one page, which the frontier has read
  uint64_t visits = 0;      // on their way to the servers
  uint64_t steps = 0;       // URLs between two stages
  // Of pages that are read: content that was coded, and links before they are
  // resolved, each. On the frontier's thread, and on all others together.
  uint64_t frontier_page = 0;
  uint64_t thread_pages = 0;
  // Of all streams of the archive.
  uint64_t revisits = 0;
  uint64_t indexes = 0;
  size_t names = 0;  // of hosts, remembered by all downloaders

  // Numbers that follow from the shares.
  size_t ended_attempts = 0;
  uint64_t robots_ahead = 0;     // URLs that wait for a robots.txt
  uint64_t robots_requests = 0;  // requests of robots.txt that are out
  uint64_t robots_early_ends = 0;

  // Batches on disk.
  uint64_t seen_disk = 0;
  uint64_t caps_disk = 0;
  uint64_t reputation_disk = 0;
  uint64_t budget_disk = 0;
  uint64_t robots_disk = 0;
};

// The number of crawl threads that the settings ask for.
size_t CrawlThreads(const config::CrawlSettings& settings);
// URLs in memory between two stages, however long they are.
size_t StepUrls(const MemoryPlan& plan, const config::Settings& settings);

MemoryPlan PlanMemory(const config::Settings& settings);
// Requests of robots.txt that are open at a time, by `politeness.max_urls`.
uint64_t MaxRobotsRequests(const config::Settings& settings,
                           const MemoryPlan& plan);
// The settings with the plan's figures where the user gave none of his own.
config::Settings WithPlan(const MemoryPlan& plan, config::Settings settings);

}  // namespace nephila::crawl
