#include "politeness/politeness_impl.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

namespace nephila::politeness {
namespace {

// How long ago still counts for the speed.
constexpr double kRateSeconds = 10;
// How much a single transfer counts for the mean time of a host's turn.
constexpr double kCycleWeight = 0.01;

double Seconds(Length length) {
  return std::chrono::duration<double>(length).count();
}

}  // namespace

size_t Politeness::Impl::DomainAtHash::operator()(const DomainAt& at) const {
  uint64_t state = at.domain + at.server * kSplitMixStep;
  return NextSplitMix(state);
}

size_t Politeness::Impl::ServerKeyHash::operator()(const ServerKey& key) const {
  return KeyedHash(
      {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()}, 0);
}

Politeness::Impl::Impl(const Clock& clock, PolitenessOptions options)
    : clock_(clock),
      options_(std::move(options)),
      rules_(options_.settings, options_.reference_budget),
      start_(clock.Now()),
      cycle_s_(Seconds(options_.settings.host_delay)),
      rate_at_(start_) {}

uint32_t Politeness::Impl::FindHost(uint64_t key) const {
  const auto found = host_by_key_.find(key);
  return found == host_by_key_.end() ? kNone : found->second;
}

uint32_t Politeness::Impl::MakeHost(const HostFacts& facts) {
  const uint32_t number = hosts_.Add();
  Host& host = hosts_[number];
  host.key = facts.host;
  host.failures = facts.failures;
  host.overloads = facts.overloads;
  // A record that names any of these was made after a contact.
  host.contacted = facts.failures > 0 || facts.overloads > 0 ||
                   facts.not_before != MonoTime();
  host_by_key_.emplace(facts.host, number);
  return number;
}

void Politeness::Impl::DropHost(uint32_t number) {
  Host& host = hosts_[number];
  host_heap_.Remove(number);
  ClearAddresses(host);
  host_by_key_.erase(host.key);
  hosts_.Remove(number);
}

void Politeness::Impl::WaitUntil(Host& host, MonoTime time,
                                 DelayReason reason) {
  if (time <= host.ready_at) return;
  host.ready_at = time;
  host.reason = reason;
}

void Politeness::Impl::SetAddresses(Host& host,
                                    std::span<const ServerKey> addresses) {
  const size_t count = std::min(addresses.size(), kMostAddresses);
  NEPHILA_CHECK(count > 0);
  bool same = host.server_count == count;
  for (size_t i = 0; same && i < count; ++i) {
    same = servers_[host.servers[i]].key == addresses[i];
  }
  if (same) return;
  // The new ones first, so that one that is in both stays.
  std::array<uint32_t, kMostAddresses> servers{};
  for (size_t i = 0; i < count; ++i) {
    servers[i] = ServerOf(addresses[i]);
    ++servers_[servers[i]].hosts;
    AddDomain(servers[i], host.domain, host.pace.budget);
  }
  ClearAddresses(host);
  host.servers = servers;
  host.server_count = static_cast<uint8_t>(count);
  // Removes a server that only waited to be dropped from the heap.
  for (size_t i = 0; i < count; ++i) ScheduleServer(servers[i]);
}

void Politeness::Impl::ClearAddresses(Host& host) {
  for (size_t i = 0; i < host.server_count; ++i) {
    const uint32_t number = host.servers[i];
    --servers_[number].hosts;
    RemoveDomain(number, host.domain);
    DropServerIfDone(number);
  }
  host.server_count = 0;
}

void Politeness::Impl::TakeFacts(uint32_t number, const HostFacts& facts) {
  Host& host = hosts_[number];
  const bool is_new = host.server_count == 0;
  if (is_new) {
    host.domain = facts.domain;
    if (options_.site_delay) {
      const auto delay = options_.site_delay(facts);
      host.pace.site_delay = delay.value_or(Length(-1));
    }
  } else if (facts.budget != host.pace.budget) {
    // Counted anew where it is.
    ClearAddresses(host);
  }
  host.pace.budget = facts.budget;
  host.pace.crawl_delay = facts.crawl_delay;
  SetAddresses(host, facts.addresses);
  host.not_before = std::max(host.not_before, facts.not_before);
  WaitUntil(host, facts.not_before, DelayReason::kNotBefore);
  // What is known now may ask for a longer wait than what was known then.
  const Delay delay = rules_.HostDelay(host.pace);
  if (host.last_end != MonoTime()) {
    WaitUntil(host, host.last_end + delay.length, delay.reason);
  } else if (options_.restarted) {
    WaitUntil(host, start_ + delay.length, DelayReason::kRestart);
  }
}

MonoTime Politeness::Impl::FirstRobotsDue(const Host& host) const {
  if (host.contacted) return host.ready_at;
  // The process before may have asked for it just before it ended.
  const MonoTime floor = options_.restarted
                             ? start_ + rules_.HostDelay(host.pace).length
                             : MonoTime();
  return std::max(floor, host.not_before);
}

MonoTime Politeness::Impl::DueOf(const Host& host) const {
  if (!host.urgent.empty() && host.urgent.front().kind == Kind::kFirstRobots) {
    return FirstRobotsDue(host);
  }
  return host.ready_at;
}

MonoTime Politeness::Impl::TurnOf(const Host& host, Kind kind,
                                  MonoTime now) const {
  const Length delay = rules_.HostDelay(host.pace).length;
  const bool urgent = kind != Kind::kPage;
  if (kind == Kind::kFirstRobots && host.urgent.empty() &&
      host.place != Place::kFlight) {
    return std::max(now, FirstRobotsDue(host));
  }
  size_t before = urgent ? host.urgent.size() : host.urls();
  if (host.place == Place::kFlight) ++before;
  return std::max(now, host.ready_at) + delay * static_cast<int64_t>(before);
}

Added Politeness::Impl::Add(const HostFacts& facts, Kind kind,
                            std::string payload) {
  const MonoTime now = clock_.Now();
  uint32_t number = FindHost(facts.host);
  const bool is_new = number == kNone;
  const PolitenessSettings& settings = options_.settings;
  if (waiting_ >= static_cast<uint64_t>(settings.max_urls) ||
      (is_new && hosts_.size() >= static_cast<uint64_t>(settings.max_hosts))) {
    return {AddOutcome::kFull, {}};
  }
  if (is_new) number = MakeHost(facts);
  TakeFacts(number, facts);
  Host& host = hosts_[number];
  const MonoTime turn = TurnOf(host, kind, now);
  if (turn > now + settings.park_after) {
    // One behind the other, so that they do not come back all at once.
    const Length delay = rules_.HostDelay(host.pace).length;
    const MonoTime due =
        kind == Kind::kPage ? std::max(turn, host.later_until + delay) : turn;
    if (kind == Kind::kPage) host.later_until = due;
    // Its owner has the clock of a host that came with it.
    if (is_new) {
      DropHost(number);
    } else {
      ScheduleHost(number);
    }
    return {AddOutcome::kLater, due};
  }
  if (host.urls() == 0 && host.place == Place::kHeap) ++busy_hosts_;
  (kind == Kind::kPage ? host.pages : host.urgent)
      .Push({kind, std::move(payload)});
  host.parked = false;
  ++waiting_;
  ++added_;
  ScheduleHost(number);
  return {};
}

void Politeness::Impl::Update(const HostFacts& facts) {
  const uint32_t number = FindHost(facts.host);
  if (number == kNone) return;
  TakeFacts(number, facts);
  ScheduleHost(number);
}

void Politeness::Impl::ScheduleHost(uint32_t number) {
  const Host& host = hosts_[number];
  if (host.place != Place::kHeap) return;
  if (host.urls() > 0) {
    host_heap_.Put(number, DueOf(host));
  } else if (host.parked) {
    host_heap_.Remove(number);
  } else {
    host_heap_.Put(number, host.ready_at);
  }
}

void Politeness::Impl::Park(uint32_t number, MonoTime from) {
  Host& host = hosts_[number];
  const Length delay = rules_.HostDelay(host.pace).length;
  if (host.urls() == 0) {
    parked_.push_back({host.key,
                       false,
                       Kind::kPage,
                       {},
                       from,
                       host.failures,
                       host.overloads});
  } else if (host.place == Place::kHeap) {
    --busy_hosts_;
  }
  MonoTime due = from;
  while (host.urls() > 0) {
    Item item = host.urgent.empty() ? host.pages.Pop() : host.urgent.Pop();
    parked_.push_back({host.key, true, item.kind, std::move(item.payload), due,
                       host.failures, host.overloads});
    host.later_until = std::max(host.later_until, due);
    due += delay;
    --waiting_;
    ++parked_urls_;
  }
  host.parked = true;
  ScheduleHost(number);
}

void Politeness::Impl::TakeParked(std::vector<Parked>& parked) {
  parked.insert(parked.end(), std::make_move_iterator(parked_.begin()),
                std::make_move_iterator(parked_.end()));
  parked_.clear();
}

void Politeness::Impl::Forget(uint64_t key) {
  const uint32_t number = FindHost(key);
  if (number == kNone || !hosts_[number].parked) return;
  hosts_[number].parked = false;
  if (hosts_[number].place == Place::kHeap) DropHost(number);
}

void Politeness::Impl::SetPace(Host& host, const Outcome& outcome) {
  switch (outcome.health) {
    case Health::kGood:
      host.failures = host.overloads = 0;
      break;
    case Health::kOverloaded:
      host.failures = 0;
      ++host.overloads;
      break;
    case Health::kFailed:
      ++host.failures;
      break;
  }
  host.pace.last_download = std::max(outcome.download, Length::zero());
  Delay delay = rules_.HostDelay(host.pace);
  delay.AtLeast(rules_.RetryAfter(outcome.retry_after),
                DelayReason::kRetryAfter);
  delay.AtLeast(rules_.BackOff(host.overloads), DelayReason::kBackOff);
  delay.AtLeast(rules_.DeadPause(host.failures), DelayReason::kDeadHost);
  host.last_end = outcome.end;
  WaitUntil(host, outcome.end + delay.length, delay.reason);
  cycle_s_ +=
      kCycleWeight * (Seconds(delay.length + outcome.download) - cycle_s_);
}

void Politeness::Impl::Done(uint64_t lease, const Outcome& outcome) {
  const auto found = leases_.find(lease);
  NEPHILA_CHECK(found != leases_.end());
  const auto [host_number, server_number, contacted] = found->second;
  leases_.erase(found);
  Server& server = servers_[server_number];
  --server.in_flight;
  if (outcome.contact.has_value()) {
    NoteContact(server, lease, *outcome.contact);
  } else if (server.pending_lease == lease) {
    server.pending_lease = 0;
  }
  ScheduleServer(server_number);
  DropServerIfDone(server_number);

  Host& host = hosts_[host_number];
  host.place = Place::kHeap;
  host.line_server = kNone;
  if (host.urls() == 0) --busy_hosts_;
  if (contacted || outcome.contact.has_value() ||
      outcome.health != Health::kGood) {
    // One that could not even be tried is not tried again at once either.
    host.contacted = true;
    SetPace(host, outcome);
  }
  if (DueOf(host) > clock_.Now() + options_.settings.park_after) {
    Park(host_number, host.ready_at);
  } else {
    ScheduleHost(host_number);
  }
}

void Politeness::Impl::NoteLeases(size_t count, MonoTime now) {
  const double passed = Seconds(now - rate_at_);
  rate_ = rate_ * std::exp(-passed / kRateSeconds) +
          static_cast<double>(count) / kRateSeconds;
  rate_at_ = now;
}

uint64_t Politeness::Impl::WantedHosts() const {
  const double speed = speed_ > 0 ? speed_ : rate_;
  return static_cast<uint64_t>(std::ceil(
      static_cast<double>(options_.settings.refill) * speed * cycle_s_));
}

bool Politeness::Impl::WantsMore() const {
  if (waiting_ >= static_cast<uint64_t>(options_.settings.max_urls) ||
      hosts_.size() >= static_cast<uint64_t>(options_.settings.max_hosts)) {
    return false;
  }
  return starved_ || busy_hosts_ < WantedHosts();
}

}  // namespace nephila::politeness
