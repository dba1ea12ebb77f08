// The part of Politeness::Impl that is about hosts that are not due for long,
// and about waits that outlive the process.
#include <algorithm>
#include <bit>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "politeness/politeness_impl.h"
#include "politeness/saved_waits.h"

namespace nephila::politeness {
namespace {

constexpr std::chrono::hours kTroubleHolds{24};

Length LeftOf(MonoTime until, MonoTime now) {
  return std::max(Length::zero(), until - now);
}

void SetLane(const LaneState& lane, MonoTime now, HostWait& wait) {
  wait.authority = lane.authority;
  wait.authority_left = LeftOf(lane.ready_at, now);
  wait.authority_reason = lane.reason;
  wait.failures = lane.failures;
}

// The host once for each authority that is in trouble, or waits; if there is
// none, once for the first, `if_well`.
template <typename Lanes>
void AddWaits(const HostWait& host, const Lanes& lanes, bool if_well,
              SavedWaits* waits) {
  bool added = false;
  for (size_t i = 0; i < lanes.size(); ++i) {
    HostWait wait = host;
    SetLane(lanes[i], waits->when, wait);
    if (wait.failures == 0 && wait.authority_left == Length::zero()) continue;
    waits->hosts.push_back(wait);
    added = true;
  }
  if (added || !if_well) return;
  HostWait wait = host;
  if (lanes.size() > 0) SetLane(lanes[0], waits->when, wait);
  waits->hosts.push_back(wait);
}

}  // namespace

uint64_t Politeness::Impl::Note(uint64_t key, MonoTime not_before,
                                uint32_t overloads, const LaneState* lane) {
  HostNote note;
  note.host = key;
  note.epoch = next_epoch_++;
  note.not_before = not_before;
  note.overloads = overloads;
  if (lane != nullptr) {
    note.authority = lane->authority;
    note.authority_not_before = lane->ready_at;
    note.failures = lane->failures;
  }
  notes_.push_back(note);
  return note.epoch;
}

std::optional<Added> Politeness::Impl::AddParked(ParkedHost& host,
                                                 const HostFacts& facts,
                                                 Kind kind,
                                                 MonoTime now) const {
  const MonoTime limit = After(now, options_.settings.park_after);
  LaneState* lane = nullptr;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    LaneState& other = host.lanes[i];
    if (other.authority == facts.authority && other.ready_at > limit) {
      lane = &other;
    }
  }
  if (host.ready_at <= limit && lane == nullptr) return std::nullopt;
  HostPace pace;
  pace.budget = facts.budget;
  pace.crawl_delay = facts.crawl_delay.value_or(Length::zero());
  pace.site_delay = SiteDelay(facts);
  MonoTime turn =
      std::max(host.ready_at,
               std::min(std::max(facts.not_before, facts.authority_not_before),
                        kFarthest));
  if (lane != nullptr) turn = std::max(turn, lane->ready_at);
  if (kind != Kind::kPage) return Added{AddOutcome::kLater, turn};
  MonoTime& later = lane != nullptr ? lane->later_until : host.later_until;
  return Added{AddOutcome::kLater,
               NextAway(turn, later, rules_.HostDelay(pace).length)};
}

HostWait Politeness::Impl::Failed(const HostFacts& facts, item::HostStep step) {
  const MonoTime now = clock_.Now();
  uint32_t number = FindHost(facts.host);
  if (number == kNone) {
    const auto parked = parked_hosts_.find(facts.host);
    number = parked != parked_hosts_.end() ? Unpark(parked) : MakeHost(facts);
  }
  Host& host = hosts_[number];
  host.contacted = true;
  Outcome outcome;
  outcome.end = now;
  outcome.host = step;
  if (!MakeRoomForLane(host, facts.authority)) {
    // The URL has its wait; there is no room to know it of the authority.
    Lane unknown;
    unknown.authority = facts.authority;
    unknown.failures = facts.failures;
    SetPace(host, unknown, outcome, /*contacted=*/false);
    ScheduleHost(number);
    return WaitOf(host, &unknown, now);
  }
  TakeLaneFacts(host, facts);
  Lane& lane = *FindLane(host, facts.authority);
  SetPace(host, lane, outcome, /*contacted=*/false);
  const HostWait wait = WaitOf(host, &lane, now);
  if (host.place != Place::kHeap) return wait;
  const bool is_full =
      hosts_.size() > static_cast<uint64_t>(options_.settings.max_hosts);
  if (is_full && !host.has_urls()) {
    Leave(number);
  } else {
    Settle(number, facts.authority, now);
  }
  return wait;
}

