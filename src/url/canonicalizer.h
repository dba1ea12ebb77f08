// Canonicalizer: the stage `url`, from a link as a page has it to the one
// form in which the crawl knows it, with its keys.
//   In: a raw link and the URL it was found on
//   Out: canonical URL, host, pay-level domain, keys
//   Drop: see DropReason
//   Disk: none   Threads: one Canonicalizer each; the list is shared
//   Cost: no allocation for ordinary ASCII links (docs/performance.md)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "net/port_guard.h"
#include "url/keys.h"
#include "url/normalizer.h"
#include "url/public_suffix.h"
#include "url/query_encoder.h"
#include "url/url.h"

namespace nephila::url {

enum class DropReason : uint8_t {
  kInvalid,  // not a URL
  kScheme,   // mailto:, javascript:, ftp: and the like
  kHost,     // a name that DNS cannot know
  kTooLong,  // over url.max_length
  kPort,     // a port that browsers refuse, not in url.allow_ports
};
// As they stand in counters and reports, by number.
inline constexpr std::array<std::string_view, 5> kDropReasonNames = {
    "invalid-url", "scheme", "bad-host", "too-long", "bad-port"};

std::string_view DropReasonName(DropReason reason);

// Views into the Canonicalizer that made it, valid until its next call.
struct CanonicalUrl {
  std::string_view href;
  std::string_view host;  // without a dot at its end
  std::string_view pld;
  Keys keys;
};

class Canonicalizer {
 public:
  // Keeps a reference to `suffixes`, which must outlive it. `seed`: the job's.
  Canonicalizer(const config::UrlSettings& settings,
                const PublicSuffixList& suffixes, uint64_t seed);

  // Resolves `link` on *base (null: it must be absolute), its query written by
  // *encoder (null: in UTF-8). Everything that goes in comes out or is dropped
  // and counted.
  Result<CanonicalUrl, DropReason> Canonicalize(
      std::string_view link, const Url* base,
      const QueryEncoder* encoder = nullptr);

  // The same for a URL that has been parsed already; counted too.
  Result<CanonicalUrl, DropReason> Canonicalize(const Url& url);

  const StageAccount& account() const { return account_; }

 private:
  Result<CanonicalUrl, DropReason> Finish();
  Unexpected<DropReason> Drop(DropReason reason);

  Normalizer normalizer_;
  net::PortGuard ports_;
  const PublicSuffixList& suffixes_;
  uint64_t seed_;
  size_t max_length_;
  Url url_;
  StageAccount account_{"url", kDropReasonNames};
};

// The pay-level domain of a host: its registrable domain by the ICANN rules.
// An IP address, and a host that is a public suffix itself, is its own.
std::string_view PayLevelDomain(std::string_view host, HostKind kind,
                                const PublicSuffixList& suffixes);
// What the scope of a crawl takes for one: the same by ICANN's and private
// rules (alice.github.io is a site). REQUIRES: a host as the parser leaves it.
std::string_view SiteOf(std::string_view host,
                        const PublicSuffixList& suffixes);

}  // namespace nephila::url
