// How long hosts and servers are left alone: every rule, in one place.
//
// A host waits tau_h from the end of the last transfer, a server (an address)
// tau_s from contact to contact. Both shrink with the budget B of the domain,
// tau * B_0 / B, down to a floor (IRLbot s6.1, thesis ch. VII.1; the minimums
// of ch. VIII.2: 40 s to 10 s, 1 s to 1/20 s); a server takes the mean budget
// of its domains. What a site asks for only ever lengthens the wait of its
// host: Crawl-delay, Retry-After, back-off, a multiple of the last download
// time (Mercator).
//
// A host in trouble backs off, twice as long each time in a row: it asks for
// less, or does not answer. One that does not answer so often in a row is dead:
// it is left alone for pauses that double too, and then one URL tries it. An
// answer of any kind ends its silence, a good one all of its trouble.
//
// In: settings, what is known of a host. Out: lengths and why they are so.
// Lengths and times saturate: a site may ask for any Crawl-delay.
// Threads: any. Cost: constant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "config/settings.h"
#include "item/outcome_policy.h"

namespace nephila::politeness {

using Length = std::chrono::nanoseconds;
using config::PolitenessSettings;

// No wait is longer, 36 years, and no time later, 146 years from the boot.
inline constexpr Length kLongest{int64_t{1} << 60};
inline constexpr MonoTime kFarthest{Length(int64_t{1} << 62)};

inline Length Bounded(Length length) {
  return std::clamp(length, Length::zero(), kLongest);
}
// Bounded, both.
inline Length Times(Length length, uint64_t n) {
  const auto count = static_cast<uint64_t>(Bounded(length).count());
  const auto most = static_cast<uint64_t>(kLongest.count());
  if (n != 0 && count > most / n) return kLongest;
  return Length(static_cast<int64_t>(count * n));
}
inline MonoTime After(MonoTime time, Length length) {
  const Length wait = Bounded(length);
  return time > kFarthest - wait ? kFarthest : time + wait;
}

// Why a host waits as long as it does: the longest of its reasons.
enum class DelayReason : uint8_t {
  kHostDelay = 0,
  kSiteSetting = 1,
  kCrawlDelay = 2,
  kDownloadTime = 3,
  kRetryAfter = 4,
  kBackOff = 5,
  kDeadHost = 6,
  kNotBefore = 7,  // a time that came with its URLs
  kRestart = 8,    // counts as contacted when the process began
};
inline constexpr uint8_t kDelayReasons = 9;
// "crawl-delay": for people.
std::string_view DelayReasonName(DelayReason reason);

struct Delay {
  Length length{0};
  DelayReason reason = DelayReason::kHostDelay;

  // The longer of two; the first of equals.
  void AtLeast(Length other, DelayReason why) {
    if (other > length) *this = {other, why};
  }
};

// What went wrong with a host in a row, up to now.
struct Trouble {
  bool operator==(const Trouble&) const = default;

  // As the end of a transfer says.
  void Note(item::HostStep step, const PolitenessSettings& settings);

  uint32_t failures = 0;   // no answer
  uint32_t overloads = 0;  // an answer that asks for less
};

// What of a host decides its delay.
struct HostPace {
  double budget = 0;  // of its domain; 0: not known, the budget of all
  Length crawl_delay{0};
  Length site_delay{-1};    // of the site's own setting; below 0: none
  Length last_download{0};  // how long the last transfer took
};

class DelayRules {
 public:
  DelayRules(const PolitenessSettings& settings, double reference_budget)
      : settings_(settings), reference_budget_(reference_budget) {}

  Delay HostDelay(const HostPace& pace) const;
  // Of an address whose domains have this budget on average.
  Length ServerDelay(double mean_budget) const;
  Length BackOff(const Trouble& trouble) const;
  // Whether a host that failed so often in a row is dead, and then how long it
  // is left alone before one more try.
  bool IsDead(uint32_t failures) const;
  Length DeadPause(uint32_t failures) const;
  // What a server asks for, bounded.
  Length RetryAfter(Length asked) const;

 private:
  Length Scaled(Length delay, Length floor, double budget) const;

  PolitenessSettings settings_;
  double reference_budget_;
};

}  // namespace nephila::politeness
