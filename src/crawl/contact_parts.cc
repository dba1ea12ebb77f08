#include "crawl/contact_parts.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "item/outcome_policy.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;
using politeness::ServerKey;
using std::chrono::nanoseconds;

// from + by, at most what can be told.
template <typename Time>
Time Later(Time from, nanoseconds by) {
  return by > Time::max() - from ? Time::max() : from + by;
}

}  // namespace

uint16_t PortOf(const url::Url& url) {
  uint16_t port = url.scheme_kind() == url::Scheme::kHttps ? 443 : 80;
  const std::string_view text = url.port();
  std::from_chars(text.data(), text.data() + text.size(), port);
  return port;
}

FetchOutcome OutcomeOf(dns::Outcome outcome) {
  switch (outcome) {
    case dns::Outcome::kAddressesRefused:
      return FetchOutcome::kAddressRefused;
    case dns::Outcome::kNoSuchName:
      return FetchOutcome::kNoSuchHost;
    case dns::Outcome::kOverloaded:
    case dns::Outcome::kCancelled:
      return FetchOutcome::kInterrupted;
    default:
      return FetchOutcome::kDnsFailed;
  }
}

std::string Explain(const dns::Answer& answer) {
  std::string text(dns::OutcomeName(answer.outcome));
  if (!answer.refused.empty()) {
    text.append(": ").append(answer.refused[0].address.ToString());
    text.append(" is ").append(answer.refused[0].block);
  }
  return text;
}

NamePage::NamePage(std::string_view host, const dns::Answer& answer,
                   WallTime begin)
    : name_("dns:" + std::string(host)),
      server_(answer.server ? answer.server->address.ToString() : ""),
      records_({answer.records}),
      begin_(begin),
      took_(answer.took) {}

item::FetchedPage NamePage::page() const {
  item::FetchedPage page;
  page.kind = item::FetchKind::kDns;
  page.outcome = FetchOutcome::kDnsAnswer;
  page.url = name_;
  page.hop_path = "P";
  page.begin = begin_;
  page.duration = took_;
  page.ip_address = server_;
  page.body = records_;
  return page;
}

ServerKey KeyOf(const net::IpAddress& address) {
  ServerKey key;
  const std::span<const uint8_t> bytes = address.bytes();
  if (address.is_v4()) key.bytes[10] = key.bytes[11] = 0xff;
  std::copy(bytes.begin(), bytes.end(), key.bytes.end() - bytes.size());
  return key;
}

net::IpAddress AddressOf(const ServerKey& key) {
  const net::IpAddress whole = net::IpAddress::V6(key.bytes);
  const net::IpAddress v4 = net::IpAddress::V4(whole.LastNumber());
  return KeyOf(v4) == key ? v4 : whole;
}

std::vector<ServerKey> KeysOf(const std::vector<net::IpAddress>& addresses) {
  std::vector<ServerKey> keys;
  keys.reserve(std::min(addresses.size(), politeness::kMostAddresses));
  for (const net::IpAddress& address : addresses) {
    if (keys.size() == politeness::kMostAddresses) break;
    keys.push_back(KeyOf(address));
  }
  return keys;
}

std::optional<net::IpAddress> AddressFor(
    const politeness::Lease& lease, std::span<const ServerKey> addresses,
    const politeness::Politeness& politeness) {
  std::vector<ServerKey> here;
  for (const ServerKey& address : addresses) {
    if (politeness.ClockOf(address) == lease.address) here.push_back(address);
  }
  if (here.empty()) return std::nullopt;
  return AddressOf(here[lease.id % here.size()]);
}

bool IsStale(const fetch::FetchResult& result) {
  return result.reused && result.outcome == FetchOutcome::kConnectionLost;
}

politeness::Outcome PaceOf(const fetch::FetchResult& result,
                           const config::Settings& settings, const Clock& clock,
                           fetch::ResponseHead* head) {
  politeness::Outcome pace;
  if (result.contact != MonoTime{}) pace.contact = result.contact;
  pace.end = clock.Now();
  pace.host = item::RowFor(result.outcome, result.status).host;
  pace.download = result.timings.total;
  head->Clear();
  std::string_view bytes = result.head;
  if (head->Add(&bytes) == fetch::HeadState::kComplete) {
    pace.retry_after =
        head->RetryAfter(clock.WallNow(), settings.politeness.max_retry_after)
            .value_or(nanoseconds{0});
  }
  return pace;
}

MonoTime ToMono(WallTime time, const Clock& clock) {
  const WallTime now = clock.WallNow();
  if (time <= now) return MonoTime{};
  // Both are after 1970, so the difference can be told.
  return Later(clock.Now(), now < WallTime{} ? nanoseconds{0} : time - now);
}

WallTime ToWall(MonoTime time, const Clock& clock) {
  const MonoTime now = clock.Now();
  if (time <= now) return clock.WallNow();
  return Later(clock.WallNow(), time - now);
}

std::chrono::milliseconds RoundUp(nanoseconds length) {
  if (length <= nanoseconds{0}) return std::chrono::milliseconds{0};
  return std::chrono::duration_cast<std::chrono::milliseconds>(length -
                                                               nanoseconds{1}) +
         std::chrono::milliseconds{1};
}

}  // namespace nephila::crawl
