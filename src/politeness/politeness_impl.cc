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
      {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()},
      seed);
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
      recent_servers_(0, ServerKeyHash{options_.table_seed}),
      server_by_key_(0, ServerKeyHash{options_.table_seed}),
      proven_hosts_(static_cast<size_t>(options_.settings.max_hosts)),
      cycle_s_(Seconds(options_.settings.host_delay)),
      rate_at_(start_) {}

uint32_t Politeness::Impl::FindHost(uint64_t key) const {
  const auto found = host_by_key_.find(key);
  return found == host_by_key_.end() ? kNone : found->second;
}

uint32_t Politeness::Impl::MakeHost(uint64_t key) {
  const uint32_t number = hosts_.Add();
  hosts_[number].key = key;
  hosts_[number].proven = proven_hosts_.Contains(key);
  if (hosts_[number].proven) ++proven_in_memory_;
  host_by_key_.emplace(key, number);
  return number;
}

uint32_t Politeness::Impl::MakeHost(const HostFacts& facts) {
  const uint32_t number = MakeHost(facts.host);
  Host& host = hosts_[number];
  host.overloads = host.recorded = facts.overloads;
  // A record that names any of these was made after a contact.
  host.contacted = facts.failures > 0 || facts.overloads > 0 ||
                   facts.not_before != MonoTime() ||
                   facts.authority_not_before != MonoTime();
  return number;
}

void Politeness::Impl::DropHost(uint32_t number) {
  Host& host = hosts_[number];
  if (host.proven) --proven_in_memory_;
  host_heap_.Remove(number);
  late_hosts_.Remove(number);
  late_urls_.Remove(number);
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
  NEPHILA_CHECK(!addresses.empty());
  // Each server once.
  std::array<ServerKey, kMostAddresses> keys{};
  size_t count = 0;
  for (const ServerKey& address :
       addresses.first(std::min(addresses.size(), kMostAddresses))) {
    const ServerKey key = ClockOf(address);
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(keys.begin(), end, key) == end) keys[count++] = key;
  }
  bool same = host.server_count == count;
  for (size_t i = 0; same && i < count; ++i) {
    same = servers_[host.servers[i]].key == keys[i];
  }
  if (same) return;
  // The new ones first, so that one that is in both stays.
  std::array<uint32_t, kMostAddresses> servers{};
  for (size_t i = 0; i < count; ++i) {
    servers[i] = ServerOf(keys[i]);
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
    if (host.held) host.recorded = facts.overloads;
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
  TakeLaneFacts(host, facts);
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
  MonoTime due = MonoTime::max();
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    const Lane& lane = host.lanes[i];
    if (!lane.urls.empty()) due = std::min(due, LaneDue(host, lane));
  }
  if (due == MonoTime::max()) due = host.ready_at;
  return std::max(due, host.domain_turn);
}

MonoTime Politeness::Impl::TurnOf(const Host& host, const Lane& lane, Kind kind,
                                  MonoTime now) const {
  const bool urgent = kind != Kind::kPage;
  if (kind == Kind::kFirstRobots && lane.urls.urgent() == 0 &&
      host.place != Place::kFlight) {
    return std::max({now, FirstRobotsDue(host), lane.ready_at});
  }
  const Length delay = rules_.HostDelay(host.pace).length;
  size_t before = urgent ? lane.urls.urgent() : lane.urls.size();
  if (host.lanes.size() > 1) {
    // Others take turns with it, once they are due.
    const MonoTime soon = After(now, options_.settings.park_after);
    const size_t turns = before + 1;
    for (size_t i = 0; i < host.lanes.size(); ++i) {
      const Lane& other = host.lanes[i];
      if (&other == &lane || other.ready_at > soon) continue;
      before += std::min(other.urls.size(), turns);
    }
  }
  if (host.place == Place::kFlight) ++before;
  return After(std::max({now, host.ready_at, lane.ready_at}),
               Times(delay, before));
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
  if (known != kNone) {
    if (!MakeRoomForLane(hosts_[known], facts.authority)) {
      return {AddOutcome::kLater, After(now, Times(settings.park_after, 2))};
    }
    TakeFacts(known, facts);
    return AddTo(known, facts.authority, kind, std::move(payload));
  }
  const bool was_parked = parked != parked_hosts_.end();
  if (!was_parked && KnownIsFull(now)) {
    return {AddOutcome::kLater, ComeAgain(now)};
  }
  const uint32_t number = was_parked ? Unpark(parked) : MakeHost(facts);
  if (!MakeRoomForLane(hosts_[number], facts.authority)) {
    MoveToParked(number);  // only a host that was parked has that many
    return {AddOutcome::kLater, After(now, Times(settings.park_after, 2))};
  }
  TakeFacts(number, facts);
  MonoTime turn{};
  const uint32_t server = BestServer(hosts_[number], now, turn);
  Lane& lane = *FindLane(hosts_[number], facts.authority);
  const MonoTime own = TurnOf(hosts_[number], lane, kind, now);
  Added added{AddOutcome::kLater, {}};
  if (turn > After(now, settings.park_after)) {
    added.due = std::max(own, NextAwayAt(servers_[server], turn, now));
  } else if (own > After(now, settings.park_after) ||
             MakeHostRoom(std::max(turn, own), now) ||
             (hosts_[number].proven && MakeProvenRoom(now))) {
    added = AddTo(number, facts.authority, kind, std::move(payload));
  } else {
    added = NoRoom(lane, hosts_[number], kind, std::max(turn, own), now);
  }
  if (added.outcome == AddOutcome::kTaken) return added;
  if (was_parked) {
    MoveToParked(number);
  } else {
    // Its owner has the clock of a host that came with it.
    DropHost(number);
  }
  return added;
}

