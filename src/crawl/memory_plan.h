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

  // Batches on disk.
  uint64_t seen_disk = 0;
  uint64_t caps_disk = 0;
  uint64_t reputation_disk = 0;
  uint64_t budget_disk = 0;
  uint64_t robots_disk = 0;
};

MemoryPlan PlanMemory(const config::Settings& settings);
// The settings with the plan's figures where the user gave none of his own.
config::Settings WithPlan(const MemoryPlan& plan, config::Settings settings);

}  // namespace nephila::crawl
