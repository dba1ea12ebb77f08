#include "politeness/site_delays.h"

#include <utility>

#include "base/ascii.h"
#include "base/text.h"

namespace nephila::politeness {

Result<SiteDelays> SiteDelays::Parse(const std::vector<std::string>& items) {
  SiteDelays delays;
  for (const std::string& item : items) {
    const size_t equals = item.find('=');
    const std::string_view text(item);
    const std::string_view name = TrimSpaces(text.substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "politeness.site_delays: '" +
                                  EscapeForTerminal(item) +
                                  "' is not a host and a delay, such as "
                                  "example.org=2s"});
    }
    auto delay = ParseDuration(TrimSpaces(text.substr(equals + 1)));
    if (delay && *delay < Length::zero()) {
      delay = Unexpected(
          Error{ErrorCode::kInvalidArgument, "a delay cannot be negative"});
    }
    if (!delay) {
      return Unexpected(
          std::move(delay).error().WithContext("politeness.site_delays"));
    }
    delays.delays_[LowerAscii(name)] = *delay;
  }
  return delays;
}

std::optional<Length> SiteDelays::Find(std::string_view host) const {
  if (delays_.empty()) return std::nullopt;
  while (true) {
    if (const auto found = delays_.find(host); found != delays_.end()) {
      return found->second;
    }
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    host.remove_prefix(dot + 1);
  }
}

}  // namespace nephila::politeness
