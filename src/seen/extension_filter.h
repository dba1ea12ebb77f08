// ExtensionFilter: which URLs name a file that is no page, by their ending.
//
// In: a URL. Out: whether its path ends in ".ext" for an ext of the list;
// query and fragment do not count, nor does a dot in a folder's name.
// Threads: immutable. Cost: the last segment of the path, and a search.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "item/url_record.h"

namespace nephila::seen {

class ExtensionFilter {
 public:
  // Extensions with or without their dot, in any case.
  explicit ExtensionFilter(std::span<const std::string> extensions);

  bool Skips(const item::UrlRecord& record) const;

 private:
  std::vector<std::string> sorted_;
};

}  // namespace nephila::seen
