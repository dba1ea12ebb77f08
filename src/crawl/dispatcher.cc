#include "crawl/dispatcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "crawl/aim.h"
#include "crawl/contact_parts.h"
#include "item/url_record.h"
#include "url/parser.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using politeness::Kind;

// Asked for at a time: enough that a message a batch costs nothing, few enough
// that what is wanted next is not decided for long.
constexpr size_t kBatch = 1000;
// After a request that brought nothing, unless something happens before.
constexpr std::chrono::milliseconds kAskAgain{10};

std::string PayloadOf(uint64_t id) {
  std::string payload(sizeof id, '\0');
  std::memcpy(payload.data(), &id, sizeof id);
  return payload;
}

uint64_t IdOf(const std::string& payload) {
  uint64_t id = 0;
  NEPHILA_CHECK(payload.size() == sizeof id);
  std::memcpy(&id, payload.data(), sizeof id);
  return id;
}

politeness::PolitenessOptions OptionsOf(const Dispatcher::Parts& parts) {
  politeness::PolitenessOptions options;
  options.settings = parts.settings.politeness;
  options.reference_budget =
      static_cast<double>(parts.settings.reputation.base);
  options.restarted = parts.restarted;
  options.groups = net::ServerGroups::Of(parts.settings.guard);
  options.table_seed = parts.seed;
  if (parts.site_delay) {
    options.site_delay =
        [ask = parts.site_delay](const politeness::HostFacts& facts) {
          return ask(facts.name);
        };
  }
  return options;
}

std::string OriginOf(std::string_view host, uint32_t authority) {
  std::string origin(politeness::IsHttps(authority) ? "https://" : "http://");
  origin.append(host);
  if (!politeness::IsDefaultAuthority(authority)) {
    origin.append(":").append(std::to_string(politeness::PortOf(authority)));
  }
  return origin.append("/");
}

}  // namespace

Dispatcher::Dispatcher(const Parts& parts)
    : parts_(parts),
      clock_(parts.loop.clock()),
      ports_(parts.settings.url),
      politeness_(clock_, OptionsOf(parts)),
      max_in_flight_(parts.max_in_flight),
      load_(parts.downloaders, 0),
      blocks_(std::make_shared<const scope::BlockSet>()),
      alive_(std::make_shared<Dispatcher*>(this)) {
  NEPHILA_CHECK(parts.downloaders > 0);
}

Dispatcher::~Dispatcher() { parts_.loop.Cancel(timer_); }

void Dispatcher::Take(std::vector<VisitPtr> visits) {
  for (VisitPtr& visit : visits) {
    came_ = came_ || visit->kind == item::FetchKind::kPage;
    Begin(std::move(visit));
  }
  ask_at_ = {};
  Pump();
}

void Dispatcher::Wanted(size_t count) {
  wanted_ -= std::min(count, wanted_);
  if (wanted_ == 0) {
    ask_at_ = came_ ? MonoTime{} : clock_.Now() + kAskAgain;
  }
  Pump();
}

void Dispatcher::Noted(uint64_t host, uint64_t epoch) {
  const auto found = hosts_.find(host);
  if (found != hosts_.end() && found->second.visits > 0) {
    // They wait for a name, or for room, and know nothing of the note.
    found->second.noted = epoch;
  } else {
    politeness_.Forget(host, epoch);
  }
}

void Dispatcher::Contacted(uint64_t lease, MonoTime when) {
  politeness_.Contacted(lease, when);
  Pump();
}

void Dispatcher::Ended(size_t downloader, End end) {
  if (end.is_page) ++pages_ended_;
  std::optional<Waits> released;
  if (end.lease != 0) {
    --in_flight_;
    --load_[downloader];
    const bool is_whole = end.outcome.host == item::HostStep::kWell;
    end.outcome.slow = classes_.End(end.lease, is_whole, clock_.Now());
    const politeness::Waits left = politeness_.Done(end.lease, end.outcome);
    const auto found = hosts_.find(left.host.host);
    if (found != hosts_.end()) {
      Host& host = found->second;
      if (host.changed || left.host.failures > 0 || left.host.overloads > 0) {
        host.changed = politeness_.HasNews(left.host.host);
      }
    }
    if (end.next == nullptr) {
      released = {RoundUp(left.host.left), RoundUp(left.host.authority_left),
                  RoundUp(left.address.left), left.host.failures,
                  left.host.overloads};
    }
    // Before the host can be forgotten here.
    PassOnNotes();
    Leave(left.host.host);
  }
  if (end.next != nullptr) Begin(std::move(end.next));
  ask_at_ = {};
  Pump();
  // Behind the visits that take its place: they are asked for before its page
  // is read.
  if (released) parts_.released(downloader, end.lease, *released);
}