std::optional<MonoTime> Politeness::Impl::NotYet(const HostFacts& facts,
                                                 Kind kind) {
  const MonoTime now = clock_.Now();
  const auto after_failures =
      [now](uint32_t failures, MonoTime ready_at) -> std::optional<MonoTime> {
    if (failures == 0 || ready_at <= now) return std::nullopt;
    return std::min(ready_at, kFarthest);
  };
  const auto of_lane = [&](const LaneState* lane) {
    return lane != nullptr
               ? after_failures(lane->failures, lane->ready_at)
               : after_failures(facts.failures, facts.authority_not_before);
  };
  if (const uint32_t number = FindHost(facts.host); number != kNone) {
    return of_lane(FindLane(std::as_const(hosts_[number]), facts.authority));
  }
  const auto parked = parked_hosts_.find(facts.host);
  if (parked != parked_hosts_.end()) {
    ParkedHost& host = parked->second;
    if (const auto later = AddParked(host, facts, kind, now)) return later->due;
    return of_lane(FindLane(host, facts.authority));
  }
  if (KnownIsFull(now)) return ComeAgain(now);
  return of_lane(nullptr);
}

void Politeness::Impl::SendAway(uint32_t number, MonoTime from) {
  Host& host = hosts_[number];
  --busy_hosts_;
  late_urls_.Remove(number);
  size_t lanes = 0;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    if (!host.lanes[i].urls.empty()) ++lanes;
  }
  // They take turns when they come back, too.
  const Length step = Times(rules_.HostDelay(host.pace).length, lanes);
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    Lane& lane = host.lanes[i];
    SendAway(host, lane, std::max(from, lane.ready_at), step);
  }
}

void Politeness::Impl::Leave(uint32_t number) {
  Host& host = hosts_[number];
  const MonoTime now = clock_.Now();
  const bool has_news = HasNews(host);
  if (host.ready_at <= now && !has_news) {
    // Its wait is over and its record right: nothing is left to be known, but
    // for URLs that were checked before the record was.
    if (host.noted == 0) {
      DropHost(number);
    } else {
      MoveToParked(number);
    }
    return;
  }
  const uint64_t key = host.key;
  const LaneState* noted = nullptr;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    Lane& lane = host.lanes[i];
    if (!HasNews(lane)) continue;
    noted = &lane;
    host.noted = Note(key, host.ready_at, host.overloads, noted);
    lane.told = true;
  }
  if (noted == nullptr) {
    if (host.lanes.size() > 0) noted = &host.lanes[0];
    host.noted = Note(key, host.ready_at, host.overloads, noted);
  }
  MoveToParked(number);
}

ParkedHost& Politeness::Impl::MoveToParked(uint32_t number) {
  const Host& host = hosts_[number];
  ParkedHost& parked = parked_hosts_[host.key];
  parked.ready_at = host.ready_at;
  parked.last_end = host.last_end;
  parked.later_until = host.later_until;
  parked.overloads = host.overloads;
  parked.reason = host.reason;
  parked.epoch = host.noted;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    const Lane& lane = host.lanes[i];
    if (IsBlank(lane)) {
      parked.later_until = std::max(parked.later_until, lane.later_until);
    } else {
      parked.lanes.Add() = static_cast<const LaneState&>(lane);
    }
  }
  DropHost(number);
  return parked;
}

