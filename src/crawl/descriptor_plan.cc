#include "crawl/descriptor_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "caps/caps.h"
#include "crawl/memory_plan.h"
#include "drum/tiers.h"

namespace nephila::crawl {
namespace {

// Fewer connections are no crawl.
constexpr size_t kLeastConnections = 16;
// Standard input and output, journal, lock, reserve, manifest, contact log,
// history, quarantine, rules of robots.txt, nephila.log; and what is open for a
// moment: a folder that is listed or synced, an archive that is read again.
constexpr size_t kJobFiles = 24;
// A batch that gathers and one that is merged, two files each; results, the run
// that is written, journal. Runs come on top.
constexpr size_t kDrumFiles = 7;
constexpr size_t kFewRuns = 3;
// The commit log and a file that is synced. Segment files come on top.
constexpr size_t kQueueFiles = 2;
constexpr size_t kFewSegmentFiles = 3;
// disk_queue::QueueSetOptions::max_open_files.
constexpr size_t kMostSegmentFiles = 16;
// Of a thread that downloads: epoll, eventfd, archive, index, crawl.log, one
// more while archives change, two handles of libcurl with a pair each.
constexpr size_t kThreadFiles = 10;
// Event loops of frontier and dispatcher.
constexpr size_t kLoopFiles = 4;
// Pairs of libcurl, for each handle that carries further transfers.
constexpr size_t kHandleFiles = 2;
// A name server has a socket for UDP and one for TCP with EDNS and without.
constexpr size_t kResolverFiles = 4;
// A further one for each 200 questions in flight.
constexpr size_t kMostQuestionSockets = 10;
// Listeners of the control socket and of control.http, and some clients.
constexpr size_t kControlFiles = 6;
// Where c-ares reads them from the system's file.
constexpr size_t kSystemServers = 2;

struct Stores {
  size_t drums = 0;
  size_t queues = 0;
};

Stores StoresOf(const config::Settings& settings) {
  Stores stores{.drums = 2, .queues = 2};  // seen, robots; robots, ready
  if (settings.crawl.budgets) {
    stores.drums += 2;  // reputation, budget
    stores.queues += 1;
  }
  if (caps::Caps::AreSet(settings.scope)) stores.drums += 2;
  return stores;
}

size_t NameServers(const config::DnsSettings& settings) {
  return settings.servers.empty() ? kSystemServers : settings.servers.size();
}

// The same in crawls of all sizes.
size_t FixedFiles(const config::Settings& settings) {
  return kJobFiles + kLoopFiles + kControlFiles +
         kThreadFiles * CrawlThreads(settings.crawl) +
         kResolverFiles * NameServers(settings.dns);
}

size_t LeastReserve(const config::Settings& settings) {
  const Stores stores = StoresOf(settings);
  return FixedFiles(settings) + stores.drums * (kDrumFiles + kFewRuns) +
         stores.queues * (kQueueFiles + kFewSegmentFiles);
}

size_t MostReserve(const config::Settings& settings) {
  const Stores stores = StoresOf(settings);
  const size_t transfers = PlanMemory(settings).transfers;
  const auto each = static_cast<size_t>(settings.fetch.multi_transfers);
  return FixedFiles(settings) + stores.drums * (kDrumFiles + drum::kMostRuns) +
         stores.queues * (kQueueFiles + kMostSegmentFiles) +
         kHandleFiles * (transfers / each) +
         kMostQuestionSockets * NameServers(settings.dns);
}

}  // namespace

size_t LeastDescriptors(const config::Settings& settings) {
  return LeastReserve(settings) + kLeastConnections;
}

Result<DescriptorPlan> PlanDescriptors(const config::Settings& settings,
                                       size_t limit) {
  const size_t least = LeastDescriptors(settings);
  if (limit < least) {
    return Unexpected(
        Error{ErrorCode::kUnsupported,
              fmt::format("ulimit -n {} is too low: at least {} open files are "
                          "needed for this crawl; raise the hard limit of open "
                          "files (docs/tuning.md)",
                          limit, least)});
  }
  DescriptorPlan plan;
  plan.limit = limit;
  const size_t least_reserve = LeastReserve(settings);
  plan.reserved = std::clamp(limit / 2, least_reserve,
                             std::max(least_reserve, MostReserve(settings)));
  plan.reserved = std::min(plan.reserved, limit - kLeastConnections);
  plan.connections = limit - plan.reserved;
  plan.transfers = std::min(PlanMemory(settings).transfers, plan.connections);
  plan.max_descriptor = static_cast<int>(std::min<size_t>(
      limit - plan.reserved / 4, std::numeric_limits<int>::max()));
  return plan;
}

}  // namespace nephila::crawl
