// Thousands of hosts on shared addresses, crawled in simulated time; what was
// done is then checked against the rules by someone who knows nothing of heaps.
// Each URL comes with what the record of its host said when it was checked,
// which may be long ago; a host is forgotten when all of before are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "politeness/politeness.h"
#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

// What happened, as servers would see it.
struct Contact {
  uint64_t host;
  size_t port;  // of kPorts
  ServerKey server;
  Kind kind;
  MonoTime leased;
  std::optional<MonoTime> contact;
  MonoTime end;
  HostStep health;
  Length retry_after;
  Length download;
  bool cut_off;  // by the end of the process
};

// Some hosts have URLs at a second port.
constexpr std::array<uint32_t, 2> kPorts = {kHttpAuthority,
                                            AuthorityOf(8080, false)};

// What the record of an authority says.
struct Record {
  MonoTime not_before{};
  uint32_t failures = 0;
};

struct Site {
  TestHost host;
  std::array<Record, kPorts.size()> records{};
};

struct Pending {
  size_t site;
  size_t port;  // of kPorts
  Kind kind;
  std::string url;
  // When it was checked, in the order of checks, and what the records said.
  uint64_t checked = 0;
  MonoTime not_before{};
  uint32_t overloads = 0;
  Record record{};
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {
    settings_.host_delay = seconds(10);
    settings_.host_delay_floor = seconds(3);
    settings_.server_delay = milliseconds(500);
    settings_.server_delay_floor = milliseconds(100);
    settings_.server_in_flight = 3;
    settings_.back_off = seconds(30);
    settings_.back_off_max = minutes(4);
    settings_.dead_pause = minutes(6);
    settings_.dead_pause_max = minutes(20);
    settings_.park_after = minutes(2);
    // Both bounds are reached, and what is due last leaves memory.
    settings_.max_hosts = 200;
    settings_.max_urls = 400;
    settings_.max_parked = 150;
    settings_.download_multiple = seed % 2 == 0 ? 0 : 4;
    MakeSites();
    Start(false);
  }

