// PageWatch: which pages a crawler has fetched whole, read from the log of the
// simulated web while that is written (request_log.h).
//   Threads: one. Memory: the pages, and the open connections.
//   Cost: linear in what was logged since the last Read.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/table_hash.h"

namespace nephila::sim {

class PageWatch {
 public:
  // Pages of the hosts for which `counts` is true; robots.txt is no page.
  PageWatch(std::string log, std::function<bool(std::string_view)> counts)
      : log_(std::move(log)), counts_(std::move(counts)) {}

  // Takes what was logged since the last call. The caller flushes the log
  // (Simulation::FlushLog) before.
  void Read();

  // Different pages with status 200, as "HOST PATH".
  const std::set<std::string>& pages() const { return pages_; }

 private:
  void Take(std::string_view line);

  const std::string log_;
  const std::function<bool(std::string_view)> counts_;
  uint64_t offset_ = 0;
  std::unordered_map<std::string, std::string, TableHash> open_;  // connections
  std::set<std::string> pages_;
};

}  // namespace nephila::sim
