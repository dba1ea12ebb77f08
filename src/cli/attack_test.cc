// Hostile hosts against the real program: whatever they do, well-behaved hosts
// get all their pages, and nobody is contacted against its wish.
//
// Each hostile host waits for far longer than a test does, and hostile hosts
// come first in the list of seeds and are more than the table that they aim at
// holds. So a crawl passes only if it does not wait for any of them.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "sim/adversaries.h"
#include "sim/descriptor.h"
#include "sim/page_watch.h"

namespace nephila::cli {
namespace {

using std::chrono::seconds;

// A few seconds are enough; and less than any wait of a hostile host.
constexpr std::chrono::seconds kAttackPatience{120};

class AttackTest : public CrawlCmdTest {
 protected:
  // Serves good hosts and hostile ones of this kind, with more rules first.
  void ServeHostile(std::string_view adversary, uint64_t hostile_hosts,
                    const std::string& rules = "") {
    options_.hostile_hosts = hostile_hosts;
    if (const auto* one = sim::FindAdversary(adversary)) {
      options_.adversaries = {one};
    }
    Serve(sim::HostileRules(options_) + rules);
  }

  // Starts a crawl from these URLs, then the seeds of the hostile web.
  void Begin(std::vector<std::string> first, std::vector<std::string> args) {
    for (std::string& seed : sim::HostileSeeds(options_, web_->port())) {
      first.push_back(std::move(seed));
    }
    args.insert(args.end(), {"--quiet", "--seeds", SeedFile(first)});
    process_ = Start(CrawlArgs(std::move(args)));
  }

  // Waits until it is so; false if that takes too long, or the crawl ends.
  bool Comes(const std::function<bool()>& is_so) {
    const MonoTime deadline = clock_.Now() + kAttackPatience;
    const sim::Descriptor end(
        static_cast<int>(syscall(SYS_pidfd_open, *process_, 0)));
    while (!is_so()) {
      // Readable when the process has ended.
      pollfd poll_end{end.get(), POLLIN, 0};
      if (poll(&poll_end, 1, /*timeout=*/20) != 0 || clock_.Now() > deadline) {
        return false;
      }
    }
    return true;
  }

  // Waits until these hosts have all their pages.
  void ExpectPages(size_t count,
                   const std::function<bool(std::string_view)>& counts) {
    sim::PageWatch watch(Log(), counts);
    EXPECT_TRUE(Comes([&] {
      EXPECT_TRUE(web_->FlushLog());
      watch.Read();
      return watch.pages().size() >= count;
    })) << watch.pages().size()
        << " of " << count << " pages came";
  }

  void ExpectGoodPages() {
    ExpectPages(options_.good_hosts * options_.pages, sim::IsGoodHost);
    Stop();
  }

  void Stop() {
    kill(*process_, SIGINT);
    const Ended ended = Wait(*std::exchange(process_, std::nullopt));
    EXPECT_EQ(ended.code, 0) << ended.err;
    ExpectLaw(JobStatus(), /*over=*/false);
  }

  size_t RequestsTo(std::string_view host) {
    size_t count = 0;
    for (const Request& request : Requests()) {
      count += request.host == host ? 1 : 0;
    }
    return count;
  }

  static std::vector<std::string> Set(std::vector<std::string> settings) {
    std::vector<std::string> args;
    for (std::string& setting : settings) {
      args.insert(args.end(), {"--set", std::move(setting)});
    }
    return args;
  }

