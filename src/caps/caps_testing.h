// URLs for the tests of `caps`, by host, domain and number. For tests only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "item/url_record.h"

namespace nephila::caps {

inline constexpr uint64_t kSeed = 7;

// The record of http://HOST.DOMAIN/NUMBER; the host "" is the domain itself.
inline std::string RecordOf(std::string_view host, std::string_view domain,
                            uint64_t number, bool is_seed = false,
                            uint32_t attempts = 0) {
  std::string name(host);
  if (!name.empty()) name += '.';
  name.append(domain);
  const std::string text = "http://" + name + "/" + std::to_string(number);
  item::UrlRecord record;
  record.url = text;
  record.host_start = 7;
  record.host_size = static_cast<uint32_t>(name.size());
  record.pld_size = static_cast<uint32_t>(domain.size());
  record.flags = is_seed ? item::kFromSeed : 0;
  record.entry = number;
  record.attempts = attempts;
  std::string bytes;
  item::AppendUrlRecord(record, bytes);
  return bytes;
}

inline std::string UrlOf(std::string_view bytes) {
  const auto record = item::ReadUrl(bytes);
  return record.has_value() ? std::string(record->url) : "";
}

}  // namespace nephila::caps
