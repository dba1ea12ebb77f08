// ReadyUrl: a URL that may be fetched as far as robots.txt is concerned, as it
// waits in the ready queue. ParkedUrl: one that waits for a time, because its
// host is left alone for long or an attempt failed; then it goes through
// `robots` again, whose records have the clocks of hosts.
//
// In: what `robots` hands on, what the dispatcher gives back. Out: compact
// bytes and the same again (docs/formats/ready-queue.md). Anything may stand on
// a disk: what is read is whole and in bounds, everything else is refused.
// Threads: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace nephila::crawl {

struct ReadyUrl {
  bool operator==(const ReadyUrl&) const = default;

  std::string_view record;  // encoded UrlRecord
  uint64_t budget = 0;      // of its domain
  // Of its host, as robots.txt and the record of the host have it.
  std::chrono::milliseconds crawl_delay{0};
  WallTime not_before{};   // to the millisecond, as all times
  uint32_t failures = 0;   // of its authority
  uint32_t overloads = 0;  // of its host
  WallTime checked{};      // when the robots.txt was fetched that allowed it
  WallTime authority_not_before{};
};

struct ParkedUrl {
  bool operator==(const ParkedUrl&) const = default;

  std::string_view record;
  uint64_t budget = 0;
  WallTime due{};
};

void AppendReadyUrl(const ReadyUrl& url, std::string& out);
// The views are into `bytes`. The error is why they are none, a constant.
Result<ReadyUrl, std::string_view> ReadReadyUrl(std::string_view bytes);
void AppendParkedUrl(const ParkedUrl& url, std::string& out);
Result<ParkedUrl, std::string_view> ReadParkedUrl(std::string_view bytes);

}  // namespace nephila::crawl
