#include "crawl/adversary_plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nephila::crawl {
namespace {

using item::FetchOutcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Far longer than a crawl of the good hosts takes.
constexpr seconds kParkAfter{300};
constexpr seconds kJustBelow{290};
constexpr seconds kLong{600};
constexpr seconds kVeryLong{1200};
constexpr uint64_t kTimes = 10;  // the size of the tables

constexpr auto kNames = std::to_array<std::string_view>(
    {"RobotsSlow", "RobotsDead", "RobotsBusy", "RobotsLoop", "RobotsFanIn",
     "Ports", "CrawlDelay", "Tarpit", "SlowName", "RetryAfter"});
static_assert(kNames.size() == kAdversaryKinds);

FakeAnswer CrawlDelayOf(seconds delay) {
  return FakeText(
      "User-agent: *\nCrawl-delay: " + std::to_string(delay.count()) + "\n");
}

FakeAnswer Later(seconds delay) {
  FakeAnswer answer = FakeError(429);
  answer.fields.emplace_back("Retry-After", std::to_string(delay.count()));
  return answer;
}

FakeAnswer Silent(seconds takes) {
  FakeAnswer answer = FakeFailure(FetchOutcome::kTimeout);
  answer.takes = takes;
  return answer;
}

class AdversaryMaker {
 public:
  AdversaryMaker(uint64_t seed, std::span<const AdversaryKind> kinds)
      : random_(seed), kinds_(kinds.begin(), kinds.end()) {
    plan_.alone.seed = seed;
  }

  AdversaryPlan Make() {
    TwinPlan& alone = plan_.alone;
    alone.profile =
        random_.Chance(0.5) ? config::Profile::kSite : config::Profile::kBroad;
    alone.settings = TwinSettings(alone.profile);
    SetTables();
    const uint64_t hosts = 4 + random_.Below(4);
    for (uint64_t i = 0; i < hosts; ++i) PutGoodHost(i);
    alone.urls = alone.finals.size();
    plan_.good = alone.finals;

    TwinPlan& hostile = plan_.hostile;
    hostile = alone;
    const std::vector<std::string> good = std::move(hostile.seeds);
    hostile.seeds.clear();
    for (uint64_t i = 0; i < hostile_hosts_; ++i) {
      PutHostile(kinds_[random_.Below(kinds_.size())], std::to_string(i));
    }
    hostile.urls = hostile.finals.size() + dropped_;
    // Before the good ones, or among them.
    hostile.seeds.insert(hostile.seeds.end(), good.begin(), good.end());
    if (random_.Chance(0.5)) {
      random_.Shuffle(std::span<std::string>(hostile.seeds));
    }
    return std::move(plan_);
  }

 private:
  void SetTables() {
    config::Settings& settings = plan_.alone.settings;
    settings.politeness.max_hosts = 8 + static_cast<int>(random_.Below(8));
    settings.politeness.max_urls = 16 + static_cast<int>(random_.Below(16));
    settings.politeness.park_after = kParkAfter;
    // So that a crawl of the good hosts alone takes half a minute.
    settings.politeness.host_delay = seconds(1);
    settings.politeness.host_delay_floor = seconds(1);
    settings.crawl.max_transfers = 4 + static_cast<int>(random_.Below(5));
    settings.fetch.retry_attempts = 3;
    settings.reputation.base = 10;
    settings.reputation.most = 10;
    hostile_hosts_ =
        kTimes * static_cast<uint64_t>(std::max(settings.politeness.max_hosts,
                                                settings.crawl.max_transfers));
  }

  // Its home page links to the others, or each page to the next.
  void PutGoodHost(uint64_t number) {
    TwinPlan& plan = plan_.alone;
    const std::string host = "http://good" + std::to_string(number) + ".com/";
    const uint64_t pages = 20 + random_.Below(10);
    const bool chain = random_.Chance(0.3);
    for (uint64_t page = 0; page < pages; ++page) {
      const std::string url = host + std::to_string(page);
      std::vector<std::string> links;
      for (uint64_t to = page + 1; to < pages && (chain || page == 0); ++to) {
        links.push_back(host + std::to_string(to));
        if (chain) break;
      }
      plan.answers[url] = {FakePage(TwinPage(links, url))};
      plan.finals.insert(url);
    }
    plan.seeds.push_back(host + "0");
  }