  void Run() {
    const size_t urls = waiting_.size();
    bool restarted = false;
    for (uint64_t step = 0; !Finished(); ++step) {
      ASSERT_LT(step, 2'000'000U)
          << waiting_.size() << " wait, " << later_.size() << " later, "
          << held_.size() << " in memory, " << flights_.size() << " in flight, "
          << politeness_->stats().hosts << " hosts, "
          << politeness_->stats().parked_hosts << " parked, " << log_.size()
          << " contacts";
      if (!restarted && log_.size() > urls / 2) {
        restarted = true;
        Restart();
      }
      Feed();
      TakeLeases();
      CheckAccounts();
      Advance();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(finished_.size(), urls);
  }

  const std::vector<Contact>& log() const { return log_; }
  const std::vector<Site>& sites() const { return sites_; }
  const PolitenessSettings& settings() const { return settings_; }
  MonoTime restarted_at() const { return restarted_at_; }
  uint64_t most_parked() const { return most_parked_; }

 private:
  struct Flight {
    Lease lease;
    Contact contact;
    Pending url;
    bool reported = false;
  };

  void MakeSites() {
    for (size_t i = 0; i < 5000; ++i) {
      // A few addresses have most of the hosts.
      const auto server = static_cast<uint32_t>(
          random_.Chance(0.4) ? random_.Below(5) : 5 + random_.Below(400));
      std::vector<uint32_t> servers = {server};
      if (random_.Chance(0.1)) servers.push_back(server + 1000);
      Site site{TestHost(i + 1, servers)};
      // All domains of an address have one budget, so that the mean is known.
      site.host.budget = std::vector<double>{10, 20, 25, 1000}[server % 4];
      if (random_.Chance(0.1)) {
        site.host.crawl_delay = seconds(random_.Below(120));
      }
      sites_.push_back(site);
      const size_t pages = 1 + random_.Below(random_.Chance(0.1) ? 20 : 3);
      Enqueue({i, 0, Kind::kFirstRobots, Name(i, 0)});
      for (size_t page = 1; page <= pages; ++page) {
        const size_t port = i % 4 == 3 ? random_.Below(kPorts.size()) : 0;
        Enqueue({i, port, Kind::kPage, Name(i, page)});
      }
    }
  }
  void Check(Pending& url) {
    const Site& site = sites_[url.site];
    url.checked = next_check_++;
    url.not_before = site.host.not_before;
    url.overloads = site.host.overloads;
    url.record = site.records.at(url.port);
  }
  void Enqueue(Pending url) {
    Check(url);
    waiting_.push_back(std::move(url));
  }
  static std::string Name(size_t site, size_t page) {
    return std::to_string(site) + "/" + std::to_string(page);
  }

  void Start(bool restarted) {
    PolitenessOptions options;
    options.settings = settings_;
    options.restarted = restarted;
    politeness_ = std::make_unique<Politeness>(clock_, std::move(options));
  }

  bool Finished() const {
    return waiting_.empty() && later_.empty() && flights_.empty() &&
           held_.empty();
  }

  // URLs from the queue while they are wanted, and those that are due.
  void Feed() {
    std::vector<Parked> parked;
    politeness_->TakeParked(parked);
    for (const Parked& item : parked) {
      later_.emplace(item.due, held_.at(item.payload));
      held_.erase(item.payload);
    }
    TakeNotes();
    while (!later_.empty() && later_.begin()->first <= clock_.Now()) {
      Pending url = later_.begin()->second;
      later_.erase(later_.begin());
      Check(url);
      if (!Offer(url)) break;
    }
    while (!waiting_.empty() && politeness_->WantsMore()) {
      const Pending url = waiting_.front();
      waiting_.pop_front();
      if (!Offer(url)) break;
    }
  }

  // Into the records; their hosts are forgotten when the URLs that were
  // checked before are read.
  void TakeNotes() {
    std::vector<HostNote> notes;
    politeness_->TakeNotes(notes);
    for (const HostNote& note : notes) {
      Site& site = sites_[note.host - 1];
      site.host.not_before = note.not_before;
      site.host.overloads = note.overloads;
      if (Record* record = RecordOf(note)) {
        *record = {note.authority_not_before, note.failures};
      }
      notes_.emplace_back(next_check_, note);
    }
    while (!notes_.empty() &&
           (waiting_.empty() ||
            notes_.front().first <= waiting_.front().checked)) {
      const HostNote& note = notes_.front().second;
      politeness_->Forget(note.host, note.epoch);
      notes_.pop_front();
    }
  }

  // Null if the note is about the host alone.
  Record* RecordOf(const HostNote& note) {
    for (size_t port = 0; port < kPorts.size(); ++port) {
      if (kPorts.at(port) == note.authority) {
        return &sites_[note.host - 1].records.at(port);
      }
    }
    return nullptr;
  }

  bool Offer(const Pending& url) {
    TestHost host = sites_[url.site].host;
    host.not_before = url.not_before;
    host.overloads = url.overloads;
    host.authority = kPorts.at(url.port);
    host.authority_not_before = url.record.not_before;
    host.failures = url.record.failures;
    const Added added = politeness_->Add(host.facts(), url.kind, url.url);
    switch (added.outcome) {
      case AddOutcome::kTaken:
        held_.emplace(url.url, url);
        return true;
      case AddOutcome::kLater:
        EXPECT_GT(added.due, clock_.Now());
        later_.emplace(added.due, url);
        return true;
      case AddOutcome::kFull:
        // Those that wait stay in the order of their checks.
        if (!waiting_.empty() && waiting_.front().checked < url.checked) {
          later_.emplace(clock_.Now() + seconds(1), url);
        } else {
          waiting_.push_front(url);
        }
        return false;
    }
    return false;
  }

  void TakeLeases() {
    std::vector<Lease> leases;
    politeness_->Take(1 + random_.Below(50), leases);
    for (Lease& lease : leases) {
      Flight flight;
      flight.url = held_.at(lease.payload);
      held_.erase(lease.payload);
      Contact& contact = flight.contact;
      contact.host = lease.host;
      contact.port = flight.url.port;
      contact.server = lease.address;
      contact.kind = lease.kind;
      contact.leased = clock_.Now();
      Plan(contact);
      flight.lease = std::move(lease);
      flights_.push_back(std::move(flight));
    }
  }

  // How it will go. One host in twenty is dead at first, of some others only
  // the second port.
  void Plan(Contact& contact) {
    const Length connect = milliseconds(random_.Below(300));
    contact.contact = contact.leased + connect;
    contact.download = milliseconds(random_.Below(4000));
    contact.end = *contact.contact + contact.download;
    contact.retry_after = Length::zero();
    contact.health = HostStep::kWell;
    contact.cut_off = false;
    const bool dead = (contact.host % 20 == 0 ||
                       (contact.host % 5 == 0 && contact.port > 0)) &&
                      random_.Chance(0.9);
    if (dead || random_.Chance(0.02)) {
      contact.health = HostStep::kTrouble;
      contact.contact = contact.end;
      if (random_.Chance(0.2)) contact.contact.reset();
    } else if (random_.Chance(0.05)) {
      contact.health = HostStep::kBackOff;
      if (random_.Chance(0.5))
        contact.retry_after = seconds(random_.Below(600));
    }
  }

  // To the next thing that happens.
  void Advance() {
    MonoTime next = politeness_->NextDue();
    for (const Flight& flight : flights_) {
      if (!flight.reported && ReportsContact(flight)) {
        next = std::min(next, *flight.contact.contact);
      }
      next = std::min(next, flight.contact.end);
    }
    // What is due already waits for room.
    const auto later = later_.upper_bound(clock_.Now());
    if (later != later_.end()) next = std::min(next, later->first);
    if (next == MonoTime::max()) return;
    if (next > clock_.Now()) clock_.Advance(next - clock_.Now());
    for (size_t i = 0; i < flights_.size();) {
      Flight& flight = flights_[i];
      if (!flight.reported && ReportsContact(flight) &&
          *flight.contact.contact <= clock_.Now()) {
        flight.reported = true;
        politeness_->Contacted(flight.lease.id, *flight.contact.contact);
      }
      if (flight.contact.end > clock_.Now()) {
        ++i;
        continue;
      }
      Finish(flight);
      std::swap(flight, flights_.back());
      flights_.pop_back();
    }
  }
  // Some are only known of at the end.
  static bool ReportsContact(const Flight& flight) {
    return flight.lease.id % 3 != 0 && flight.contact.contact.has_value() &&
           flight.contact.health != HostStep::kTrouble;
  }

  void Finish(Flight& flight) {
    const Contact& contact = flight.contact;
    Outcome outcome;
    outcome.contact = contact.contact;
    outcome.end = contact.end;
    outcome.host = contact.health;
    outcome.download = contact.download;
    outcome.retry_after = contact.retry_after;
    politeness_->Done(flight.lease.id, outcome);
    log_.push_back(contact);
    if (contact.health == HostStep::kWell) {
      EXPECT_TRUE(finished_.insert(flight.url.url).second);
    } else {
      Enqueue(flight.url);  // a retry
    }
  }

  // kill -9: what is in flight reached the server; what was in memory comes
  // again.
  void Restart() {
    const std::string saved = politeness_->Save();
    for (Flight& flight : flights_) {
      flight.contact.end = std::min(flight.contact.end, clock_.Now());
      if (flight.contact.contact > clock_.Now()) flight.contact.contact.reset();
      flight.contact.cut_off = true;
      log_.push_back(flight.contact);
      Enqueue(flight.url);
    }
    flights_.clear();
    for (auto& [name, url] : held_) Enqueue(url);
    held_.clear();
    // What was noted last did not come to the records.
    for (const auto& [checked, note] : notes_) {
      Site& site = sites_[note.host - 1];
      site.host.not_before = {};
      site.host.overloads = 0;
      if (Record* record = RecordOf(note)) *record = {};
    }
    notes_.clear();
    restarted_at_ = clock_.Now();
    Start(true);
    ASSERT_TRUE(politeness_->Restore(saved).has_value());
  }

  void CheckAccounts() {
    const PolitenessStats stats = politeness_->stats();
    ASSERT_EQ(stats.added, stats.leased + stats.parked + stats.waiting);
    ASSERT_EQ(stats.in_flight, flights_.size());
    ASSERT_LE(stats.hosts, static_cast<uint64_t>(settings_.max_hosts));
    ASSERT_LE(stats.waiting, static_cast<uint64_t>(settings_.max_urls));
    ASSERT_LE(
        stats.parked_hosts + stats.hosts,
        static_cast<uint64_t>(settings_.max_parked + settings_.max_hosts));
    most_parked_ = std::max(most_parked_, stats.parked_hosts);
  }

  Random random_;
  ManualClock clock_;
  PolitenessSettings settings_;
  std::unique_ptr<Politeness> politeness_;
  std::vector<Site> sites_;
  std::deque<Pending> waiting_;
  std::multimap<MonoTime, Pending> later_;
  std::map<std::string, Pending> held_;  // in politeness, by name
  std::vector<Flight> flights_;
  std::vector<Contact> log_;
  std::set<std::string> finished_;
  // With the check from which on records have it.
  std::deque<std::pair<uint64_t, HostNote>> notes_;
  uint64_t next_check_ = 1;
  uint64_t most_parked_ = 0;
  MonoTime restarted_at_{};
};

// The rules once more, without a heap.
class Checker {
 public:
  explicit Checker(const Simulation& simulation)
      : settings_(simulation.settings()), simulation_(simulation) {}

