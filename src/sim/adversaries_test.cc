#include "sim/adversaries.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/memory_file_system.h"
#include "base/real_file_system.h"
#include "sim/page_watch.h"
#include "sim/simulation.h"
#include "sim/socket_testing.h"

namespace nephila::sim {
namespace {

HostileWebOptions Mix(uint64_t hostile_hosts) {
  HostileWebOptions options;
  options.good_hosts = 5;
  options.pages = 4;
  options.hostile_hosts = hostile_hosts;
  for (const Adversary& one : Adversaries()) {
    options.adversaries.push_back(&one);
  }
  return options;
}

std::string HostOf(const std::string& url) {
  const std::string rest = url.substr(std::string("http://").size());
  return rest.substr(0, rest.find(':'));
}

TEST(AdversariesTest, EachHasRulesThatMakeItsHostsExist) {
  for (const Adversary& one : Adversaries()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(FindAdversary(one.name), &one);
    HostileWebOptions options;
    options.hostile_hosts = 3;
    options.adversaries = {&one};
    auto scenario = ParseScenario(HostileRules(options), "rules");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto site = Site::Make(*std::move(scenario));
    ASSERT_TRUE(site) << site.error().message;
    for (const std::string& seed : HostileSeeds(options, 8080)) {
      EXPECT_EQ(seed.find('{'), std::string::npos) << seed;
      EXPECT_EQ(site->FindHost(HostOf(seed)).kind, HostKind::kNamed) << seed;
    }
  }
  EXPECT_EQ(FindAdversary("saint"), nullptr);
}

TEST(AdversariesTest, MixesAllKindsBySeed) {
  const HostileWebOptions options = Mix(400);
  ASSERT_TRUE(ParseScenario(HostileRules(options), "rules"));
  const auto seeds = HostileSeeds(options, 8080);
  std::set<std::string> families;
  size_t good = 0;
  for (const std::string& seed : seeds) {
    const std::string host = HostOf(seed);
    good += IsGoodHost(host) ? 1 : 0;
    families.insert(host.substr(0, host.find_first_of(".0123456789")));
  }
  EXPECT_EQ(good, 5U);
  EXPECT_EQ(families.size(), Adversaries().size() + 1);
  EXPECT_EQ(seeds, HostileSeeds(options, 8080));
  HostileWebOptions other = options;
  other.seed = 2;
  EXPECT_NE(seeds, HostileSeeds(other, 8080));
}

TEST(PageWatchTest, CountsWholePagesOfTheHostsInQuestion) {
  const std::string log = testing::TempDir() + "/page_watch.log";
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  SimulationOptions options;
  options.log = log;
  options.more_ports = {0};
  auto scenario = ParseScenario(HostileRules(Mix(1)), "rules");
  ASSERT_TRUE(scenario);
  auto web = Simulation::Start(*std::move(scenario), options, *fs, clock);
  ASSERT_TRUE(web) << web.error().message;
  PageWatch watch(log, IsGoodHost);
  const auto get = [&](const std::string& host, const std::string& path,
                       uint16_t port) {
    Client client("127.0.0.1", port);
    EXPECT_TRUE(client.Send("GET " + path + " HTTP/1.1\r\nHost: " + host +
                            "\r\nConnection: close\r\n\r\n"));
    EXPECT_NE(client.ReadAll(), "");
    EXPECT_TRUE((*web)->FlushLog());
    watch.Read();
  };
  get("good1.example", "/", (*web)->port());
  get("good1.example", "/", (*web)->port());
  get("good1.example", "/robots.txt", (*web)->port());
  get("good1.example", "/4", (*web)->port());  // 404
  get("delay1.example", "/", (*web)->port());
  get("good2.example", "/3", (*web)->more_port(0));
  // The end of a transfer is logged when its connection is closed.
  ASSERT_TRUE((*web)->Stop());
  watch.Read();
  EXPECT_EQ(watch.pages(),
            (std::set<std::string>{"good1.example /", "good2.example /3"}));
  EXPECT_EQ((*web)->counts().requests, 6U);
  EXPECT_EQ((*web)->counts_of_more(0).requests, 1U);
}

}  // namespace
}  // namespace nephila::sim
