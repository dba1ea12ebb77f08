// Accounts: the crawl's counters that belong to no stage's object, since what
// they count happens on crawl threads: they are told with each finished visit
// and counted by the frontier, in the order of the journal. So a checkpoint
// holds exactly what it says, and the law in + made = out + dropped + held
// spans crashes.
//   Threads: one writes, any read.
#pragma once

#include <array>
#include <string_view>

#include "base/bytes.h"
#include "base/metrics.h"
#include "crawl/visit.h"
#include "scope/scope.h"

namespace nephila::crawl {

// Links, and pages that are left out as a whole.
inline constexpr std::array<std::string_view, 4> kParseDropNames = {
    "unwanted", "nofollow", "quarantined", "no-memory"};
inline constexpr size_t kParseDropQuarantined = 2;
inline constexpr size_t kParseDropNoMemory = 3;
inline constexpr std::array<std::string_view, 7> kUrlDropNames = {
    "invalid-url", "scheme",   "bad-host",  "too-long",
    "repeated",    "bad-port", "page-limit"};
// Manifests hold the counts by number, so a new reason goes to the end: from
// here on the numbers are not those of url::DropReason.
inline constexpr size_t kUrlDropRepeated = 4;
inline constexpr size_t kUrlDropPort = 5;
inline constexpr size_t kUrlDropPageLimit = 6;
inline constexpr std::array<std::string_view, 1> kStoreDropNames = {
    "no-response"};

class Accounts {
 public:
  Accounts();

  StageAccount seeds{"seeds", {}};
  StageAccount parse{"parse", kParseDropNames};
  StageAccount url{"url", kUrlDropNames};
  StageAccount scope{"scope", scope::kScopeDropNames};
  // The scope has changed since, or a redirect left it.
  StageAccount politeness{"politeness", scope::kScopeDropNames};
  StageAccount fetch;  // dropped by the outcome of the last attempt
  StageAccount store{"store", kStoreDropNames};

  Counter pages;    // archived responses, robots.txt apart
  Counter bytes;    // of their bodies, as transferred
  Counter retries;  // attempts that asked for another
  Counter robots;   // files of robots.txt that were asked for
  // By outcome, each attempt; statuses by their hundreds.
  std::array<Counter, item::kFetchOutcomes> outcomes;
  std::array<Counter, 10> statuses;

  void CountFound(const FoundCounts& found);
  void CountAttempt(const FinishedVisit& visit);

  void Write(ByteWriter& writer) const;
  // REQUIRES: nothing was counted yet.
  bool Read(ByteReader& reader);
};

}  // namespace nephila::crawl
