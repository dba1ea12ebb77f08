#include "store/header_lines.h"

#include <algorithm>

#include "base/ascii.h"

namespace nephila::store {
size_t FindHeaderEnd(std::string_view text, size_t from) {
  // "\n\r" may have stood at the end of what was seen before.
  size_t at = text.find('\n', from < 2 ? 0 : from - 2);
  while (at != std::string_view::npos) {
    size_t next = at + 1;
    if (next < text.size() && text[next] == '\r') ++next;
    if (next < text.size() && text[next] == '\n') return next + 1;
    at = text.find('\n', at + 1);
  }
  return std::string_view::npos;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

size_t ForEachField(
    std::string_view lines,
    const std::function<void(std::string_view name, std::string value)>& take) {
  size_t malformed = 0;
  std::string_view name;
  std::string value;
  auto flush = [&] {
    if (!name.empty()) take(name, std::move(value));
    name = {};
    value.clear();
  };
  while (!lines.empty()) {
    std::string_view line = TakeLine(&lines);
    if (line.empty()) break;
    if (line[0] == ' ' || line[0] == '\t') {
      if (name.empty()) {
        ++malformed;
        continue;
      }
      std::string_view more = TrimSpace(line);
      if (!more.empty() && !value.empty()) value += ' ';
      value += more;
      continue;
    }
    flush();
    size_t colon = line.find(':');
    std::string_view before = TrimSpace(line.substr(0, colon));
    if (colon == std::string_view::npos || !IsToken(before)) {
      ++malformed;
      continue;
    }
    name = before;
    value = TrimSpace(line.substr(colon + 1));
  }
  flush();
  return malformed;
}

}  // namespace nephila::store