Added Politeness::Impl::AddTo(uint32_t number, uint32_t authority, Kind kind,
                              std::string payload) {
  const MonoTime now = clock_.Now();
  Host& host = hosts_[number];
  Lane& lane = *FindLane(host, authority);
  const MonoTime turn = TurnOf(host, lane, kind, now);
  if (turn > After(now, options_.settings.park_after) ||
      !MakeUrlRoom(turn, now)) {
    ScheduleHost(number);
    return NoRoom(lane, host, kind, turn, now);
  }
  if (host.place == Place::kHeap && !host.has_urls()) ++busy_hosts_;
  lane.urls.Push({kind, std::move(payload)});
  ++waiting_;
  ++added_;
  ScheduleHost(number);
  ScheduleTail(number);
  return {};
}

void Politeness::Impl::Update(const HostFacts& facts) {
  const uint32_t number = FindHost(facts.host);
  if (number == kNone) return;  // what is parked learns it with its next URL
  if (!MakeRoomForLane(hosts_[number], facts.authority)) return;
  TakeFacts(number, facts);
  ScheduleHost(number);
}

void Politeness::Impl::ScheduleHost(uint32_t number) {
  const Host& host = hosts_[number];
  if (host.place != Place::kHeap) return;
  const MonoTime time = host.has_urls() ? DueOf(host) : StaysUntil(host);
  host_heap_.Put(number, time);
  late_hosts_.Put(number, time);
}

MonoTime Politeness::Impl::StaysUntil(const Host& host) const {
  // What an authority waits for longer its record will know.
  MonoTime until = host.ready_at;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    const MonoTime ready_at = host.lanes[i].ready_at;
    if (ready_at > until &&
        ready_at <= After(clock_.Now(), options_.settings.park_after)) {
      until = ready_at;
    }
  }
  if (!host.hopped || host.crawl_delay_at != MonoTime()) return until;
  // A redirect knows nothing of where it leads; when a URL of the host says
  // what delay it asks for, that counts from here.
  return std::max(until, After(host.last_end, options_.settings.park_after));
}

void Politeness::Impl::SetPace(Host& host, Lane& lane, const Outcome& outcome,
                               bool contacted) {
  const bool silent = outcome.host == item::HostStep::kTrouble ||
                      outcome.host == item::HostStep::kDead;
  Trouble trouble{lane.failures, host.overloads};
  trouble.Note(outcome.host, options_.settings);
  lane.failures = trouble.failures;
  host.overloads = trouble.overloads;
  if (outcome.host != item::HostStep::kNone) lane.answered = !silent;
  NoteClass(host, outcome);
  // How long nothing came is no time of a download.
  host.pace.last_download = silent ? Length::zero() : Bounded(outcome.download);
  Delay delay = rules_.HostDelay(host.pace);
  delay.AtLeast(rules_.RetryAfter(outcome.retry_after),
                DelayReason::kRetryAfter);
  if (silent) {
    Delay pause{rules_.BackOff(trouble), DelayReason::kBackOff};
    pause.AtLeast(rules_.DeadPause(trouble.failures), DelayReason::kDeadHost);
    LaneWaitsUntil(lane, After(outcome.end, pause.length), pause.reason);
  } else if (outcome.host != item::HostStep::kNone) {
    delay.AtLeast(rules_.BackOff(trouble), DelayReason::kBackOff);
  }
  if (!contacted) return;
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
  const auto [host_number, server_number, authority, contacted] = found->second;
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
  Lane& lane = *FindLane(host, authority);
  host.place = Place::kHeap;
  host.line_server = kNone;
  lane.in_flight = false;
  if (!host.has_urls()) --busy_hosts_;
  if (contacted || outcome.contact.has_value() ||
      (outcome.host != item::HostStep::kNone &&
       outcome.host != item::HostStep::kWell)) {
    // One that could not even be tried is not tried again at once either.
    host.contacted = true;
    SetPace(host, lane, outcome, /*contacted=*/true);
  }
  waits.host = WaitOf(host, &lane, now);
  Settle(host_number, authority, now);
  return waits;
}

void Politeness::Impl::Settle(uint32_t number, uint32_t authority,
                              MonoTime now) {
  const MonoTime limit = After(now, options_.settings.park_after);
  Host& host = hosts_[number];
  SendAwayLate(host, limit);
  Lane& lane = *FindLane(host, authority);
  if (host.has_urls() ? DueOf(host) > limit : MayLeave(host, lane, now)) {
    if (host.has_urls()) SendAway(number, host.ready_at);
    Leave(number);
    return;
  }
  // The authority is well, and its record should not say otherwise for long.
  const bool is_well = lane.failures == 0 && host.overloads == 0 &&
                       (lane.recorded > 0 || host.recorded > 0);
  if (is_well || (lane.ready_at > limit && HasNews(lane))) {
    host.recorded = host.overloads;
    lane.recorded = lane.failures;
    lane.told = true;
    host.noted = Note(host.key, host.ready_at, host.overloads, &lane);
  }
  ScheduleHost(number);
  ScheduleTail(number);
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
  if (!CanMakeRoom(clock_.Now())) return false;
  if (starved_ || busy_hosts_ < WantedHosts()) return true;
  // Only slow hosts wait for a transfer: they make way for others, once there
  // are some.
  return in_lines_[static_cast<size_t>(HostClass::kSlow)] > 0 && !OthersWait();
}

}  // namespace nephila::politeness
