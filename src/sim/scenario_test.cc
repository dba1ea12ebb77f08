#include "sim/scenario.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/source_path_testing.h"

namespace nephila::sim {
namespace {

using std::chrono::milliseconds;

std::string ErrorOf(std::string_view text) {
  const auto scenario = ParseScenario(text, "s.toml");
  if (scenario) return "none";
  EXPECT_EQ(scenario.error().message.find('\n'), std::string::npos);
  return scenario.error().message;
}

TEST(ScenarioTest, ReadsShapeAndRules) {
  const auto scenario = ParseScenario(R"(
[web]
seed = 7
hosts = 1000
page_bytes = "4KiB"

[[rule]]
host = "*.Slow.example"
path = "/a/*"
behaviour = "slow-drip"
delay = "50ms"
bytes = 10

[[rule]]
host = "b.example"
behaviour = "address"
addresses = ["10.0.0.1", "::1"]
)",
                                      "s.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->shape.seed, 7);
  EXPECT_EQ(scenario->shape.page_bytes, 4096U);
  ASSERT_EQ(scenario->rules.size(), 2U);
  EXPECT_EQ(scenario->rules[0].host, "*.slow.example");
  EXPECT_EQ(scenario->rules[0].behaviour, Behaviour::kSlowDrip);
  EXPECT_EQ(scenario->rules[0].delay, milliseconds(50));
  EXPECT_EQ(scenario->rules[0].bytes, 10U);
  EXPECT_EQ(scenario->rules[1].addresses.size(), 2U);
  EXPECT_EQ(scenario->rules[1].number, 1U);
}

TEST(ScenarioTest, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(ErrorOf("x = 1"),
            "s.toml:1:1: x: a scenario has a table [web] and tables [[rule]]");
  EXPECT_EQ(ErrorOf("[web]\nhots = 1"),
            "s.toml:2:1: hots: no such setting; did you mean hosts?");
  EXPECT_EQ(ErrorOf("[web]\nhosts = 0").substr(0, 11), "s.toml:2:9:");
  EXPECT_EQ(ErrorOf("[web]\nhosts = \"many\"").substr(0, 11), "s.toml:2:9:");
  EXPECT_NE(ErrorOf("[[rule]]\nbehaviour = \"slow-drop\"")
                .find("s.toml:2:13: behaviour: "),
            std::string::npos);
  EXPECT_EQ(ErrorOf("[[rule]]\nhost = \"a\""),
            "s.toml:1:1: behaviour: missing");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"hang\"\ndelay = \"1s\""),
            "s.toml:1:1: delay: hang does not read it");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"nxdomain\"\npath = \"/a\""),
            "s.toml:1:1: path: nxdomain does not read it");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"redirect\""),
            "s.toml:1:1: target: redirect needs it");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"address\"\naddresses = [\"x\"]"),
            "s.toml:1:1: addresses: 'x' is none");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"redirect\"\ntarget = \"/\\n\""),
            "s.toml:1:1: target: control characters");
  EXPECT_EQ(ErrorOf("[[rule]]\nbehaviour = \"link-farm\"\nname = \"A1\""),
            "s.toml:1:1: name: up to 20 letters from a to z");
  EXPECT_EQ(ErrorOf("rule = 1"),
            "s.toml:1:8: rule: expected at most 1000 tables [[rule]]");
  EXPECT_EQ(ErrorOf("rule = [1]"),
            "s.toml:1:9: rule: expected a table [[rule]]");
  EXPECT_EQ(ErrorOf("[").substr(0, 7), "s.toml:");
  EXPECT_EQ(ErrorOf(std::string(kMaxScenarioBytes + 1, ' ')),
            "s.toml: too long for a scenario (at most 1MiB)");
}

TEST(ScenarioTest, BoundsTheDepthOfKeys) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(ErrorOf(deep + " = 1"), "s.toml: a key has too many parts");
}

const Rule* FindHttp(const Scenario& scenario, std::string_view host,
                     std::string_view path) {
  return scenario.Find(Layer::kHttp, host, path);
}

TEST(ScenarioTest, AppliesTheFirstRuleThatMatchesInEachLayer) {
  const auto scenario = ParseScenario(R"(
[[rule]]
host = "a.example"
path = "/x*"
behaviour = "hang"
[[rule]]
host = "a.example"
behaviour = "calendar"
[[rule]]
host = "*.example"
behaviour = "drop"
[[rule]]
host = "a.example"
behaviour = "reset"
[[rule]]
host = "a.*"
behaviour = "servfail"
)",
                                      "s.toml");
  ASSERT_TRUE(scenario);
  EXPECT_EQ(FindHttp(*scenario, "a.example", "/xy")->behaviour,
            Behaviour::kHang);
  EXPECT_EQ(FindHttp(*scenario, "a.example", "/y")->behaviour,
            Behaviour::kDrop);
  EXPECT_EQ(FindHttp(*scenario, "a.test", "/y"), nullptr);
  EXPECT_EQ(scenario->Find(Layer::kSpace, "a.example", "")->behaviour,
            Behaviour::kCalendar);
  EXPECT_EQ(scenario->Find(Layer::kDns, "a.test", "")->behaviour,
            Behaviour::kDnsServfail);
}

