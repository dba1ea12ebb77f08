#include "seen/extension_filter.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace nephila::seen {

ExtensionFilter::ExtensionFilter(std::span<const std::string> extensions) {
  sorted_.reserve(extensions.size());
  for (std::string_view extension : extensions) {
    if (extension.starts_with('.')) extension.remove_prefix(1);
    if (!extension.empty()) sorted_.push_back(LowerAscii(extension));
  }
  std::sort(sorted_.begin(), sorted_.end());
}

bool ExtensionFilter::Skips(const item::UrlRecord& record) const {
  std::string_view path =
      record.url.substr(record.host_start + record.host_size);
  path = path.substr(0, path.find_first_of("?#"));
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  path.remove_prefix(slash + 1);
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view extension = path.substr(dot + 1);
  // Longer ones than any that is listed are common in URLs with dots.
  constexpr size_t kMostBytes = 32;
  if (extension.size() > kMostBytes) return false;
  return std::binary_search(sorted_.begin(), sorted_.end(),
                            LowerAscii(extension), std::less<>());
}

}  // namespace nephila::seen
