// What those who contact servers have in common (contacts.h, dispatcher.h):
// from URLs, answers of the DNS and results of fetches to what politeness
// wants to know, and between the two clocks.
//   Threads: any; plain functions.   Cost: constant.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "dns/answer.h"
#include "fetch/fetch_result.h"
#include "fetch/response_head.h"
#include "item/fetch_outcome.h"
#include "item/fetched_page.h"
#include "net/ip_address.h"
#include "politeness/politeness.h"
#include "url/url.h"

namespace nephila::crawl {

// A server that closes an idle connection does so after 5 s, the shortest wait
// that is common; we come before.
inline constexpr std::chrono::seconds kKeptFor{3};
// A name whose resolver has no time for us is asked for again after this.
inline constexpr std::chrono::seconds kResolveAgain{1};

// Of an http or https URL.
uint16_t PortOf(const url::Url& url);

// What an attempt without addresses is. REQUIRES: not kFound.
item::FetchOutcome OutcomeOf(dns::Outcome outcome);
// For people.
std::string Explain(const dns::Answer& answer);

// The records of a name, as the archive has them.
class NamePage {
 public:
  // Keeps views of the answer. `begin`: when the page was asked for.
  NamePage(std::string_view host, const dns::Answer& answer, WallTime begin);
  NamePage(const NamePage&) = delete;
  NamePage& operator=(const NamePage&) = delete;

  // Whether they are news: asked for, not from the cache.
  static bool IsNews(const dns::Answer& answer) {
    return answer.source == dns::Source::kAsked && !answer.records.empty();
  }
  item::FetchedPage page() const;

 private:
  const std::string name_;
  const std::string server_;
  const std::array<std::string_view, 1> records_;
  const WallTime begin_;
  const std::chrono::nanoseconds took_;
};

politeness::ServerKey KeyOf(const net::IpAddress& address);
net::IpAddress AddressOf(const politeness::ServerKey& key);
// As many as politeness looks at.
std::vector<politeness::ServerKey> KeysOf(
    const std::vector<net::IpAddress>& addresses);

// Returns the address to connect to with this lease: one of `addresses`, those
// of its host, that has the clock of the lease, another one each time. Returns
// nullopt if none has it, because the name has other addresses by now.
std::optional<net::IpAddress> AddressFor(
    const politeness::Lease& lease,
    std::span<const politeness::ServerKey> addresses,
    const politeness::Politeness& politeness);

// Whether a kept connection was gone just when it was used, which servers may
// do: nothing is known of the host, and it may be asked again.
bool IsStale(const fetch::FetchResult& result);
// How the transfer went, for the pace of its host. `head` is for its use.
politeness::Outcome PaceOf(const fetch::FetchResult& result,
                           const config::Settings& settings, const Clock& clock,
                           fetch::ResponseHead* head);

// The same moment on the other clock, as they stand now; one that is past, or
// too far away to be told, is the nearest that can be.
MonoTime ToMono(WallTime time, const Clock& clock);
WallTime ToWall(MonoTime time, const Clock& clock);

// Rounded up: a wait is never told for shorter than it is.
std::chrono::milliseconds RoundUp(std::chrono::nanoseconds length);

}  // namespace nephila::crawl
