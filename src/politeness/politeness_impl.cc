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
// A shorter crawl delay counts when the longer was last said so long ago:
// http and https of a host may each have a robots.txt.
constexpr Length kCrawlDelayHolds = std::chrono::hours(1);
// How much a single transfer counts for the mean time of a host's turn.
constexpr double kCycleWeight = 0.01;

SiteDelays Delays(const std::vector<std::string>& items) {
  auto delays = SiteDelays::Parse(items);
  NEPHILA_CHECK(delays.has_value());  // whoever read the settings has looked
  return *std::move(delays);
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
      site_delays_(Delays(options_.settings.site_delays)),
      domain_turns_(options_.settings.domain_delay,
                    options_.restarted ? clock.Now() : MonoTime()),
      start_(clock.Now()),
      everyone_at_(options_.restarted ? start_ : MonoTime()),
      cycle_s_(Seconds(options_.settings.host_delay)),
      rate_at_(start_) {}

uint32_t Politeness::Impl::FindHost(uint64_t key) const {
  const auto found = host_by_key_.find(key);
  return found == host_by_key_.end() ? kNone : found->second;
}

uint32_t Politeness::Impl::MakeHost(uint64_t key) {
  const uint32_t number = hosts_.Add();
  hosts_[number].key = key;
  host_by_key_.emplace(key, number);
  return number;
}

uint32_t Politeness::Impl::MakeHost(const HostFacts& facts) {
  const uint32_t number = MakeHost(facts.host);
  Host& host = hosts_[number];
  host.trouble = host.recorded = {facts.failures, facts.overloads};
  // A record that names any of these was made after a contact.
  host.contacted = host.trouble != Trouble() || facts.not_before != MonoTime();
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
  const double budget = facts.budget > 0 ? facts.budget : host.pace.budget;
  if (is_new) {
    host.domain = facts.domain;
    if (host.held) host.recorded = {facts.failures, facts.overloads};
    host.held = false;
  } else if (budget != host.pace.budget) {
    // Counted anew where it is.
    ClearAddresses(host);
  }
  if (is_new || host.site_delays != site_delays_changes_) {
    host.pace.site_delay = SiteDelay(facts);
    host.site_delays = site_delays_changes_;
  }
  host.pace.budget = budget;
  if (facts.crawl_delay.has_value()) SetCrawlDelay(host, *facts.crawl_delay);
  SetAddresses(host, facts.addresses);
  host.not_before =
      std::max(host.not_before, std::min(facts.not_before, kFarthest));
  WaitUntil(host, host.not_before, DelayReason::kNotBefore);
  WaitAsSettingsSay(host);
}

// What is known now may ask for a longer wait than what was known then.
void Politeness::Impl::WaitAsSettingsSay(Host& host) const {
  if (host.last_end == MonoTime()) {
    return WaitUntil(host, LeftAloneUntil(host), DelayReason::kRestart);
  }
  const Delay delay = rules_.HostDelay(host.pace);
  WaitUntil(host, After(host.last_end, delay.length), delay.reason);
}

void Politeness::Impl::SetDelays(
    const PolitenessSettings& settings,
    const std::function<std::string_view(uint64_t)>& name_of) {
  PolitenessSettings& mine = options_.settings;
  mine.host_delay = settings.host_delay;
  mine.host_delay_floor = settings.host_delay_floor;
  mine.server_delay = settings.server_delay;
  mine.server_delay_floor = settings.server_delay_floor;
  if (mine.site_delays != settings.site_delays) {
    mine.site_delays = settings.site_delays;
    site_delays_ = Delays(settings.site_delays);
    ++site_delays_changes_;
  }
  rules_ = DelayRules(mine, options_.reference_budget);
  for (const auto& [key, number] : host_by_key_) {
    Host& host = hosts_[number];
    HostFacts facts;
    facts.host = key;
    facts.name = name_of(key);
    if (!facts.name.empty() && host.site_delays != site_delays_changes_) {
      host.pace.site_delay = SiteDelay(facts);
      host.site_delays = site_delays_changes_;
    }
    WaitAsSettingsSay(host);
    ScheduleHost(number);
  }
  for (const auto& [key, number] : server_by_key_) {
    Server& server = servers_[number];
    const MonoTime contact = server.contact != MonoTime()
                                 ? server.contact
                                 : ContactBefore(server.key);
    if (contact == MonoTime()) continue;
    server.ready_at =
        std::max(server.ready_at,
                 After(contact, rules_.ServerDelay(server.MeanBudget())));
    ScheduleServer(number);
  }
}

void Politeness::Impl::SetCrawlDelay(Host& host, Length asked) const {
  const MonoTime now = clock_.Now();
  if (asked < host.pace.crawl_delay &&
      now - host.crawl_delay_at < kCrawlDelayHolds) {
    return;
  }
  host.pace.crawl_delay = Bounded(asked);
  host.crawl_delay_at = now;
}

Length Politeness::Impl::SiteDelay(const HostFacts& facts) const {
  const auto delay = options_.site_delay ? options_.site_delay(facts)
                                         : site_delays_.Find(facts.name);
  return delay.value_or(Length(-1));
}

MonoTime Politeness::Impl::FirstRobotsDue(const Host& host) const {
  if (host.contacted) return host.ready_at;
  // The process before may have asked for it just before it ended.
  return std::max(LeftAloneUntil(host), host.not_before);
}

MonoTime Politeness::Impl::DueOf(const Host& host) const {
  if (!host.urgent.empty() && host.urgent.front().kind == Kind::kFirstRobots) {
    return std::max(FirstRobotsDue(host), host.domain_turn);
  }
  return std::max(host.ready_at, host.domain_turn);
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
  return After(std::max(now, host.ready_at), Times(delay, before));
}

MonoTime Politeness::Impl::NextAway(MonoTime from, MonoTime& later_until,
                                    Length delay) {
  later_until = std::max(from, After(later_until, delay));
  return later_until;
}

Added Politeness::Impl::Add(const HostFacts& facts, Kind kind,
                            std::string payload) {
  const MonoTime now = clock_.Now();
  const PolitenessSettings& settings = options_.settings;
  const uint32_t known = FindHost(facts.host);
  const auto parked =
      known == kNone ? parked_hosts_.find(facts.host) : parked_hosts_.end();
  if (parked != parked_hosts_.end()) {
    if (const auto later = AddParked(parked->second, facts, kind, now)) {
      return *later;
    }
  }
  if (waiting_ >= static_cast<uint64_t>(settings.max_urls)) {
    return {AddOutcome::kFull, {}};
  }
  if (known != kNone) {
    TakeFacts(known, facts);
    return AddTo(known, kind, std::move(payload));
  }
  if (hosts_.size() >= static_cast<uint64_t>(settings.max_hosts)) {
    return {AddOutcome::kFull, {}};
  }
  if (parked != parked_hosts_.end()) {
    const uint32_t number = Unpark(parked);
    TakeFacts(number, facts);
    const Added added = AddTo(number, kind, std::move(payload));
    // What came with it makes it wait for longer.
    if (added.outcome != AddOutcome::kTaken) MoveToParked(number);
    return added;
  }
  if (ParkedIsFull(now)) {
    return {AddOutcome::kLater, After(now, Times(settings.park_after, 2))};
  }
  const uint32_t number = MakeHost(facts);
  TakeFacts(number, facts);
  MonoTime turn{};
  const uint32_t server = BestServer(hosts_[number], now, turn);
  Added added{AddOutcome::kLater, {}};
  if (turn > After(now, settings.park_after)) {
    added.due = NextAwayAt(servers_[server], turn, now);
  } else {
    added = AddTo(number, kind, std::move(payload));
  }
  // Its owner has the clock of a host that came with it.
  if (added.outcome != AddOutcome::kTaken) DropHost(number);
  return added;
}

Added Politeness::Impl::AddTo(uint32_t number, Kind kind, std::string payload) {
  const MonoTime now = clock_.Now();
  Host& host = hosts_[number];
  const MonoTime turn = TurnOf(host, kind, now);
  if (turn > After(now, options_.settings.park_after)) {
    const Length delay = rules_.HostDelay(host.pace).length;
    ScheduleHost(number);
    return {AddOutcome::kLater, kind == Kind::kPage
                                    ? NextAway(turn, host.later_until, delay)
                                    : turn};
  }
  if (host.urls() == 0 && host.place == Place::kHeap) ++busy_hosts_;
  (kind == Kind::kPage ? host.pages : host.urgent)
      .Push({kind, std::move(payload)});
  ++waiting_;
  ++added_;
  ScheduleHost(number);
  return {};
}

void Politeness::Impl::Update(const HostFacts& facts) {
  const uint32_t number = FindHost(facts.host);
  if (number == kNone) return;  // what is parked learns it with its next URL
  TakeFacts(number, facts);
  ScheduleHost(number);
}

void Politeness::Impl::ScheduleHost(uint32_t number) {
  const Host& host = hosts_[number];
  if (host.place != Place::kHeap) return;
  host_heap_.Put(number, host.urls() > 0 ? DueOf(host) : StaysUntil(host));
}

MonoTime Politeness::Impl::StaysUntil(const Host& host) const {
  if (!host.hopped || host.crawl_delay_at != MonoTime()) return host.ready_at;
  // A redirect knows nothing of where it leads; when a URL of the host says
  // what delay it asks for, that counts from here.
  return std::max(host.ready_at,
                  After(host.last_end, options_.settings.park_after));
}

void Politeness::Impl::SetPace(Host& host, const Outcome& outcome) {
  host.trouble.Note(outcome.host, options_.settings);
  host.pace.last_download = Bounded(outcome.download);
  Delay delay = rules_.HostDelay(host.pace);
  delay.AtLeast(rules_.RetryAfter(outcome.retry_after),
                DelayReason::kRetryAfter);
  if (outcome.host != item::HostStep::kNone) {
    delay.AtLeast(rules_.BackOff(host.trouble), DelayReason::kBackOff);
    delay.AtLeast(rules_.DeadPause(host.trouble.failures),
                  DelayReason::kDeadHost);
  }
  host.last_end = outcome.end;
  WaitUntil(host, After(outcome.end, delay.length), delay.reason);
  // Hosts that wait for longer are not in memory.
  if (delay.length > options_.settings.park_after) return;
  cycle_s_ += kCycleWeight *
              (Seconds(delay.length + host.pace.last_download) - cycle_s_);
}

Waits Politeness::Impl::Done(uint64_t lease, const Outcome& outcome) {
  const auto found = leases_.find(lease);
  NEPHILA_CHECK(found != leases_.end());
  const auto [host_number, server_number, contacted] = found->second;
  leases_.erase(found);
  const MonoTime now = clock_.Now();
  Waits waits;
  Server& server = servers_[server_number];
  const bool was_open = IsOpen(server);
  --server.in_flight;
  if (outcome.contact.has_value()) {
    NoteContact(server, lease, *outcome.contact);
  } else if (server.pending_lease == lease) {
    server.pending_lease = 0;
  }
  NoteInterval(server, was_open, now);
  waits.address = {server.key, Bounded(server.ready_at - now)};
  ScheduleServer(server_number);
  DropServerIfDone(server_number);

  Host& host = hosts_[host_number];
  host.place = Place::kHeap;
  host.line_server = kNone;
  if (host.urls() == 0) --busy_hosts_;
  if (contacted || outcome.contact.has_value() ||
      (outcome.host != item::HostStep::kNone &&
       outcome.host != item::HostStep::kWell)) {
    // One that could not even be tried is not tried again at once either.
    host.contacted = true;
    SetPace(host, outcome);
  }
  waits.host = WaitOf(host, now);
  if (DueOf(host) > After(now, options_.settings.park_after)) {
    if (host.urls() > 0) SendAway(host_number, host.ready_at);
    Leave(host_number);
    return waits;
  }
  if (host.trouble == Trouble() && host.recorded != Trouble()) {
    // It is well, and its record should not say otherwise for long.
    host.recorded = {};
    host.noted = Note(host.key, host.ready_at, host.trouble);
  }
  ScheduleHost(host_number);
  return waits;
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
