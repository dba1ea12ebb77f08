#include "politeness/site_delays.h"

#include <utility>

#include "base/text.h"

namespace nephila::politeness {

Result<SiteDelays> SiteDelays::Parse(const std::vector<std::string>& items) {
  SiteDelays delays;
  for (const std::string& item : items) {
    NEPHILA_TRY(auto site, item::SplitSiteItem("politeness.site_delays", item,
                                               "a host and a delay, such as "
                                               "example.org=2s"));
    auto delay = ParseDuration(site.second);
    if (delay && *delay < Length::zero()) {
      delay = Unexpected(
          Error{ErrorCode::kInvalidArgument, "a delay cannot be negative"});
    }
    if (!delay) {
      return Unexpected(
          std::move(delay).error().WithContext("politeness.site_delays"));
    }
    delays.delays_.Set(std::move(site.first), *delay);
  }
  return delays;
}

std::optional<Length> SiteDelays::Find(std::string_view host) const {
  const auto site = delays_.Find(host);
  if (!site) return std::nullopt;
  return site->value;
}

}  // namespace nephila::politeness
