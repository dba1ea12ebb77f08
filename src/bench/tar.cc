#include "bench/tar.h"

#include <algorithm>

namespace nephila::bench {
namespace {

constexpr size_t kBlock = 512;

std::string_view Field(std::string_view header, size_t at, size_t size) {
  std::string_view field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

size_t Octal(std::string_view text) {
  size_t value = 0;
  for (char c : text) {
    if (c >= '0' && c <= '7') value = value * 8 + static_cast<size_t>(c - '0');
  }
  return value;
}

std::string NameOf(std::string_view header) {
  std::string name(Field(header, 0, 100));
  std::string_view prefix = Field(header, 345, 155);
  if (header.substr(257, 5) != "ustar" || prefix.empty()) return name;
  return std::string(prefix) + "/" + name;
}

}  // namespace

Status ForEachTarFile(
    std::string_view tar,
    const std::function<void(std::string_view, std::string_view)>& take) {
  std::string long_name;
  while (tar.size() >= kBlock && tar[0] != '\0') {
    std::string_view header = tar.substr(0, kBlock);
    size_t size = Octal(Field(header, 124, 12));
    tar.remove_prefix(kBlock);
    if (size > tar.size()) {
      return Unexpected(
          Error{ErrorCode::kCorruption, "a tar file that is cut"});
    }
    std::string_view body = tar.substr(0, size);
    tar.remove_prefix(
        std::min((size + kBlock - 1) / kBlock * kBlock, tar.size()));
    char type = header[156];
    if (type == 'L') {
      long_name = Field(body, 0, body.size());
    } else if (type == '0' || type == '\0') {
      take(long_name.empty() ? NameOf(header) : long_name, body);
      long_name.clear();
    }
  }
  return {};
}

}  // namespace nephila::bench