  void Check() {
    std::map<uint64_t, std::vector<Contact>> by_host;
    std::map<std::array<uint8_t, 16>, std::vector<Contact>> by_server;
    for (const Contact& contact : simulation_.log()) {
      by_host[contact.host].push_back(contact);
      by_server[contact.server.bytes].push_back(contact);
    }
    EXPECT_GT(by_host.size(), 4999U);
    EXPECT_GT(by_server.size(), 300U);
    for (auto& [host, contacts] : by_host) CheckHost(host, contacts);
    for (auto& [server, contacts] : by_server) CheckServer(contacts);
  }

 private:
  double BudgetOf(uint64_t host) const {
    return simulation_.sites()[host - 1].host.budget;
  }
  static Length Scale(Length delay, Length floor, double budget) {
    const Length scaled(
        static_cast<int64_t>(static_cast<double>(delay.count()) * 10 / budget));
    return std::min(delay, std::max(scaled, floor));
  }

  void CheckHost(uint64_t host, std::vector<Contact>& contacts) const {
    std::sort(
        contacts.begin(), contacts.end(),
        [](const Contact& a, const Contact& b) { return a.leased < b.leased; });
    uint32_t overloads = 0;
    std::array<uint32_t, kPorts.size()> failures{};
    std::array<MonoTime, kPorts.size()> silent_until{};
    for (size_t i = 0; i < contacts.size(); ++i) {
      const Contact& one = contacts[i];
      ASSERT_GE(one.leased, silent_until.at(one.port))
          << "host " << host << " port " << one.port << " contact " << i;
      // A lease that made no contact and did not fail asks for no wait; after
      // one that was cut off the counts are what they were.
      uint32_t& failed = failures.at(one.port);
      const bool silent = one.health == HostStep::kTrouble;
      if (!one.cut_off) {
        overloads = one.health == HostStep::kBackOff ? overloads + 1
                    : one.health == HostStep::kWell  ? 0
                                                     : overloads;
        failed = silent ? failed + 1 : 0;
        if (silent) {
          silent_until.at(one.port) = one.end + Silence(overloads, failed);
        }
      }
      if (i + 1 == contacts.size()) break;
      const Contact& two = contacts[i + 1];
      ASSERT_GE(two.leased, one.end) << "two in flight at host " << host;
      ASSERT_GE(two.leased - one.end, HostWait(host, one, overloads))
          << "host " << host << " contact " << i << " health "
          << static_cast<int>(one.health);
    }
  }

