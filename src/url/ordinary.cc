#include "url/ordinary.h"

#include <algorithm>

#include "url/host.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

// What a byte means, as bits so that a scan can OR them.
enum : uint8_t {
  kOdd = 1,        // removed, encoded or read as a slash somewhere in a URL
  kNotInHost = 2,  // means something in an authority, or is upper case
  kMark = 4,       // '?' or '#'
  kEscape = 8,     // '%'
};

constexpr ByteTable MakeByteTable() {
  ByteTable table{};
  for (size_t c = 0; c < 256; ++c) {
    bool upper = c >= 'A' && c <= 'Z';
    if (upper) table[c] = kNotInHost;
    if (c <= 0x20 || c >= 0x7f) table[c] = kOdd;
  }
  auto set = [&table](std::string_view chars, unsigned bits) {
    for (char c : chars) {
      table[static_cast<unsigned char>(c)] = static_cast<uint8_t>(bits);
    }
  };
  set("\"'<>[]\\^`{|}", kOdd);
  set("@:", kNotInHost);
  set("?#", kNotInHost | kMark);
  set("%", kNotInHost | kEscape);
  return table;
}
constexpr ByteTable kByteTable = MakeByteTable();

}  // namespace

std::optional<OrdinaryUrl> SplitOrdinary(std::string_view text) {
  constexpr std::string_view kHttp = "http://";
  constexpr std::string_view kHttps = "https://";
  bool secure = text.starts_with(kHttps);
  if (!secure && !text.starts_with(kHttp)) return std::nullopt;
  size_t begin = secure ? kHttps.size() : kHttp.size();
  unsigned seen = ScanBytes(text.substr(begin), kByteTable);
  if ((seen & kOdd) != 0) return std::nullopt;
  size_t slash = std::min(text.find('/', begin), text.size());
  std::string_view host = text.substr(begin, slash - begin);
  bool plain = (seen & kNotInHost) == 0 || ScanBytes(host, kByteTable) == 0;
  if (!plain || host.empty() || EndsInNumber(host)) return std::nullopt;

  size_t fragment = text.size();
  size_t query = text.size();
  if ((seen & kMark) != 0) {
    fragment = std::min(text.find('#', slash), text.size());
    query = std::min(text.substr(0, fragment).find('?', slash), fragment);
  }
  size_t path_begin = std::min(slash + 1, query);
  std::string_view path = text.substr(path_begin, query - path_begin);
  if (HasSegmentWith('.', path) ||
      ((seen & kEscape) != 0 && HasSegmentWith('%', path))) {
    return std::nullopt;  // maybe a dot segment
  }
  auto offset = [](size_t at) { return static_cast<uint32_t>(at); };
  return OrdinaryUrl{secure, offset(begin), offset(slash), offset(query),
                     offset(fragment)};
}

bool HasSegmentWith(char first, std::string_view path) {
  for (size_t i = path.find(first); i != std::string_view::npos;
       i = path.find(first, i + 1)) {
    if (i == 0 || path[i - 1] == '/' || path[i - 1] == '\\') return true;
  }
  return false;
}

}  // namespace nephila::url
