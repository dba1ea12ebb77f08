#include "politeness/delays.h"

#include <algorithm>
#include <array>

namespace nephila::politeness {
namespace {

constexpr std::array<std::string_view, kDelayReasons> kNames = {
    "host-delay", "site-setting", "crawl-delay", "download-time", "retry-after",
    "back-off",   "dead-host",    "not-before",  "restart"};

uint32_t OneMore(uint32_t count) {
  return count < UINT32_MAX ? count + 1 : count;
}

// `first` doubled n times, at most `most`.
Length Doubled(Length first, uint32_t n, Length most) {
  Length length = std::min(first, most);
  for (; n > 0 && length < most; --n) {
    length = length > most / 2 ? most : length * 2;
  }
  return length;
}

}  // namespace

std::string_view DelayReasonName(DelayReason reason) {
  return kNames[static_cast<size_t>(reason)];
}

void Trouble::Note(item::HostStep step, const PolitenessSettings& settings) {
  switch (step) {
    case item::HostStep::kNone:
      break;
    case item::HostStep::kWell:
      *this = {};
      break;
    case item::HostStep::kBackOff:
      failures = 0;
      overloads = OneMore(overloads);
      break;
    case item::HostStep::kTrouble:
      failures = OneMore(failures);
      break;
    case item::HostStep::kDead:
      failures = std::max(OneMore(failures),
                          static_cast<uint32_t>(settings.dead_after));
      break;
  }
}

Length DelayRules::Scaled(Length delay, Length floor, double budget) const {
  if (!(budget > reference_budget_)) return delay;
  const double scaled =
      static_cast<double>(delay.count()) * reference_budget_ / budget;
  const Length length(static_cast<int64_t>(scaled));
  return std::min(delay, std::max(floor, length));
}

Delay DelayRules::HostDelay(const HostPace& pace) const {
  Delay delay{
      Scaled(settings_.host_delay, settings_.host_delay_floor, pace.budget),
      DelayReason::kHostDelay};
  if (pace.site_delay >= Length::zero()) {
    delay = {Bounded(pace.site_delay), DelayReason::kSiteSetting};
  }
  delay.AtLeast(Bounded(pace.crawl_delay), DelayReason::kCrawlDelay);
  delay.AtLeast(Times(pace.last_download,
                      static_cast<uint64_t>(settings_.download_multiple)),
                DelayReason::kDownloadTime);
  return delay;
}

Length DelayRules::ServerDelay(double mean_budget) const {
  return Scaled(settings_.server_delay, settings_.server_delay_floor,
                mean_budget);
}

Length DelayRules::BackOff(const Trouble& trouble) const {
  if (trouble == Trouble()) return Length::zero();
  // How often it was in trouble; so many doublings reach any bound.
  const uint64_t times = uint64_t{trouble.failures} + trouble.overloads;
  return Doubled(settings_.back_off,
                 static_cast<uint32_t>(std::min<uint64_t>(times - 1, 64)),
                 settings_.back_off_max);
}

bool DelayRules::IsDead(uint32_t failures) const {
  return failures >= static_cast<uint64_t>(settings_.dead_after);
}

Length DelayRules::DeadPause(uint32_t failures) const {
  if (!IsDead(failures)) return Length::zero();
  const auto more = static_cast<uint32_t>(
      failures - static_cast<uint64_t>(settings_.dead_after));
  return Doubled(settings_.dead_pause, more, settings_.dead_pause_max);
}

Length DelayRules::RetryAfter(Length asked) const {
  return std::clamp(asked, Length::zero(), Length(settings_.max_retry_after));
}

}  // namespace nephila::politeness