  Length BackOff(uint32_t troubles) const {
    if (troubles == 0) return Length::zero();
    Length back_off = settings_.back_off;
    for (uint32_t i = 1; i < troubles && back_off < settings_.back_off_max;
         ++i) {
      back_off *= 2;
    }
    return std::min(back_off, Length(settings_.back_off_max));
  }

  // Of an authority that does not answer.
  Length Silence(uint32_t overloads, uint32_t failures) const {
    Length wait = BackOff(overloads + failures);
    if (failures < 3) return wait;
    Length pause = settings_.dead_pause;
    for (uint32_t i = 3; i < failures && pause < settings_.dead_pause_max;
         ++i) {
      pause *= 2;
    }
    return std::max(wait, std::min(pause, Length(settings_.dead_pause_max)));
  }

  Length HostWait(uint64_t host, const Contact& contact,
                  uint32_t overloads) const {
    Length wait =
        Scale(settings_.host_delay, settings_.host_delay_floor, BudgetOf(host));
    wait = std::max(wait, simulation_.sites()[host - 1].host.crawl_delay);
    if (contact.cut_off || contact.health == HostStep::kTrouble) return wait;
    wait = std::max(wait, contact.download * settings_.download_multiple);
    wait = std::max(wait, contact.retry_after);
    if (contact.health == HostStep::kBackOff) {
      wait = std::max(wait, BackOff(overloads));
    }
    return wait;
  }

  void CheckServer(std::vector<Contact>& contacts) const {
    const Length delay =
        Scale(settings_.server_delay, settings_.server_delay_floor,
              BudgetOf(contacts.front().host));
    std::vector<MonoTime> times;
    std::vector<std::pair<MonoTime, int>> changes;
    for (const Contact& contact : contacts) {
      if (contact.contact.has_value()) times.push_back(*contact.contact);
      changes.emplace_back(contact.leased, 1);
      changes.emplace_back(contact.end, -1);
    }
    std::sort(times.begin(), times.end());
    for (size_t i = 0; i + 1 < times.size(); ++i) {
      ASSERT_GE(times[i + 1] - times[i], delay) << "at one address";
    }
    std::sort(changes.begin(), changes.end());
    int in_flight = 0;
    for (const auto& [time, change] : changes) {
      in_flight += change;
      ASSERT_LE(in_flight, settings_.server_in_flight);
    }
  }

  const PolitenessSettings& settings_;
  const Simulation& simulation_;
};

TEST(PolitenessSimulationTest, NoDelayIsEverBroken) {
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) {
    Simulation simulation(seed);
    simulation.Run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ASSERT_GT(simulation.restarted_at(), MonoTime());
    // The bound on parked hosts was reached, and did not stop it.
    EXPECT_GE(simulation.most_parked(), 150U);
    Checker(simulation).Check();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nephila::politeness