uint32_t Politeness::Impl::Unpark(ParkedHosts::iterator found) {
  const uint32_t number = MakeHost(found->first);
  Host& host = hosts_[number];
  const ParkedHost& parked = found->second;
  host.ready_at = host.not_before = parked.ready_at;
  host.last_end = parked.last_end;
  host.later_until = parked.later_until;
  host.overloads = host.recorded = parked.overloads;
  host.reason = parked.reason;
  host.contacted = true;
  host.noted = parked.epoch;
  for (size_t i = 0; i < parked.lanes.size(); ++i) {
    LaneState& lane = host.lanes.Add();
    lane = parked.lanes[i];
    lane.recorded = lane.failures;
    lane.told = true;
  }
  parked_hosts_.erase(found);
  return number;
}

void Politeness::Impl::TakeParked(std::vector<Parked>& parked) {
  parked.insert(parked.end(), std::make_move_iterator(parked_.begin()),
                std::make_move_iterator(parked_.end()));
  parked_.clear();
}

void Politeness::Impl::TakeNotes(std::vector<HostNote>& notes) {
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  notes_.clear();
}

void Politeness::Impl::Forget(uint64_t key, uint64_t epoch) {
  if (const uint32_t number = FindHost(key); number != kNone) {
    Host& host = hosts_[number];
    if (host.noted == epoch) host.noted = 0;
    return;
  }
  const auto found = parked_hosts_.find(key);
  if (found == parked_hosts_.end() || found->second.epoch != epoch) return;
  parked_hosts_.erase(found);
}

// Nobody may come to forget them: a host that was restored has no name until a
// URL of it comes. What they were owed is over; that they were in trouble is
// worth knowing for a while longer.
bool Politeness::Impl::KnownIsFull(MonoTime now) {
  const auto most = static_cast<uint64_t>(options_.settings.max_parked) +
                    static_cast<uint64_t>(options_.settings.max_hosts);
  if (parked_hosts_.size() + hosts_.size() < most) return false;
  if (now < next_sweep_) return true;
  next_sweep_ = After(now, options_.settings.park_after);
  std::erase_if(parked_hosts_, [now](const auto& entry) {
    const ParkedHost& host = entry.second;
    MonoTime until = host.ready_at;
    bool trouble = host.overloads > 0;
    for (size_t i = 0; i < host.lanes.size(); ++i) {
      until = std::max(until, host.lanes[i].ready_at);
      trouble = trouble || host.lanes[i].failures > 0;
    }
    const Length kept = trouble ? Length(kTroubleHolds) : Length::zero();
    return After(until, kept) <= now;
  });
  return parked_hosts_.size() + hosts_.size() >= most;
}

HostWait Politeness::Impl::WaitOf(const Host& host, const LaneState* lane,
                                  MonoTime now) const {
  HostWait wait;
  wait.host = host.key;
  wait.left = LeftOf(host.ready_at, now);
  wait.reason = host.reason;
  wait.overloads = host.overloads;
  if (lane != nullptr) SetLane(*lane, now, wait);
  return wait;
}

std::string Politeness::Impl::Save() const {
  SavedWaits waits;
  waits.boot_id = clock_.BootId().value_or("");
  waits.when = clock_.Now();
  waits.hosts.reserve(parked_hosts_.size());
  for (const auto& [key, number] : host_by_key_) {
    const Host& host = hosts_[number];
    const HostWait wait = WaitOf(host, nullptr, waits.when);
    // Shorter ones a restart waits anyway: those of hosts whose delay it does
    // not know are the shortest.
    HostPace again = host.pace;
    again.last_download = Length::zero();
    const Length delay = std::min<Length>(rules_.HostDelay(again).length,
                                          options_.settings.host_delay);
    AddWaits(wait, host.lanes, wait.left > delay || host.overloads > 0, &waits);
  }
  for (const auto& [key, host] : parked_hosts_) {
    HostWait wait;
    wait.host = key;
    wait.left = LeftOf(host.ready_at, waits.when);
    wait.reason = host.reason;
    wait.overloads = host.overloads;
    AddWaits(wait, host.lanes, /*if_well=*/true, &waits);
  }
  for (const auto& [key, number] : server_by_key_) {
    const Length left = servers_[number].ready_at - waits.when;
    if (left > rules_.ServerDelay(0)) waits.servers.push_back({key, left});
  }
  std::sort(waits.hosts.begin(), waits.hosts.end(),
            [](const HostWait& a, const HostWait& b) {
              return a.host != b.host ? a.host < b.host
                                      : a.authority < b.authority;
            });
  std::sort(waits.servers.begin(), waits.servers.end(),
            [](const ServerWait& a, const ServerWait& b) {
              return a.address.bytes < b.address.bytes;
            });
  SaveRecent(&waits);
  return FormatWaits(waits);
}

