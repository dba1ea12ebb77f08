// URLs for the tests of `seen`, by number. For tests only.
#pragma once

#include <cstdint>
#include <string>

#include "item/url_record.h"
#include "url/keys.h"
#include "url/record_keys.h"

namespace nephila::seen {

inline constexpr uint64_t kSeed = 7;

// A record and what it points to.
struct TestUrl {
  explicit TestUrl(uint64_t number, const std::string& ending = "") {
    const std::string host = "host" + std::to_string(number % 40) + ".test";
    text = "http://" + host + "/page" + std::to_string(number) + ending;
    record.url = text;
    record.host_start = 7;
    record.host_size = static_cast<uint32_t>(host.size());
    record.pld_size = record.host_size;
    record.entry = number;
  }
  TestUrl(const TestUrl&) = delete;
  TestUrl& operator=(const TestUrl&) = delete;

  url::UrlKey key() const { return url::KeysOf(record, kSeed).url; }

  std::string text;
  item::UrlRecord record;
};

// The number again, from the bytes that come out.
inline uint64_t NumberOf(std::string_view bytes) {
  const auto record = item::ReadUrl(bytes);
  return record.has_value() ? record->entry : UINT64_MAX;
}

}  // namespace nephila::seen