  sim::HostileWebOptions options_;
  std::optional<pid_t> process_;
};

// Two sites whose robots.txt is on one host that does not want to be asked
// twice.
std::string TwoSites(std::string_view host_b) {
  return fmt::format(R"(
[[rule]]
host = "a*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b.example:@PORT@/robots.txt"
[[rule]]
host = "b.example"
{}
)",
                     host_b);
}

class RobotsElsewhereTest : public AttackTest {
 protected:
  void ExpectNobodyWaits(std::string_view host_b) {
    options_.good_hosts = 100;
    options_.pages = 2;
    ServeHostile("", 0, TwoSites(host_b));
    Begin({Url("a1.example", "/"), Url("a2.example", "/")},
          Set({"politeness.max_urls=64", "fetch.first_byte_timeout=1h"}));
    ExpectGoodPages();
  }
};

TEST_F(RobotsElsewhereTest, RedirectToAHostWithALongCrawlDelayDelaysNobody) {
  ExpectNobodyWaits(
      "behaviour = \"robots\"\ntext = \"User-agent: *\\nCrawl-delay: 600\\n\"");
}

TEST_F(RobotsElsewhereTest, RedirectToAHostWithALongRetryAfterDelaysNobody) {
  ExpectNobodyWaits(
      "path = \"/*\"\nbehaviour = \"retry-after\"\ndelay = \"1d\"");
}

TEST_F(RobotsElsewhereTest, RedirectToAHostThatNeverRespondsDelaysNobody) {
  ExpectNobodyWaits("path = \"/*\"\nbehaviour = \"hang\"");
}

TEST_F(RobotsElsewhereTest, RedirectToAHostThatDropsConnectionsDelaysNobody) {
  ExpectNobodyWaits("path = \"/*\"\nbehaviour = \"drop\"");
}

// A server that asks to be left alone for a day gets no second request, however
// many sites send visitors there, at once or one after the other.
TEST_F(AttackTest, RetryAfterHoldsForRobotsTxtOfOtherSites) {
  constexpr int kSites = 20;
  options_.good_hosts = 0;
  std::string rules =
      TwoSites("path = \"/*\"\nbehaviour = \"retry-after\"\ndelay = \"1d\"");
  std::vector<std::string> seeds;
  for (int i = 0; i < kSites; ++i) {
    rules += fmt::format(R"(
[[rule]]
host = "hub.example"
path = "/{}"
behaviour = "redirect"
target = "http://a{}.example:@PORT@/"
)",
                         i, i);
  }
  ServeHostile("", 0, rules);
  for (int i = 0; i < kSites; ++i) {
    // The first ones at once, the others by redirects.
    seeds.push_back(i < kSites / 4 ? Url(fmt::format("a{}.example", i), "/")
                                   : Url("hub.example", fmt::format("/{}", i)));
  }
  std::vector<std::string> args =
      Set({"politeness.site_delays=hub.example=250ms"});
  args.insert(args.end(), {"--profile", "broad"});
  Begin(seeds, args);
  // Each redirects its robots.txt, which is no page.
  EXPECT_TRUE(Comes([this] {
    for (int i = 0; i < kSites; ++i) {
      if (RequestsTo(fmt::format("a{}.example", i)) == 0) return false;
    }
    return true;
  }));
  Stop();
  EXPECT_EQ(RequestsTo("b.example"), 1U);
}