void Politeness::Impl::SaveRecent(SavedWaits* waits) const {
  const MonoTime now = waits->when;
  waits->delays_mark = DelaysMark();
  waits->everyone_at = everyone_at_;
  std::vector<RecentHost>& hosts = waits->recent_hosts;
  for (const auto& [key, number] : host_by_key_) {
    if (StaysUntil(hosts_[number]) > now) hosts.push_back({key, {}});
  }
  for (const auto& [key, host] : parked_hosts_) {
    if (host.ready_at > now) hosts.push_back({key, {}});
  }
  // Those of whom this process may have heard nothing yet, as long as it makes
  // them wait: a hop's host for as long as it would be known (StaysUntil).
  const Length all = std::max<Length>(options_.settings.host_delay,
                                      options_.settings.park_after);
  for (const auto& [key, delay] : recent_hosts_) {
    const MonoTime until = After(start_, std::max(all, delay));
    if (until > now) hosts.push_back({key, delay});
  }
  std::sort(hosts.begin(), hosts.end(),
            [](const RecentHost& a, const RecentHost& b) {
              return a.host != b.host ? a.host < b.host : a.delay > b.delay;
            });
  const auto same = [](const RecentHost& a, const RecentHost& b) {
    return a.host == b.host;
  };
  hosts.erase(std::unique(hosts.begin(), hosts.end(), same), hosts.end());

  std::vector<ServerKey>& servers = waits->recent_servers;
  for (const auto& [key, number] : server_by_key_) {
    if (servers_[number].ready_at > now) servers.push_back(key);
  }
  if (now < After(start_, rules_.ServerDelay(0))) {
    servers.insert(servers.end(), recent_servers_.begin(),
                   recent_servers_.end());
  }
  std::sort(
      servers.begin(), servers.end(),
      [](const ServerKey& a, const ServerKey& b) { return a.bytes < b.bytes; });
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
}

uint64_t Politeness::Impl::DelaysMark() const {
  const PolitenessSettings& settings = options_.settings;
  std::string text;
  ByteWriter writer(text);
  for (const Length length :
       {Length(settings.host_delay), Length(settings.host_delay_floor),
        Length(settings.server_delay), Length(settings.server_delay_floor),
        Length(settings.domain_delay)}) {
    writer.U64(static_cast<uint64_t>(length.count()));
  }
  writer.U64(static_cast<uint64_t>(settings.download_multiple));
  writer.U64(std::bit_cast<uint64_t>(options_.reference_budget));
  for (const std::string& site : settings.site_delays) writer.Sized(site);
  return KeyedHash(text, 0);
}

MonoTime Politeness::Impl::LeftAloneUntil(const Host& host) const {
  const Length delay = rules_.HostDelay(host.pace).length;
  const auto recent = recent_hosts_.find(host.key);
  if (recent != recent_hosts_.end()) {
    return After(start_, std::max(delay, recent->second));
  }
  return everyone_at_ == MonoTime() ? MonoTime() : After(everyone_at_, delay);
}

MonoTime Politeness::Impl::ContactBefore(const ServerKey& server) const {
  return recent_servers_.contains(server) ? start_ : everyone_at_;
}