  // A page that comes in the end.
  void PutPage(const std::string& url) {
    TwinPlan& plan = plan_.hostile;
    plan.answers[url] = {FakePage(TwinPage({}, url))};
    plan.finals.insert(url);
    plan.seeds.push_back(url);
  }
  // One that never comes.
  void PutDropped(const std::string& url) {
    plan_.hostile.seeds.push_back(url);
    ++dropped_;
  }

  void PutHostile(AdversaryKind kind, const std::string& number) {
    TwinPlan& plan = plan_.hostile;
    const std::string site = "a" + number + ".net";
    const std::string second =
        (kind == AdversaryKind::kRobotsFanIn ? "b" : "b" + number) + ".org";
    const std::string url = "http://" + site + "/";
    const std::string robots = url + "robots.txt";
    const std::string elsewhere = "http://" + second + "/robots.txt";
    switch (kind) {
      case AdversaryKind::kRobotsSlow:
      case AdversaryKind::kRobotsFanIn:
        plan.answers[robots] = {FakeRedirect(elsewhere, 301)};
        plan.answers[elsewhere] = {CrawlDelayOf(kLong)};
        plan.crawl_delays[site] = kLong;
        PutPage(url);
        return;
      case AdversaryKind::kRobotsDead:
        plan.answers[robots] = {FakeRedirect(elsewhere, 301)};
        plan.answers[elsewhere] = {Silent(kLong)};
        PutDropped(url);
        return;
      case AdversaryKind::kRobotsBusy:
        plan.answers[robots] = {FakeRedirect(elsewhere, 301)};
        plan.answers[elsewhere] = {Later(kVeryLong)};
        PutDropped(url);
        return;
      case AdversaryKind::kRobotsLoop:
        // A robots.txt behind too many redirects is unavailable, and all is
        // allowed (RFC 9309 s2.3.1.2).
        plan.answers[robots] = {FakeRedirect(elsewhere, 301)};
        plan.answers[elsewhere] = {FakeRedirect(robots, 301)};
        PutPage(url);
        return;
      case AdversaryKind::kPorts: {
        const std::string port = "http://ports.net:2" + number + "1/";
        plan.answers[port + "robots.txt"] = {
            FakeFailure(FetchOutcome::kConnectFailed)};
        plan.answers[port] = {FakeFailure(FetchOutcome::kConnectFailed)};
        PutDropped(port);
        return;
      }
      case AdversaryKind::kCrawlDelay:
        plan.answers[robots] = {CrawlDelayOf(kJustBelow)};
        plan.crawl_delays[site] = kJustBelow;
        PutPage(url);
        PutPage(url + "2");
        return;
      case AdversaryKind::kTarpit:
        plan.answers[url] = {Silent(kLong)};
        PutDropped(url);
        return;
      case AdversaryKind::kSlowName:
        plan.name_times[site] = kLong;
        PutPage(url);
        return;
      case AdversaryKind::kRetryAfter:
        PutPage(url);
        plan.answers[url].insert(plan.answers[url].begin(), Later(kVeryLong));
        plan.errors[url] =
            static_cast<size_t>(plan.settings.fetch.retry_attempts);
        return;
    }
  }

  Random random_;
  const std::vector<AdversaryKind> kinds_;
  uint64_t hostile_hosts_ = 0;
  size_t dropped_ = 0;
  AdversaryPlan plan_;
};

}  // namespace

std::string_view AdversaryName(AdversaryKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

AdversaryPlan MakeAdversaryPlan(uint64_t seed,
                                std::span<const AdversaryKind> kinds) {
  return AdversaryMaker(seed, kinds).Make();
}

}  // namespace nephila::crawl