void Dispatcher::Pause() { paused_ = true; }

void Dispatcher::Resume() {
  paused_ = false;
  Pump();
}

void Dispatcher::SetMaxInFlight(size_t max) {
  max_in_flight_ = max;
  Pump();
}

void Dispatcher::SetMostPages(uint64_t pages) {
  most_pages_ = pages;
  Pump();
}

void Dispatcher::SetDelays(const config::PolitenessSettings& settings) {
  politeness_.SetDelays(settings, [this](uint64_t key) -> std::string_view {
    const auto found = hosts_.find(key);
    if (found == hosts_.end()) return {};
    return found->second.name;
  });
  Pump();
}

DispatcherFacts Dispatcher::facts() const {
  DispatcherFacts facts;
  facts.politeness = politeness_.stats();
  facts.hosts = politeness_.CountHosts();
  facts.in_flight = in_flight_;
  facts.max_in_flight = max_in_flight_;
  facts.waiting = visits_.size();
  facts.resolving = nameless_;
  facts.no_room = full_.size();
  return facts;
}

HostLook Dispatcher::Look(uint64_t host, std::string_view url) const {
  HostLook look;
  look.why = politeness_.Why(host, AuthorityOf(url));
  look.now = clock_.Now();
  const auto found = hosts_.find(host);
  look.resolving = found != hosts_.end() && found->second.resolving;
  look.has_url = std::any_of(
      visits_.begin(), visits_.end(),
      [&](const auto& visit) { return IsPageOf(*visit.second, url); });
  return look;
}

void Dispatcher::Aim(Visit* visit) const {
  const auto record = item::ReadUrl(visit->record);
  NEPHILA_CHECK(record);
  const item::UrlRecord asked = item::Asked(*record);
  url::Url url;
  NEPHILA_CHECK(url::Parse(asked.url, nullptr, &url) && url.is_http());
  if (visit->kind == item::FetchKind::kPage) {
    visit->hops = record->followed;
    return AimAt(url, parts_.suffixes, parts_.seed, visit);
  }
  visit->walk = std::make_unique<fetch::RobotsWalk>(parts_.settings.fetch,
                                                    parts_.settings.url);
  if (record->target.empty()) {
    visit->walk->Start(url);
  } else {
    visit->walk->StartAt(url);
    visit->hops = 1;
  }
  AimAt(visit->walk->next(), parts_.suffixes, parts_.seed, visit);
}

void Dispatcher::Begin(VisitPtr visit) {
  if (visit->url.empty()) Aim(visit.get());
  const uint64_t id = next_id_++;
  Host& host = hosts_[visit->host_key];
  if (host.visits++ == 0) host.name = visit->host;
  if (std::exchange(host.kept, false)) --kept_;
  if (!unnamed_.empty()) PassOnUnnamed(*visit, &host);
  if (visit->kind == item::FetchKind::kRobots) ++robots_;
  visits_.emplace(id, std::move(visit));
  if (paused_) {
    AtTime(id, clock_.Now());
  } else {
    Prepare(id);
  }
}

politeness::HostFacts Dispatcher::FactsOf(const Visit& visit,
                                          const Host& host) const {
  politeness::HostFacts facts;
  facts.host = visit.host_key;
  facts.domain = visit.domain_key;
  facts.addresses = host.addresses;
  facts.name = visit.host;
  facts.authority = AuthorityOf(visit);
  facts.budget = static_cast<double>(visit.budget);
  // Before its robots.txt has come the Crawl-delay of a host is not known.
  if (visit.kind == item::FetchKind::kPage || visit.crawl_delay.count() > 0) {
    facts.crawl_delay = visit.crawl_delay;
  }
  facts.not_before = ToMono(visit.not_before, clock_);
  facts.overloads = visit.overloads;
  facts.authority_not_before = ToMono(visit.authority_not_before, clock_);
  facts.failures = visit.failures;
  return facts;
}

bool Dispatcher::Add(uint64_t id) {
  const Visit& visit = *visits_.at(id);
  const Host& host = hosts_.at(visit.host_key);
  const politeness::Added added =
      politeness_.Add(FactsOf(visit, host), KindOf(visit), PayloadOf(id));
  switch (added.outcome) {
    case politeness::AddOutcome::kTaken:
      return true;
    case politeness::AddOutcome::kLater:
      Park(id, added.due);
      return true;
    case politeness::AddOutcome::kFull:
      return false;
  }
  NEPHILA_CHECK(false);
}

