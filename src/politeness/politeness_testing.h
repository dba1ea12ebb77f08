// What the tests of politeness share. For tests only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "politeness/politeness.h"

namespace nephila::politeness {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline ServerKey ServerNumber(uint32_t number) {
  ServerKey key;
  key.bytes[10] = key.bytes[11] = 0xFF;
  for (size_t i = 0; i < 4; ++i) {
    key.bytes[12 + i] = static_cast<uint8_t>(number >> (8 * (3 - i)));
  }
  return key;
}

// A host with addresses of its own.
struct TestHost {
  explicit TestHost(uint64_t key, std::vector<uint32_t> servers = {})
      : host(key) {
    if (servers.empty()) servers = {static_cast<uint32_t>(key)};
    for (const uint32_t server : servers) {
      addresses.push_back(ServerNumber(server));
    }
  }
  HostFacts facts() const {
    HostFacts facts;
    facts.host = host;
    facts.domain = domain != 0 ? domain : host;
    facts.addresses = addresses;
    facts.budget = budget;
    facts.crawl_delay = crawl_delay;
    facts.not_before = not_before;
    facts.failures = failures;
    facts.overloads = overloads;
    facts.name = name;
    return facts;
  }

  uint64_t host;
  uint64_t domain = 0;
  std::vector<ServerKey> addresses;
  double budget = 0;
  Length crawl_delay{0};
  MonoTime not_before{};
  uint32_t failures = 0;
  uint32_t overloads = 0;
  std::string name;
};

}  // namespace nephila::politeness
