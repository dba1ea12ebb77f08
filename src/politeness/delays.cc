#include "politeness/delays.h"

#include <algorithm>
#include <array>

namespace nephila::politeness {
namespace {

constexpr std::array<std::string_view, kDelayReasons> kNames = {
    "host-delay", "site-setting", "crawl-delay", "download-time", "retry-after",
    "back-off",   "dead-host",    "not-before",  "restart"};

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

Length DelayRules::Scaled(Length delay, Length floor, double budget) const {
  if (budget <= reference_budget_) return delay;
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
    delay = {pace.site_delay, DelayReason::kSiteSetting};
  }
  delay.AtLeast(pace.crawl_delay, DelayReason::kCrawlDelay);
  if (settings_.download_multiple > 0) {
    // Both are bounded: a transfer takes hours at most.
    delay.AtLeast(pace.last_download * settings_.download_multiple,
                  DelayReason::kDownloadTime);
  }
  return delay;
}

Length DelayRules::ServerDelay(double mean_budget) const {
  return Scaled(settings_.server_delay, settings_.server_delay_floor,
                mean_budget);
}

Length DelayRules::BackOff(uint32_t n) const {
  if (n == 0) return Length::zero();
  return Doubled(settings_.back_off, n - 1, settings_.back_off_max);
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
