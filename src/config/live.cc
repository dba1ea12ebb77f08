#include "config/live.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "config/table.h"

namespace nephila::config {
namespace {

constexpr auto kLive = std::to_array<std::string_view>({
    "crawl.checkpoint_interval",
    "crawl.max_bytes",
    "crawl.max_pages",
    "crawl.max_time",
    "crawl.max_transfers",
    "crawl.sync_interval",
    "disk.floor",
    "disk.margin",
    "fetch.max_bytes_per_second",
    "fetch.max_pages_per_second",
    "log.level",
    "politeness.host_delay",
    "politeness.host_delay_floor",
    "politeness.server_delay",
    "politeness.server_delay_floor",
    "politeness.site_delays",
    "scope.block_interval",
});
static_assert(std::is_sorted(kLive.begin(), kLive.end()));

}  // namespace

std::span<const std::string_view> LiveSettings() { return kLive; }

bool IsLive(std::string_view name) {
  return std::binary_search(kLive.begin(), kLive.end(), name);
}

Error NotLive(std::string_view name) {
  return {ErrorCode::kInvalidArgument,
          Printable(name) +
              " cannot change while the crawl runs; stop it and start it with "
              "--set"};
}

void TakeLive(const Settings& from, Settings* to) {
  for (const std::string_view name : kLive) {
    const Row* row = FindRow(AllRows(), name);
    NEPHILA_CHECK(row != nullptr);
    row->set(to, row->get(&from));
  }
}

}  // namespace nephila::config
