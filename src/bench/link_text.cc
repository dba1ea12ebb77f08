#include "bench/link_text.h"

#include <algorithm>
#include <iterator>

namespace nephila::bench {
namespace {

// Where the name's suffix begins, with its dot: the last label, or the last two
// of names such as example.co.uk.
size_t SuffixAt(std::string_view host) {
  static constexpr std::string_view kSecond[] = {
      ".co", ".com", ".org", ".net", ".ac", ".gov", ".edu", ".or", ".ne"};
  size_t last = host.rfind('.');
  if (last == std::string_view::npos || last == 0) return host.size();
  size_t before = host.rfind('.', last - 1);
  if (before == std::string_view::npos || before == 0) return last;
  std::string_view second = host.substr(before, last - before);
  bool both = std::find(std::begin(kSecond), std::end(kSecond), second) !=
              std::end(kSecond);
  return both ? before : last;
}

}  // namespace

TagPlaces FindTagPlaces(std::string_view url) {
  size_t begin = url.find("://");
  if (begin == std::string_view::npos) return {url.size(), url.size()};
  begin += 3;
  size_t path = std::min(url.find_first_of("/?#", begin), url.size());
  std::string_view host = url.substr(begin, path - begin);
  if (size_t at = host.rfind('@'); at != std::string_view::npos) {
    begin += at + 1;
    host.remove_prefix(at + 1);
  }
  host = host.substr(0, host.find(':'));
  TagPlaces places{begin + SuffixAt(host), 0};
  size_t path_end = std::min(url.find_first_of("?#", path), url.size());
  size_t segment = url.substr(0, path_end).rfind('/') + 1;
  size_t dot = url.substr(0, path_end).rfind('.');
  bool has_extension =
      dot != std::string_view::npos && dot > segment && segment > path;
  places.version_at = has_extension ? dot : path_end;
  return places;
}

std::string Base36(uint64_t value) {
  char digits[13];
  char* end = AppendBase36(digits, value);
  return {digits, static_cast<size_t>(end - digits)};
}

}  // namespace nephila::bench
