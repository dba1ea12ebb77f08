#include "crawl/contacts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "crawl/contact_parts.h"

namespace nephila::crawl {
namespace {

using fetch::FetchResult;
using item::FetchOutcome;

// So often a name is asked for whose resolver has no time for us.
constexpr int kResolveTries = 30;

politeness::PolitenessOptions OptionsOf(const config::Settings& settings,
                                        uint64_t seed) {
  politeness::PolitenessOptions options;
  options.settings = settings.politeness;
  options.groups = net::ServerGroups::Of(settings.guard);
  options.table_seed = seed;
  return options;
}

}  // namespace

Contacts::Contacts(const Parts& parts)
    : parts_(parts),
      head_(fetch::HeadLimitsOf(parts.settings.fetch)),
      politeness_(parts.loop.clock(), OptionsOf(parts.settings, hash_.seed)) {}

void Contacts::Ask(const url::Url& url, politeness::Kind kind,
                   std::optional<uint64_t> max_body_bytes, Done done) {
  uint64_t id = next_id_++;
  Request& request = requests_[id];
  request.fetch.id = id;
  request.fetch.kind = kind == politeness::Kind::kPage
                           ? item::FetchKind::kPage
                           : item::FetchKind::kRobots;
  request.fetch.url = url.href();
  request.fetch.host = url.host();
  request.fetch.https = url.scheme() == "https";
  request.fetch.port = PortOf(url);
  if (max_body_bytes) {
    request.fetch.limits = parts_.limits;
    request.fetch.limits->max_body_bytes = *max_body_bytes;
  }
  request.kind = kind;
  request.done = std::move(done);
  ++hosts_[request.fetch.host].open;
  Resolve(id);
}

void Contacts::SetCrawlDelay(std::string_view host,
                             std::chrono::nanoseconds delay) {
  const std::string name(host);
  Host& known = hosts_[name];
  known.crawl_delay = std::max(known.crawl_delay, delay);
  if (!known.addresses.empty()) politeness_.Update(FactsOf(name));
}

politeness::HostFacts Contacts::FactsOf(const std::string& name) const {
  const Host& host = hosts_.at(name);
  politeness::HostFacts facts;
  facts.host = facts.domain = hash_(name);
  facts.addresses = host.addresses;
  facts.crawl_delay = host.crawl_delay;
  facts.name = name;
  return facts;
}

politeness::HostFacts Contacts::FactsOf(const Request& request) const {
  politeness::HostFacts facts = FactsOf(request.fetch.host);
  facts.authority =
      politeness::AuthorityOf(request.fetch.port, request.fetch.https);
  return facts;
}

void Contacts::Resolve(uint64_t id) {
  Request& request = requests_[id];
  ++request.resolved;
  parts_.resolver.Resolve(
      request.fetch.host,
      [this, id](const dns::Answer& answer) { OnAnswer(id, answer); });
}

void Contacts::OnAnswer(uint64_t id, const dns::Answer& answer) {
  Request& request = requests_[id];
  request.answer = answer;
  if (stopped_) return Fail(id, FetchOutcome::kInterrupted, "stopped");
  if (answer.outcome == dns::Outcome::kFound) return Add(id);
  if (answer.outcome == dns::Outcome::kOverloaded &&
      request.resolved < kResolveTries) {
    parts_.loop.At(parts_.loop.clock().Now() + kResolveAgain,
                   [this, id] { Resolve(id); });
    return;
  }
  Fail(id, OutcomeOf(answer.outcome), Explain(answer));
}

void Contacts::Add(uint64_t id) {
  Request& request = requests_[id];
  if (stopped_) return Fail(id, FetchOutcome::kInterrupted, "stopped");
  Host& host = hosts_[request.fetch.host];
  host.addresses = KeysOf(request.answer.addresses);
  politeness::Added added =
      politeness_.Add(FactsOf(request), request.kind, std::to_string(id));
  MonoTime now = parts_.loop.clock().Now();
  switch (added.outcome) {
    case politeness::AddOutcome::kTaken:
      return Pump();
    case politeness::AddOutcome::kLater:
      return AddAt(id, added.due);
    case politeness::AddOutcome::kFull:
      return AddAt(id, now + std::chrono::seconds(1));
  }
}

void Contacts::AddAt(uint64_t id, MonoTime time) {
  parts_.loop.At(time, [this, id] { Add(id); });
}

void Contacts::Pump() {
  std::vector<politeness::Lease> leases;
  if (in_flight_ < parts_.max_in_flight) {
    politeness_.Take(parts_.max_in_flight - in_flight_, leases);
  }
  for (const politeness::Lease& lease : leases) Start(lease);
  std::vector<politeness::Parked> parked;
  politeness_.TakeParked(parked);
  for (const politeness::Parked& one : parked) {
    AddAt(std::stoull(one.payload), one.due);
  }
  // No record but this one: the clocks of parked hosts stay.
  std::vector<politeness::HostNote> notes;
  politeness_.TakeNotes(notes);
  parts_.loop.Cancel(timer_);
  timer_ = net::TimerId::kNone;
  MonoTime due = politeness_.NextDue();
  if (due != MonoTime::max() && in_flight_ < parts_.max_in_flight) {
    timer_ = parts_.loop.At(due, [this] {
      timer_ = net::TimerId::kNone;
      Pump();
    });
  }
}

void Contacts::Start(const politeness::Lease& lease) {
  uint64_t id = std::stoull(lease.payload);
  Request& request = requests_[id];
  const Host& host = hosts_[request.fetch.host];
  const auto address = AddressFor(lease, host.addresses, politeness_);
  if (!address) {
    politeness::Outcome outcome;
    outcome.end = parts_.loop.clock().Now();
    politeness_.Done(lease.id, outcome);
    return Resolve(id);
  }
  request.lease = lease.id;
  ++in_flight_;
  std::chrono::nanoseconds wait =
      std::max(host.crawl_delay, parts_.settings.politeness.host_delay);
  fetch::FetchRequest fetch = request.fetch;
  fetch.address = *address;
  // A robots.txt is asked for because a page will be.
  bool more = host.open > 1 || fetch.kind == item::FetchKind::kRobots;
  fetch.keep_connection = more && wait <= kKeptFor && !request.again;
  parts_.fetcher.Start(std::move(fetch), this);
}

void Contacts::Fail(uint64_t id, FetchOutcome outcome, std::string error) {
  // Not from inside Ask, whose caller may not be ready for it.
  parts_.loop.Post([this, id, outcome, error = std::move(error)]() mutable {
    Request request = std::move(requests_.extract(id).mapped());
    --hosts_[request.fetch.host].open;
    auto result = std::make_unique<FetchResult>();
    result->id = id;
    result->kind = request.fetch.kind;
    result->url = std::move(request.fetch.url);
    result->begin = parts_.loop.clock().WallNow();
    result->outcome = outcome;
    result->error = std::move(error);
    request.done(std::move(result), request.answer);
  });
}

void Contacts::OnContact(uint64_t id, MonoTime when, bool /*fresh*/) {
  politeness_.Contacted(requests_.at(id).lease, when);
  Pump();
}

void Contacts::OnFetched(std::unique_ptr<FetchResult> result) {
  uint64_t id = result->id;
  Request& waiting = requests_[id];
  --in_flight_;
  politeness::Outcome outcome =
      PaceOf(*result, parts_.settings, parts_.loop.clock(), &head_);
  const bool stale = IsStale(*result) && !waiting.again;
  if (stale) outcome.host = item::HostStep::kNone;
  politeness_.Done(waiting.lease, outcome);
  if (stale) {
    waiting.again = true;
    parts_.fetcher.Recycle(std::move(result));
    Resolve(id);
    return Pump();
  }
  Request request = std::move(requests_.extract(id).mapped());
  --hosts_[request.fetch.host].open;
  // What is done may ask again.
  request.done(std::move(result), request.answer);
  Pump();
}

}  // namespace nephila::crawl