std::vector<Contact> Politeness::Impl::InFlight() const {
  std::vector<Contact> contacts;
  contacts.reserve(leases_.size());
  for (const auto& [id, lease] : leases_) {
    const Host& host = hosts_[lease.host];
    contacts.push_back({host.key, servers_[lease.server].key,
                        rules_.HostDelay(host.pace).length});
  }
  return contacts;
}

void Politeness::Impl::OnlyContacted(const SavedWaits& saved,
                                     const std::vector<Contact>& since) {
  everyone_at_ = saved.everyone_at;
  const auto add_host = [this](uint64_t host, Length delay) {
    if (delay <= options_.settings.host_delay) delay = Length::zero();
    Length& known = recent_hosts_[host];
    known = std::max(known, delay);
  };
  for (const RecentHost& recent : saved.recent_hosts) {
    add_host(recent.host, recent.delay);
  }
  for (const Contact& contact : since) add_host(contact.host, contact.delay);
  // Earlier versions had a key for each address.
  for (const ServerKey& key : saved.recent_servers) {
    recent_servers_.insert(ClockOf(key));
  }
  for (const Contact& contact : since) {
    recent_servers_.insert(ClockOf(contact.address));
  }
}

Status Politeness::Impl::Restore(
    std::string_view saved, const std::optional<std::vector<Contact>>& since) {
  const auto waits = ParseWaits(saved);
  if (!waits) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "the waits of hosts in the manifest are damaged"});
  }
  const MonoTime now = clock_.Now();
  const auto boot = clock_.BootId();
  const bool same_boot = boot.has_value() && !boot->empty() &&
                         *boot == waits->boot_id && waits->when <= now;
  const Length passed = same_boot ? now - waits->when : Length::zero();
  if (since && same_boot && waits->delays_mark == DelaysMark()) {
    OnlyContacted(*waits, *since);
  }
  for (HostWait wait : waits->hosts) {
    wait.left = std::max(Length::zero(), wait.left - passed);
    wait.authority_left =
        std::max(Length::zero(), wait.authority_left - passed);
    Hold(wait);
  }
  for (ServerWait wait : waits->servers) {
    wait.left = std::max(Length::zero(), wait.left - passed);
    Hold(wait);
  }
  return {};
}

void Politeness::Impl::Hold(const HostWait& wait) {
  const MonoTime now = clock_.Now();
  const MonoTime until = After(now, wait.left);
  uint32_t number = FindHost(wait.host);
  if (const auto parked = parked_hosts_.find(wait.host);
      parked != parked_hosts_.end()) {
    number = Unpark(parked);
  } else if (number == kNone) {
    // How long a restart waits is known when it is added again.
    if (until <= now && wait.authority_left == Length::zero() &&
        wait.failures == 0 && wait.overloads == 0) {
      return;
    }
    number = MakeHost(wait.host);
    hosts_[number].held = true;
  }
  Host& host = hosts_[number];
  host.contacted = true;
  host.overloads = wait.overloads;
  WaitUntil(host, until, wait.reason);
  Lane none;
  Lane* lane = &none;
  if (wait.authority != kNoAuthority) {
    lane = FindLane(host, wait.authority);
    if (lane == nullptr) {
      lane = &AddLane(host, wait.authority);
      lane->held = true;
    }
    lane->failures = wait.failures;
    LaneWaitsUntil(*lane, After(now, wait.authority_left),
                   wait.authority_reason);
  }
  if (!host.has_urls() && host.place == Place::kHeap &&
      MayLeave(host, *lane, now)) {
    // Nobody knows whether its record was told.
    Leave(number);
  } else {
    ScheduleHost(number);
  }
}

void Politeness::Impl::Hold(const ServerWait& wait) {
  const uint32_t number = ServerOf(ClockOf(wait.address));
  Server& server = servers_[number];
  server.ready_at = std::max(server.ready_at, After(clock_.Now(), wait.left));
  ScheduleServer(number);
}

}  // namespace nephila::politeness