void Dispatcher::Park(uint64_t id, MonoTime due) {
  const Visit& visit = *visits_.at(id);
  if (KindOf(visit) == Kind::kPage && IsGivenUp(visit)) {
    return Fail(id, item::FetchOutcome::kHostDead, "");
  }
  ParkedVisit parked;
  parked.visit = Extract(id);
  parked.due = ToWall(due, clock_);
  Leave(parked.visit->host_key);
  parts_.park(std::move(parked));
}

void Dispatcher::Pump() {
  // What is called may call back.
  if (std::exchange(pumping_, true)) {
    again_ = true;
    return;
  }
  do {
    again_ = false;
    PumpOnce();
  } while (again_);
  pumping_ = false;
  SetTimer();
}

void Dispatcher::PumpOnce() {
  if (!paused_) {
    AddWhatIsDue();
    AddWhatHadNoRoom();
  }
  std::vector<politeness::Lease> leases;
  if (!paused_) {
    ParkSlowNames();
    // Also if all transfers are taken: then it shows who waits for one.
    politeness_.Take(Limits(), leases);
  }
  if (parts_.before_leases && !leases.empty() &&
      !parts_.before_leases(leases).has_value()) {
    paused_ = true;
    for (const politeness::Lease& lease : leases) {
      GiveBack(lease);
      AtTime(IdOf(lease.payload), clock_.Now());
    }
    leases.clear();
  }
  for (const politeness::Lease& lease : leases) Start(lease);
  if (!paused_) EndSlowTransfers();
  // With it hosts go that have nothing to wait for any more.
  if (!paused_ && AddWhatHadNoRoom()) again_ = true;
  PassOnParked();
  PassOnNotes();
  AskForMore();
}

void Dispatcher::AddWhatIsDue() {
  const MonoTime now = clock_.Now();
  while (!later_.empty() && later_.begin()->first <= now) {
    const uint64_t id = later_.begin()->second;
    later_.erase(later_.begin());
    Prepare(id);
  }
}

bool Dispatcher::EndIfBlocked(const politeness::Lease& lease,
                              const std::optional<net::IpAddress>& address) {
  const uint64_t id = IdOf(lease.payload);
  auto why = WhyBlocked(*visits_.at(id));
  if (!why && address && !blocks_->Find(*address)) return false;
  GiveBack(lease);
  if (why) {
    Fail(id, item::FetchOutcome::kBlocked, *std::move(why));
  } else {
    // Its name may have other addresses: its answer tells.
    Prepare(id);
  }
  return true;
}

void Dispatcher::GiveBack(const politeness::Lease& lease) {
  politeness::Outcome outcome;
  outcome.end = clock_.Now();
  politeness_.Done(lease.id, outcome);
  PassOnNotes();
}

void Dispatcher::Start(const politeness::Lease& lease) {
  const uint64_t host = visits_.at(IdOf(lease.payload))->host_key;
  const auto address =
      AddressFor(lease, hosts_.at(host).addresses, politeness_);
  if (EndIfBlocked(lease, address)) return;
  VisitPtr visit = Extract(IdOf(lease.payload));
  visit->lease = lease.id;
  visit->address = *address;
  visit->keep_connection = KeepsConnection(*visit, hosts_.at(visit->host_key));
  const auto least = std::min_element(load_.begin(), load_.end());
  ++*least;
  ++in_flight_;
  const auto downloader = static_cast<size_t>(least - load_.begin());
  classes_.Start(lease.id, lease.host_class, downloader, clock_.Now());
  parts_.start(downloader, std::move(visit));
}

bool Dispatcher::KeepsConnection(const Visit& visit, const Host& host) const {
  // A robots.txt is asked for because a page will be.
  const bool more = host.visits > 1 || visit.kind == item::FetchKind::kRobots;
  return more && !visit.is_again &&
         politeness_.Why(visit.host_key).delay <= kKeptFor;
}

void Dispatcher::PassOnParked() {
  std::vector<politeness::Parked> parked;
  politeness_.TakeParked(parked);
  for (const politeness::Parked& one : parked) {
    Park(IdOf(one.payload), one.due);
  }
}