// A host is its name: what one port asks for holds for all.
TEST_F(AttackTest, RetryAfterHoldsForOtherPortsOfTheHost) {
  options_.good_hosts = 0;
  ServeHostile("", 0, R"(
[[rule]]
host = "victim.example"
behaviour = "retry-after"
delay = "1d"
[[rule]]
host = "hub.example"
path = "/ports"
behaviour = "redirect"
target = "http://victim.example:@MORE@/"
[[rule]]
host = "hub.example"
path = "/next"
behaviour = "redirect"
target = "http://tail.example:@PORT@/"
[[rule]]
host = "tail.example"
behaviour = "page"
)");
  // The redirects of the hub come seconds after the response of the first port.
  std::vector<std::string> args =
      Set({"politeness.site_delays=hub.example=3s"});
  args.insert(args.end(), {"--profile", "broad"});
  Begin({Url("victim.example", "/"), Url("hub.example", "/ports"),
         Url("hub.example", "/next")},
        args);
  ExpectPages(1, [](std::string_view host) { return host == "tail.example"; });
  Stop();
  int64_t refused = 0;
  int64_t redirected = 0;
  for (const Request& request : Requests()) {
    if (request.host == "victim.example" && request.path == "/") {
      refused = refused == 0 ? request.end : refused;
    }
    if (request.path == "/ports") redirected = request.begin;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(redirected, refused);
  EXPECT_EQ(web_->counts_of_more(0).requests, 0U);
  // robots.txt and the page.
  EXPECT_EQ(RequestsTo("victim.example"), 2U);
}

TEST_F(AttackTest, ClosedPortsOfAHostDoNotHarmItsPages) {
  constexpr int kPorts = 15;
  constexpr int kPages = 10;
  options_.good_hosts = 0;
  std::string links;
  for (int port = 1; port <= kPorts; ++port) {
    links += fmt::format("<a href=http://victim.example:{}/>x</a>", port);
  }
  for (int page = 1; page <= kPages; ++page) {
    links += fmt::format("<a href=http://victim.example:@PORT@/{}>x</a>", page);
  }
  ServeHostile("", 0,
               fmt::format(R"(
[[rule]]
host = "hub.example"
path = "/"
behaviour = "status"
status = 200
text = "{}"
[[rule]]
host = "victim.example"
behaviour = "page"
)",
                           links));
  Begin({Url("hub.example", "/")}, {"--profile", "broad"});
  ExpectPages(kPages,
              [](std::string_view host) { return host == "victim.example"; });
  Stop();
}

TEST_F(AttackTest, ThousandsOfClosedPortsDoNotStarveAHost) {
  options_.good_hosts = 1;
  ServeHostile("", 0, R"(
[[rule]]
host = "hub.example"
behaviour = "port-links"
of = "good0.example"
count = 3000
)");
  Begin({Url("hub.example", "/")},
        {"--profile", "broad", "--set", "politeness.max_hosts=100", "--set",
         "politeness.max_urls=200"});
  ExpectGoodPages();
}

// politeness.park_after is five minutes: these hosts stay in memory.
TEST_F(AttackTest, CrawlDelaysJustBelowParkingDoNotStarveOthers) {
  constexpr int kHosts = 20;
  options_.good_hosts = 20;
  ServeHostile("crawl-delay", 10 * kHosts);
  Begin({}, {"--memory", "64MiB", "--set",
             fmt::format("politeness.max_hosts={}", kHosts), "--set",
             "politeness.max_urls=64"});
  ExpectGoodPages();
}

TEST_F(AttackTest, TarpitsDoNotHoldAllTransfers) {
  constexpr int kTransfers = 16;
  options_.good_hosts = 10;
  ServeHostile("tarpit", 10 * kTransfers);
  Begin({}, Set({fmt::format("crawl.max_transfers={}", kTransfers)}));
  ExpectGoodPages();
}

class SlowNamesTest : public AttackTest {
 protected:
  void ExpectOthersAreFound(std::string_view adversary) {
    constexpr int kTransfers = 4;
    constexpr int kQuestions = 16;
    options_.good_hosts = 10;
    ServeHostile(adversary, 10 * kQuestions);
    Begin({}, Set({fmt::format("crawl.max_transfers={}", kTransfers),
                   fmt::format("dns.max_in_flight={}", kQuestions)}));
    ExpectGoodPages();
  }
};

TEST_F(SlowNamesTest, SlowAnswersDoNotHoldAllQuestions) {
  ExpectOthersAreFound("dns-slow");
}

TEST_F(SlowNamesTest, DrippingAnswersDoNotHoldAllQuestions) {
  ExpectOthersAreFound("dns-drip");
}

TEST_F(SlowNamesTest, SilentServersDoNotHoldAllQuestions) {
  ExpectOthersAreFound("dns-silent");
}

}  // namespace
}  // namespace nephila::cli
