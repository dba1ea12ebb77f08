#include "control/limit.h"

#include <fmt/core.h>

#include "base/text.h"

namespace nephila::control {
namespace {

using crawl::CrawlState;

// So near to a rate that was set the crawl is held by it, not by the web.
constexpr double kNear = 0.9;

// "1 host waits", "2 hosts wait".
std::string Count(uint64_t number, std::string_view one,
                  std::string_view many) {
  return Grouped(number) + " " + std::string(number == 1 ? one : many);
}

bool IsReached(uint64_t limit, double rate) {
  return limit > 0 && rate >= kNear * static_cast<double>(limit);
}

std::string InFlight(uint64_t count) {
  return Count(count, "request is in flight", "requests are in flight");
}

// What it does not do now because somebody, or something, holds it.
std::string HeldText(const LimitFacts& facts) {
  switch (facts.state) {
    case CrawlState::kStopped:
      return facts.end.empty() ? "stopped" : "stopped: " + facts.end;
    case CrawlState::kStopping:
      return fmt::format("it ends ({}); {}", facts.end,
                         facts.in_flight > 0 ? InFlight(facts.in_flight)
                                             : "its last checkpoint is made");
    case CrawlState::kPaused:
      return facts.in_flight > 0 ? "paused; " + InFlight(facts.in_flight)
                                 : "paused";
    case CrawlState::kWaitingForDisk:
      return facts.disk;
    case CrawlState::kRunning:
      break;
  }
  if (facts.is_behind) {
    return "the disk: pages that were fetched wait in memory for the stages "
           "that take their links";
  }
  if (IsReached(facts.max_pages_per_second, facts.pages_per_second)) {
    return fmt::format(
        "the {} pages per second that were set "
        "(fetch.max_pages_per_second)",
        Grouped(facts.max_pages_per_second));
  }
  if (IsReached(facts.max_bytes_per_second, facts.bytes_per_second)) {
    return fmt::format(
        "the {} per second that were set "
        "(fetch.max_bytes_per_second)",
        HumanSize(facts.max_bytes_per_second));
  }
  if (facts.most_in_flight > 0 && facts.in_flight >= facts.most_in_flight) {
    return fmt::format("transfers: all {} are in flight (crawl.max_transfers)",
                       Grouped(facts.most_in_flight));
  }
  return "";
}

std::string AddressText(const LimitFacts& facts) {
  std::string text = Count(facts.hosts_due, "host waits for its turn",
                           "hosts wait for their turn") +
                     " at an address (politeness.server_delay)";
  if (facts.hosts_waiting > 0) {
    text += fmt::format(", {} for {}", Grouped(facts.hosts_waiting),
                        facts.hosts_waiting == 1 ? "its delay" : "their delay");
  }
  return text;
}

std::string HostsText(const LimitFacts& facts) {
  std::string text = Count(facts.hosts_waiting, "host waits for its delay",
                           "hosts wait for their delay");
  if (facts.next_host && facts.next_host->count() > 0) {
    text += ", the first for " + HumanDuration(*facts.next_host);
  }
  if (facts.hosts_due > 0) {
    text += fmt::format("; {} for a turn at an address", facts.hosts_due);
  }
  if (facts.ready == 0) return text + "; nothing else is ready";
  return text + "; " +
         Count(facts.ready, "URL is ready behind them",
               "URLs are ready behind them");
}

}  // namespace

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ' ');
  }
  return digits;
}

std::string LimitText(const LimitFacts& facts) {
  if (std::string held = HeldText(facts); !held.empty()) return held;
  if (facts.hosts_due > facts.hosts_waiting) return AddressText(facts);
  if (facts.hosts_waiting > 0) return HostsText(facts);
  if (facts.resolving > 0) {
    return "names: " + Count(facts.resolving, "URL waits", "URLs wait") +
           " for the address of a host";
  }
  if (facts.in_flight > 0) {
    return InFlight(facts.in_flight) + "; nothing else is ready";
  }
  if (facts.ready > 0) {
    return Count(facts.ready, "URL is", "URLs are") + " about to be asked for";
  }
  if (facts.for_robots > 0) {
    return Count(facts.for_robots, "URL waits", "URLs wait") +
           " for a robots.txt";
  }
  if (facts.waiting > facts.parked) {
    return Count(facts.waiting - facts.parked, "URL waits", "URLs wait") +
           " for a pass of the stages on disk";
  }
  if (facts.parked > 0) {
    std::string text = "nothing is left but " +
                       Count(facts.parked, "URL that waits", "URLs that wait");
    if (facts.next_parked) {
      text += " until " + FormatUtc(*facts.next_parked);
    }
    return text;
  }
  return "nothing is left";
}

}  // namespace nephila::control
