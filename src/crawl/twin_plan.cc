#include "crawl/twin_plan.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/random.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kHosts[] = {"a.com", "b.com",   "www.a.com", "c.org",
                                  "d.net", "x.c.org", "e.co.uk",   "f.com"};
constexpr size_t kForEver = 1000;

enum class HostKind : uint8_t {
  kPlain,           // robots.txt is missing
  kRules,           // it denies /no
  kCrawlDelay,      // and asks for a delay
  kRulesElsewhere,  // it is redirected
  kFlakyRules,      // it comes at the second or third time
  kBusyRules,       // it says 503 and Retry-After first
  kFlakyName,       // its name is found at the second or third time
  kNoRules,         // robots.txt says 500 for ever
  kNoName,          // its name does not exist
  kSilentRules,     // robots.txt never answers
};
constexpr size_t kGoodHosts = 7;
constexpr size_t kHostKinds = 10;

enum class PageKind : uint8_t {
  kPlain,
  kCopy,  // of one body, that others have too
  kLarge,
  kRedirect,  // to another page
  kFlaky,     // fails, then comes
  kBusy,      // 429 or 503 with Retry-After, then comes
  kMissing,   // 404
  kBroken,    // 500 for ever
  kSilent,    // times out for ever
  kDenied,    // by rules, if its host has some
};

struct Host {
  std::string name;
  HostKind kind = HostKind::kPlain;
};
struct Page {
  std::string url;
  size_t host = 0;
  PageKind kind = PageKind::kPlain;
  std::vector<size_t> links;  // other pages; of a redirect one
};

FakeAnswer Busy(Random& random) {
  FakeAnswer answer = FakeError(random.Chance(0.5) ? 429 : 503);
  answer.fields.emplace_back("Retry-After",
                             std::to_string(1 + random.Below(2)));
  return answer;
}

