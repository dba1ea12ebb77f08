// What the tests of the stage share: origins and URLs by number, sites that
// answer in a way that is known beforehand, and a crawl of them that checks
// what it is given. For tests only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/workers.h"
#include "robots/robots_stage.h"

namespace nephila::robots {

inline constexpr uint64_t kTestSeed = 23;
// More than fits into a record.
inline constexpr size_t kLongRulesBytes = 6000;

// The list that the program was built with, read once.
const url::PublicSuffixList& TestSuffixes();
// Little memory, no attempt is the last.
RobotsStageOptions SmallStage();

// "http://h3.site3.test/", some with https or a port.
std::string OriginText(uint64_t origin);
uint64_t OriginNumber(std::string_view text);
// A URL of an origin; one that rules forbid begins with /private/.
std::string EncodeUrl(uint64_t origin, uint64_t number, bool is_private);
// A record of any http or https URL whose host is its own domain.
std::string EncodeText(std::string_view url);
// The number again.
uint64_t NumberOf(std::string_view record);

// Compiled rules that forbid /private/, and what `more` says.
std::string PrivateRules(std::string_view more = "");
// The same with many lines more.
std::string LongPrivateRules();

// The end of a fetch with status 200 and these rules.
RobotsEnd GoodEnd(std::string_view origin, std::string_view rules,
                  WallTime when);
RobotsEnd StatusEnd(std::string_view origin, int status, WallTime when);
RobotsEnd NetworkEnd(std::string_view origin, WallTime when);

// What came out of a stage, in order.
struct Taken {
  uint64_t number = 0;
  uint64_t budget = 0;
  std::chrono::milliseconds crawl_delay{0};
  WallTime not_before{};
  uint32_t failures = 0;
  uint32_t overloads = 0;
  WallTime checked{};
};

// Steps until nothing moves; nothing that waits for a pass is left behind.
// False after an error.
bool RunUntilDry(RobotsStage& stage, std::vector<Taken>& taken);
// All requests that are there.
std::vector<std::string> TakeAll(RobotsStage& stage);

// A site's answers by its number and how often it was asked. All forbid
// /private/ or nothing.
//   0 mod 7   there is no robots.txt
//   1         long rules
//   2         unreachable twice, then and now and then rules
//   3         503 once, then rules
//   others    rules, with a Crawl-delay
struct SiteAnswer {
  RobotsEnd end;
  std::string rules;  // of `end`
};
bool SiteForbids(uint64_t origin);
SiteAnswer AskSite(uint64_t origin, uint64_t times_asked, WallTime when);

}  // namespace nephila::robots
