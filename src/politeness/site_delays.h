// SiteDelays: the delays that a user gives single sites, in place of the host
// delay. What a site asks for is asked for all the same.
//   In: `politeness.site_delays`, the name of a host   Out: its delay, if any
//   Threads: any; it does not change.   Cost: a look-up for each dot of a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/site_table.h"
#include "politeness/delays.h"

namespace nephila::politeness {

class SiteDelays {
 public:
  // Items are "example.org=2s": of that host, and of all hosts under it that
  // have none of their own.
  static Result<SiteDelays> Parse(const std::vector<std::string>& items);

  // `host` as URLs have it: in lower case.
  std::optional<Length> Find(std::string_view host) const;

 private:
  item::SiteTable<Length> delays_;
};

}  // namespace nephila::politeness