FakeAnswer Silent() {
  FakeAnswer answer = FakeFailure(FetchOutcome::kTimeout);
  answer.takes = milliseconds(300);
  return answer;
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { plan_.seed = seed; }

  TwinPlan Make() {
    plan_.profile =
        random_.Chance(0.5) ? config::Profile::kSite : config::Profile::kBroad;
    plan_.settings = TwinSettings(plan_.profile);
    VarySettings();
    VaryMemory();
    MakeHosts();
    MakePages();
    plan_.seeds.push_back(pages_[0].url);
    if (random_.Chance(0.3)) plan_.seeds.push_back(Any(pages_).url);
    for (const Host& host : hosts_) PutHost(host);
    for (const Page& page : pages_) PutPage(page);
    Walk();
    return std::move(plan_);
  }

 private:
  template <typename T>
  const T& Any(const std::vector<T>& all) {
    return all[random_.Below(all.size())];
  }
  milliseconds Between(uint64_t least, uint64_t most) {
    return milliseconds(
        static_cast<int64_t>(least + random_.Below(most - least + 1)));
  }

  void VarySettings() {
    config::Settings& settings = plan_.settings;
    settings.crawl.checkpoint_interval = Between(30, 700);
    settings.crawl.sync_interval = Between(20, 150);
    settings.politeness.host_delay = Between(20, 150);
    settings.politeness.host_delay_floor = settings.politeness.host_delay;
    settings.politeness.server_delay = Between(1, 40);
    settings.politeness.server_delay_floor = settings.politeness.server_delay;
    settings.fetch.retry_attempts = 3 + static_cast<int>(random_.Below(2));
    if (random_.Chance(0.4)) {
      settings.politeness.park_after = Between(20, 400);
    }
    if (random_.Chance(0.3)) {
      settings.politeness.max_hosts = 1 + static_cast<int>(random_.Below(3));
      settings.politeness.max_urls = 2 + static_cast<int>(random_.Below(5));
    }
    // Fewer than there are hosts in trouble, and after a restart others wait
    // until what they did is a day old.
    if (random_.Chance(0.2)) settings.politeness.max_parked = 4;
    if (random_.Chance(0.5)) {
      settings.crawl.memory_bytes = uint64_t{2} << 20;
      settings.crawl.disk_bytes = uint64_t{2} << 20;
    }
    if (random_.Chance(0.5)) {
      settings.store.revisit_memory_bytes = uint64_t{1} << 20;
    }
    if (random_.Chance(0.3)) settings.store.max_file_bytes = uint64_t{64} << 10;
    if (random_.Chance(0.2)) settings.store.max_file_age = seconds(1);
    settings.reputation.base = 1 + static_cast<int>(random_.Below(4));
    settings.reputation.most =
        settings.reputation.base + static_cast<int>(random_.Below(6));
    settings.budget.first_queues = 1 + static_cast<int>(random_.Below(2));
    // Limits that nothing reaches: what is right stays the same.
    constexpr int kMany = 1000;
    if (plan_.seed % 3 == 1) settings.scope.max_pages_per_host = kMany;
    if (plan_.seed % 5 < 2) {
      settings.scope.max_pages_per_domain = kMany;
      settings.scope.max_hosts_per_domain = kMany;
    }
  }

  // A number of its own: the webs stay as they were.
  void VaryMemory() {
    Random random(plan_.seed * 3 + 1);
    if (random.Chance(0.4)) plan_.in_transit = 2000 + random.Below(8000);
    if (random.Chance(0.2)) plan_.visits = 3000 + random.Below(20'000);
    if (!random.Chance(0.3)) return;
    padding_.assign(200 + random.Below(1500), 'x');
    plan_.longest_url += padding_.size();
  }

  void MakeHosts() {
    const size_t count = 1 + random_.Below(5);
    for (size_t i = 0; i < count; ++i) {
      Host host;
      host.name = kHosts[i];
      const bool is_bad = i > 0 && random_.Chance(0.15);
      host.kind = static_cast<HostKind>(
          is_bad ? kGoodHosts + random_.Below(kHostKinds - kGoodHosts)
                 : random_.Below(kGoodHosts));
      hosts_.push_back(host);
      constexpr uint32_t kFirst = 0xC6120100;
      const size_t address = random_.Chance(0.5) ? i : random_.Below(count);
      plan_.hosts[host.name] = {
          net::IpAddress::V4(kFirst + static_cast<uint32_t>(address))};
    }
  }

  void MakePages() {
    const size_t count = 6 + random_.Below(25);
    for (size_t i = 0; i < count; ++i) {
      Page page;
      page.host = i == 0 ? 0 : random_.Below(hosts_.size());
      page.kind = KindOfPage(i);
      const bool denied = page.kind == PageKind::kDenied;
      page.url = "http://" + hosts_[page.host].name + (denied ? "/no/" : "/p") +
                 std::to_string(i) + padding_;
      if (i > 0) LinkFrom(random_.Below(i), i);
      pages_.push_back(std::move(page));
    }
    for (size_t i = 0; i < count; ++i) {
      LinkFrom(random_.Below(count), random_.Below(count));
    }
  }
  PageKind KindOfPage(size_t number) {
    if (number == 0 || random_.Chance(0.55)) return PageKind::kPlain;
    return static_cast<PageKind>(1 + random_.Below(9));
  }
  void LinkFrom(size_t from, size_t to) {
    Page& page = pages_[from];
    if (page.kind == PageKind::kRedirect && !page.links.empty()) return;
    // Nowhere else to: it would be a redirect to itself.
    if (page.kind == PageKind::kRedirect && from == to) return;
    page.links.push_back(to);
  }

  void PutHost(const Host& host) {
    const std::string robots = "http://" + host.name + "/robots.txt";
    const FakeAnswer rules = FakeText("User-agent: *\nDisallow: /no\n");
    std::vector<FakeAnswer>& answers = plan_.answers[robots];
    switch (host.kind) {
      case HostKind::kPlain:
        answers = {FakeError(404)};
        return;
      case HostKind::kRules:
        answers = {rules};
        return;
      case HostKind::kCrawlDelay: {
        const bool is_long = random_.Chance(0.3);
        answers = {FakeText("User-agent: *\nDisallow: /no\nCrawl-delay: " +
                            std::string(is_long ? "1" : "0.3") + "\n")};
        plan_.crawl_delays[host.name] = milliseconds(is_long ? 1000 : 300);
        return;
      }
      case HostKind::kRulesElsewhere: {
        // A hop knows no more of its host than politeness does, which may have
        // parked and forgotten it.
        plan_.settings.politeness.park_after = std::chrono::minutes(5);
        const std::string there =
            "http://" + (random_.Chance(0.5) ? host.name : hosts_[0].name) +
            "/rules-of-" + host.name;
        answers = {FakeRedirect(there, 301)};
        plan_.answers[there] = {rules};
        return;
      }
      case HostKind::kFlakyRules:
        answers.assign(1 + random_.Below(2),
                       random_.Chance(0.5) ? FakeError(500) : Silent());
        answers.push_back(rules);
        return;
      case HostKind::kBusyRules:
        answers = {Busy(random_), rules};
        return;
      case HostKind::kFlakyName:
        answers = {rules};
        plan_.failures[host.name].assign(1 + random_.Below(2),
                                         dns::Outcome::kServerFailure);
        return;
      case HostKind::kNoRules:
        answers = {FakeError(500)};
        return;
      case HostKind::kNoName:
        answers = {rules};
        plan_.failures[host.name].assign(kForEver, dns::Outcome::kNoSuchName);
        return;
      case HostKind::kSilentRules:
        answers = {Silent()};
        return;
    }
  }

  void PutPage(const Page& page) {
    std::vector<std::string> links;
    for (const size_t link : page.links) links.push_back(pages_[link].url);
    std::string text = page.url;
    if (page.kind == PageKind::kCopy) {
      // One body for all of them, long enough to be a revisit.
      links = {"http://" + hosts_[0].name + "/of-copies"};
      text = std::string(1200, 'c');
    }
    if (page.kind == PageKind::kLarge) {
      text.append(5000 + random_.Below(20'000), 'x');
    }
    const FakeAnswer good = FakePage(TwinPage(links, text));
    std::vector<FakeAnswer>& answers = plan_.answers[page.url];
    switch (page.kind) {
      case PageKind::kRedirect:
        answers = {page.links.empty()
                       ? FakeError(404)
                       : FakeRedirect(pages_[page.links[0]].url)};
        break;
      case PageKind::kFlaky:
        answers.assign(1 + random_.Below(2),
                       random_.Chance(0.5) ? FakeError(500) : Silent());
        answers.push_back(good);
        break;
      case PageKind::kBusy:
        answers = {Busy(random_), good};
        break;
      case PageKind::kMissing:
        answers = {FakeError(404)};
        break;
      case PageKind::kBroken:
        answers = {FakeError(500)};
        break;
      case PageKind::kSilent:
        answers = {Silent()};
        break;
      default:
        answers = {good};
        break;
    }
  }

  bool Denies(const Host& host) const { return host.kind != HostKind::kPlain; }

  // From the seeds, as a crawl must.
  void Walk() {
    std::set<std::string> found(plan_.seeds.begin(), plan_.seeds.end());
    std::deque<std::string> open(found.begin(), found.end());
    const auto find = [&](const std::string& url) {
      if (found.insert(url).second) open.push_back(url);
    };
    while (!open.empty()) {
      const std::string url = open.front();
      open.pop_front();
      const auto page =
          std::find_if(pages_.begin(), pages_.end(),
                       [&](const Page& one) { return one.url == url; });
      if (page == pages_.end()) {
        plan_.finals.insert(url);  // of copies: 404
        continue;
      }
      if (!Visit(*page)) continue;
      if (page->kind == PageKind::kCopy) {
        find("http://" + hosts_[0].name + "/of-copies");
        continue;
      }
      if (page->kind == PageKind::kMissing) continue;
      for (const size_t link : page->links) find(pages_[link].url);
    }
    plan_.urls = found.size();
  }
  // Whether there is anything behind it.
  bool Visit(const Page& page) {
    const Host& host = hosts_[page.host];
    if (static_cast<size_t>(host.kind) >= kGoodHosts) return false;
    if (page.kind == PageKind::kDenied && Denies(host)) return false;
    if (page.kind == PageKind::kSilent) return false;
    const auto attempts =
        static_cast<size_t>(plan_.settings.fetch.retry_attempts);
    if (page.kind == PageKind::kBroken) {
      plan_.broken.insert(page.url);
      plan_.errors[page.url] = attempts;
      return false;
    }
    if (page.kind == PageKind::kFlaky || page.kind == PageKind::kBusy) {
      plan_.errors[page.url] = attempts;
    }
    plan_.finals.insert(page.url);
    return true;
  }

  Random random_;
  TwinPlan plan_;
  std::vector<Host> hosts_;
  std::string padding_;  // of all URLs but that of robots.txt
  std::vector<Page> pages_;
};

}  // namespace

std::string TwinPage(const std::vector<std::string>& links,
                     const std::string& text) {
  std::string page = "<title>page</title>\n";
  for (const std::string& link : links) {
    page.append("<a href=\"").append(link).append("\">x</a>\n");
  }
  // And links that `parse` drops itself.
  page.append("<img src=\"\"><img src=\"data:,x\">\n");
  return page.append("<p>").append(text).append("</p>\n");
}

config::Settings TwinSettings(config::Profile profile) {
  config::Settings settings = config::SettingsOf(profile);
  settings.crawl.memory_bytes = uint64_t{64} << 20;
  settings.crawl.disk_bytes = uint64_t{256} << 20;
  settings.crawl.checkpoint_interval = milliseconds(400);
  settings.crawl.sync_interval = milliseconds(100);
  settings.politeness.host_delay = milliseconds(100);
  settings.politeness.host_delay_floor = milliseconds(100);
  settings.politeness.server_delay = milliseconds(10);
  settings.politeness.server_delay_floor = milliseconds(10);
  settings.politeness.back_off = milliseconds(100);
  settings.politeness.back_off_max = milliseconds(200);
  // What becomes of a page is not to depend on what its neighbours do.
  settings.politeness.give_up_after = 0;
  settings.politeness.dead_pause = milliseconds(300);
  settings.politeness.dead_pause_max = milliseconds(600);
  settings.fetch.retry_wait = milliseconds(150);
  settings.fetch.retry_growth = 2;
  settings.fetch.retry_wait_max = milliseconds(400);
  settings.robots.retry_wait = milliseconds(200);
  settings.robots.retry_wait_max = milliseconds(500);
  settings.robots.unreachable_attempts = 4;
  settings.scope.bounds = config::ScopeBounds::kAll;
  settings.store.revisit_memory_bytes = 0;
  return settings;
}

void TwinPlan::Put(FakeWeb* web) const {
  for (const auto& [url, list] : answers) web->Put(url, list);
  for (const auto& [host, addresses] : hosts) web->PutHost(host, addresses);
  for (const auto& [host, list] : failures) web->FailName(host, list);
  for (const auto& [host, time] : name_times) web->SlowName(host, time);
  web->NumberAnswers();
}

TwinPlan MakeTwinPlan(uint64_t seed) { return Maker(seed).Make(); }

TwinPlan ThirtyPages(config::Profile profile) {
  TwinPlan plan;
  plan.profile = profile;
  plan.settings = TwinSettings(profile);
  plan.settings.fetch.retry_attempts = 3;
  plan.settings.reputation.base = 2;
  plan.settings.budget.first_queues = 1;
  plan.settings.store.max_file_bytes = uint64_t{64} << 10;
  plan.settings.store.revisit_memory_bytes = uint64_t{1} << 20;
  plan.seeds = {"http://a.com/0"};
  const auto url = [](size_t i) {
    constexpr const char* kThree[] = {"a.com", "b.com", "www.c.org"};
    return std::string("http://") + kThree[i % 3] + "/" + std::to_string(i);
  };
  constexpr size_t kPages = 24;
  for (size_t i = 0; i < kPages; ++i) {
    std::vector<std::string> links;
    for (const size_t link : {2 * i + 1, 2 * i + 2, 3 * i / 2}) {
      if (link < kPages) links.push_back(url(link));
    }
    if (i == 3) links.emplace_back("http://a.com/no");
    if (i == 5) links.emplace_back("http://b.com/busy");
    if (i == 7) links.emplace_back("http://b.com/broken");
    if (i == 8) links.emplace_back("http://a.com/old");
    if (i == 9) links.emplace_back("http://nowhere.net/");
    if (i == 10) links.emplace_back("http://a.com/gone");
    if (i == 11) links.emplace_back("http://a.com/silent");
    std::string text = "page " + std::to_string(i);
    if (i >= 20) text.assign(1200, 'c');
    plan.answers[url(i)] = {FakePage(TwinPage(links, text))};
    plan.finals.insert(url(i));
  }
  FakeAnswer busy = FakeError(503);
  busy.fields.emplace_back("Retry-After", "1");
  plan.answers["http://a.com/robots.txt"] = {
      FakeText("User-agent: *\nDisallow: /no\n")};
  plan.answers["http://b.com/robots.txt"] = {
      FakeRedirect("http://a.com/rules", 301)};
  plan.answers["http://a.com/rules"] = {
      FakeText("User-agent: *\nCrawl-delay: 0.3\n")};
  plan.crawl_delays["b.com"] = milliseconds(300);
  plan.answers["http://b.com/busy"] = {busy, FakePage(TwinPage({}, "busy"))};
  plan.answers["http://b.com/broken"] = {FakeError(500)};
  plan.answers["http://a.com/old"] = {FakeRedirect("http://b.com/new")};
  plan.answers["http://b.com/new"] = {FakePage(TwinPage({}, "new"))};
  plan.answers["http://a.com/silent"] = {Silent()};
  plan.failures["nowhere.net"].assign(kForEver, dns::Outcome::kNoSuchName);
  plan.failures["www.c.org"] = {dns::Outcome::kServerFailure};
  plan.hosts["a.com"] = plan.hosts["b.com"] = {net::IpAddress::V4(0xC6120101)};
  for (const char* one : {"http://b.com/busy", "http://a.com/old",
                          "http://b.com/new", "http://a.com/gone"}) {
    plan.finals.insert(one);
  }
  plan.errors = {{"http://b.com/busy", 3}, {"http://b.com/broken", 3}};
  plan.broken = {"http://b.com/broken"};
  // And one denied, one silent, one without a name.
  plan.urls = plan.finals.size() + plan.broken.size() + 3;
  return plan;
}

}  // namespace nephila::crawl