void Dispatcher::PassOnNotes() {
  std::vector<politeness::HostNote> notes;
  politeness_.TakeNotes(notes);
  for (const politeness::HostNote& note : notes) {
    const auto host = hosts_.find(note.host);
    if (host == hosts_.end()) {
      // No record can be found by a key alone; politeness keeps its clock.
      auto& unnamed = unnamed_[note.host];
      std::erase_if(unnamed, [&note](const politeness::HostNote& earlier) {
        return earlier.authority == note.authority;
      });
      unnamed.push_back(note);
      continue;
    }
    PassOn(note, &host->second);
    DropIfDone(note.host);
  }
}

void Dispatcher::PassOn(const politeness::HostNote& note, Host* host) {
  if (host->changed) host->changed = politeness_.HasNews(note.host);
  const uint32_t authority = note.authority != politeness::kNoAuthority
                                 ? note.authority
                                 : politeness::kHttpAuthority;
  parts_.note({note.host, note.epoch, OriginOf(host->name, authority),
               ToWall(note.not_before, clock_), note.overloads,
               ToWall(note.authority_not_before, clock_), note.failures});
}

void Dispatcher::PassOnUnnamed(const Visit& visit, Host* host) {
  const auto found = unnamed_.find(visit.host_key);
  if (found == unnamed_.end()) return;
  const std::vector<politeness::HostNote> notes = std::move(found->second);
  unnamed_.erase(found);
  for (politeness::HostNote note : notes) {
    if (note.authority == politeness::kNoAuthority) {
      // Of the authority that comes first nothing is to change.
      note.authority = AuthorityOf(visit);
      note.authority_not_before = ToMono(visit.authority_not_before, clock_);
      note.failures = visit.failures;
    }
    PassOn(note, host);
  }
}

void Dispatcher::AskForMore() {
  if (paused_ || wanted_ > 0) return;
  if (ask_at_ > clock_.Now() || !politeness_.WantsMore()) return;
  if (nameless_ >= MostNameless()) return;
  const size_t most = MostVisits();
  if (visits_.size() >= most) return;
  const auto urls = static_cast<size_t>(parts_.settings.politeness.max_urls);
  wanted_ = std::min({kBatch, urls, most - visits_.size()});
  came_ = false;
  parts_.want(wanted_);
}

void Dispatcher::SetTimer() {
  MonoTime due = MonoTime::max();
  if (!paused_) {
    if (in_flight_ < MostLeases()) {
      due = politeness_.NextDue(Limits());
    }
    due = std::min({due, NextSlowTransfer(), NextSlowName()});
    if (!later_.empty()) due = std::min(due, later_.begin()->first);
    if (wanted_ == 0 && ask_at_ > clock_.Now()) due = std::min(due, ask_at_);
  }
  if (timer_ != net::TimerId::kNone) {
    if (timer_at_ == due) return;
    parts_.loop.Cancel(timer_);
    timer_ = net::TimerId::kNone;
  }
  if (due == MonoTime::max()) return;
  timer_at_ = due;
  timer_ = parts_.loop.At(due, [this] {
    timer_ = net::TimerId::kNone;
    Pump();
  });
}

VisitPtr Dispatcher::Extract(uint64_t id) {
  const auto found = visits_.find(id);
  NEPHILA_CHECK(found != visits_.end());
  VisitPtr visit = std::move(found->second);
  visits_.erase(found);
  if (visit->kind == item::FetchKind::kRobots) --robots_;
  return visit;
}

void Dispatcher::Leave(uint64_t host_key) {
  Host& host = hosts_.at(host_key);
  if (--host.visits == 0 && host.noted) {
    politeness_.Forget(host_key, *std::exchange(host.noted, std::nullopt));
  }
  DropIfDone(host_key);
}

void Dispatcher::DropIfDone(uint64_t host_key) {
  const auto found = hosts_.find(host_key);
  Host& host = found->second;
  if (host.visits > 0 || host.resolving) return;
  if (std::exchange(host.kept, false)) --kept_;
  // Its trouble is to be noted by this name: politeness, which will do so, has
  // no more hosts than this.
  const auto most = static_cast<size_t>(parts_.settings.politeness.max_hosts) +
                    static_cast<size_t>(parts_.settings.politeness.max_parked);
  if ((host.changed || MayBeNoted(host_key)) && kept_ < most) {
    host.kept = true;
    ++kept_;
    if (kept_ >= tidy_at_) TidyKept();
    return;
  }
  hosts_.erase(found);
}

}  // namespace nephila::crawl
