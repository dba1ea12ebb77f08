// The rules by which records of hosts and domains meet URLs in a pass: whether
// a URL is let through, and what is counted then.
//
//   In: a tuple's value, the record of its key (docs/formats/frontier.md)
//   Out: a Verdict, one byte, and the record with the URL in it
//   Threads: pure functions.   Cost: a domain's hosts are searched by halves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drum/rule.h"
#include "url/keys.h"

namespace nephila::caps {

enum class Verdict : uint8_t {
  kThrough = 0,
  kHostFull = 1,
  kDomainFull = 2,
  kTooManyHosts = 3,
};

// A URL of a host, or of a site with a cap of its own, that may have so many.
// A seed counts and is never refused.
std::string HostValue(uint64_t most, bool is_seed);
// A URL of a domain.
std::string DomainValue(url::HostKey host, bool is_seed);
std::optional<Verdict> ReadVerdict(std::string_view answer);

// What is known of a domain.
struct DomainRecord {
  bool operator==(const DomainRecord&) const = default;

  uint64_t pages = 0;           // let through
  std::vector<uint64_t> hosts;  // keys of those let through, in order
};
void AppendDomainRecord(const DomainRecord& record, std::string& out);
std::optional<DomainRecord> ReadDomainRecord(std::string_view bytes);

// The record is a varint, URLs that were let through.
std::shared_ptr<const drum::MergeRule> MakeHostRule();
// 0 is no limit.
std::shared_ptr<const drum::MergeRule> MakeDomainRule(uint64_t most_pages,
                                                      uint64_t most_hosts);

}  // namespace nephila::caps
