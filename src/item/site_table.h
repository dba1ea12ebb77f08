// SiteTable: what a user says of single sites: a value for a host and for all
// hosts under it that have none of their own.
//   In: items such as "example.org=100"; names of hosts, as URLs have them
//   Out: the value of the nearest site   Threads: any, once it is made
//   Cost: a look-up for each dot of a name; nothing if it is empty.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/result.h"
#include "base/text.h"

namespace nephila::item {

// The name, in small letters, and the value of an item. The error names the
// setting and shows `example`.
inline Result<std::pair<std::string, std::string_view>> SplitSiteItem(
    std::string_view setting, std::string_view item, std::string_view example) {
  const size_t equals = item.find('=');
  const std::string_view name = TrimSpaces(item.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            std::string(setting) + ": '" +
                                EscapeForTerminal(item) + "' is not " +
                                std::string(example)});
  }
  return std::pair(LowerAscii(name), TrimSpaces(item.substr(equals + 1)));
}

template <typename T>
class SiteTable {
 public:
  struct Site {
    std::string_view name;  // lives as long as the table
    const T& value;
  };

  void Set(std::string name, T value) {
    sites_.insert_or_assign(std::move(name), std::move(value));
  }
  // `host` in small letters.
  std::optional<Site> Find(std::string_view host) const {
    if (sites_.empty()) return std::nullopt;
    while (true) {
      const auto found = sites_.find(host);
      if (found != sites_.end()) return Site{found->first, found->second};
      const size_t dot = host.find('.');
      if (dot == std::string_view::npos) return std::nullopt;
      host.remove_prefix(dot + 1);
    }
  }
  bool empty() const { return sites_.empty(); }

 private:
  std::map<std::string, T, std::less<>> sites_;
};

}  // namespace nephila::item
