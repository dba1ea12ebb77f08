// What the tests of politeness share. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "politeness/politeness.h"

namespace nephila::politeness {

using item::HostStep;
using std::chrono::hours;
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

// Address `last` of the IPv6 network 2600:0:0:`network`::/64.
inline ServerKey Ipv6Number(uint8_t network, uint8_t last) {
  ServerKey key;
  key.bytes[0] = 0x26;
  key.bytes[7] = network;
  key.bytes[15] = last;
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
    facts.overloads = overloads;
    facts.authority = authority;
    facts.authority_not_before = authority_not_before;
    facts.failures = failures;
    facts.name = name;
    return facts;
  }

  uint64_t host;
  uint64_t domain = 0;
  std::vector<ServerKey> addresses;
  double budget = 0;
  Length crawl_delay{0};
  MonoTime not_before{};
  uint32_t overloads = 0;
  uint32_t authority = kHttpAuthority;
  MonoTime authority_not_before{};
  uint32_t failures = 0;
  std::string name;
};

class PolitenessTest : public ::testing::Test {
 protected:
  PolitenessTest() { Make(); }
  void Make(PolitenessOptions options = {}) {
    politeness_.emplace(clock_, std::move(options));
  }
  void Make(const PolitenessSettings& settings) {
    PolitenessOptions options;
    options.settings = settings;
    Make(std::move(options));
  }

  Added Add(const TestHost& host, const std::string& url = "url",
            Kind kind = Kind::kPage) {
    return politeness_->Add(host.facts(), kind, url);
  }
  std::vector<Lease> Take(size_t max = 1000) {
    std::vector<Lease> leases;
    politeness_->Take(max, leases);
    return leases;
  }
  // The one lease that is due; fails if there are others.
  Lease TakeOne() {
    const auto leases = Take();
    EXPECT_EQ(leases.size(), 1U);
    return leases.empty() ? Lease() : leases.front();
  }
  // A transfer that took no time.
  Waits Finish(const Lease& lease, HostStep step = HostStep::kWell,
               Length retry_after = Length::zero()) {
    Outcome outcome;
    outcome.contact = clock_.Now();
    outcome.end = clock_.Now();
    outcome.host = step;
    outcome.retry_after = retry_after;
    return politeness_->Done(lease.id, outcome);
  }
  std::vector<Parked> TakeParked() {
    std::vector<Parked> parked;
    politeness_->TakeParked(parked);
    return parked;
  }
  std::vector<HostNote> TakeNotes() {
    std::vector<HostNote> notes;
    politeness_->TakeNotes(notes);
    return notes;
  }
  // The one note that there is.
  HostNote TakeNote() {
    const auto notes = TakeNotes();
    EXPECT_EQ(notes.size(), 1U);
    return notes.empty() ? HostNote() : notes.front();
  }
  // How long until the next lease of a host comes, in steps of `step`.
  Length WaitForLease(Length step, Length most) {
    Length waited{0};
    while (waited < most) {
      std::vector<Lease> leases = Take();
      if (!leases.empty()) {
        last_ = leases.front();
        return waited;
      }
      clock_.Advance(step);
      waited += step;
    }
    return most;
  }

  ManualClock clock_;
  std::optional<Politeness> politeness_;
  Lease last_;
};

}  // namespace nephila::politeness