TEST(ScenarioTest, MakesHostsThatItNames) {
  const auto scenario = ParseScenario(R"(
[[rule]]
host = "a.example.com"
behaviour = "hang"
[[rule]]
host = "*.net"
behaviour = "hang"
[[rule]]
host = "*.wild.org"
behaviour = "wildcard"
[[rule]]
host = "*.b.test"
behaviour = "hang"
[[rule]]
behaviour = "close"
)",
                                      "s.toml");
  ASSERT_TRUE(scenario);
  EXPECT_TRUE(scenario->Names("a.example.com"));
  EXPECT_FALSE(scenario->Names("b.example.com"));
  EXPECT_FALSE(scenario->Names("a.net"));
  EXPECT_TRUE(scenario->Names("a.b.wild.org"));
  EXPECT_TRUE(scenario->Names("a.b.test"));
  EXPECT_FALSE(scenario->Names("a.test"));
}

TEST(ScenarioTest, LeavesRobotsAloneUnlessThePathSaysSo) {
  const auto scenario = ParseScenario(R"(
[[rule]]
host = "all.example"
path = "/*"
behaviour = "hang"
[[rule]]
host = "*.example"
behaviour = "drop"
[[rule]]
host = "*.example"
behaviour = "robots"
text = ""
)",
                                      "s.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(FindHttp(*scenario, "all.example", "/robots.txt")->behaviour,
            Behaviour::kHang);
  EXPECT_EQ(FindHttp(*scenario, "b.example", "/robots.txt")->behaviour,
            Behaviour::kRobots);
  EXPECT_EQ(FindHttp(*scenario, "b.example", "/")->behaviour, Behaviour::kDrop);
}

TEST(ScenarioTest, DrawsTheShareOfHosts) {
  const auto scenario =
      ParseScenario("[[rule]]\nshare = 100\nbehaviour = \"hang\"", "s.toml");
  ASSERT_TRUE(scenario);
  int hanging = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string host = "h" + std::to_string(i) + ".com";
    const Rule* rule = FindHttp(*scenario, host, "/");
    // The whole host, not single pages.
    ASSERT_EQ(rule, FindHttp(*scenario, host, "/other"));
    if (rule != nullptr) ++hanging;
  }
  EXPECT_NEAR(hanging, 1000, 100);
}

TEST(ScenarioTest, HasANameForEveryBehaviour) {
  for (std::string_view name : ChoiceNames(Behaviour::kPage)) {
    std::string text = "[[rule]]\nbehaviour = \"" + std::string(name) + "\"\n";
    for (const auto& [key, value] : {std::pair{"target", "\"/\""},
                                     {"type", "\"a/b\""},
                                     {"text", "\"\""},
                                     {"name", "\"spam\""},
                                     {"of", "\"a\""},
                                     {"addresses", "[\"10.0.0.1\"]"}}) {
      const auto rule = ParseScenario(text, "s");
      if (!rule && rule.error().message.find(std::string(key) + ": ") !=
                       std::string::npos) {
        text += std::string(key) + " = " + value + "\n";
      }
    }
    EXPECT_EQ(ErrorOf(text), "none") << text;
  }
}

std::string Reference() {
  std::ifstream file(SourcePath("docs/sim.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ScenarioTest, TakesTheExamplesOfItsReference) {
  const std::string text = Reference();
  int examples = 0;
  for (size_t at = text.find("```toml\n"); at != std::string::npos;
       at = text.find("```toml\n", at)) {
    at += 8;
    const std::string example = text.substr(at, text.find("```", at) - at);
    EXPECT_EQ(ErrorOf(example), "none") << example;
    ++examples;
  }
  EXPECT_GE(examples, 4);
}

TEST(ScenarioTest, HasARowInItsReferenceForEveryBehaviourAndKey) {
  const std::string text = Reference();
  for (std::string_view name : ChoiceNames(Behaviour::kPage)) {
    EXPECT_NE(text.find("\n| `" + std::string(name) + "` |"), std::string::npos)
        << name;
  }
  for (const auto& rows : {ShapeRows(), RuleRows()}) {
    for (const config::Row& row : rows) {
      const std::string key(row.name);
      EXPECT_TRUE(text.find("`" + key + "`") != std::string::npos ||
                  text.find("\n" + key + " = ") != std::string::npos)
          << key;
    }
  }
}

}  // namespace
}  // namespace nephila::sim
