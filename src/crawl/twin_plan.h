// TwinPlan: a web of some pages, how it is crawled, and what the archive must
// hold at the end, all of it from one number. For tests only.
//
//   In: a seed   Out: answers and names for a FakeWeb; settings; what is right
//   Threads: any.
//
// Webs are small and full of trouble: hosts that share addresses, robots.txt
// of all kinds, redirects, pages that fail for a while or for ever, copies,
// servers that ask for less. Sizes in the settings are tiny, so that passes,
// splits of Q_F and parking happen within thirty pages. Trouble that is not
// for ever is over before a crawl would give up, however often it asks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/profile.h"
#include "config/settings.h"
#include "crawl/crawl_testing.h"
#include "dns/answer.h"
#include "net/ip_address.h"

namespace nephila::crawl {

struct TwinPlan {
  uint64_t seed = 0;
  config::Profile profile = config::Profile::kSite;
  config::Settings settings;
  std::vector<std::string> seeds;

  std::map<std::string, std::vector<FakeAnswer>> answers;
  std::map<std::string, std::vector<net::IpAddress>> hosts;
  std::map<std::string, std::vector<dns::Outcome>> failures;
  // How long names take that are slow to resolve.
  std::map<std::string, std::chrono::nanoseconds> name_times;
  // What robots.txt asks for.
  std::map<std::string, std::chrono::nanoseconds> crawl_delays;

  // What is right: URLs with one answer that is final, and how often at most
  // one comes that is not (of `broken` exactly so often, and nothing else).
  std::set<std::string> finals;
  std::map<std::string, size_t> errors;
  std::set<std::string> broken;
  size_t urls = 0;  // different ones that are found

  // Memory for finished visits and for visits; 0: as the settings have it.
  // So little that most pages are read later.
  uint64_t in_transit = 0;
  uint64_t visits = 0;
  uint64_t longest_url = 100;
  uint64_t most_links = 100;  // of a page

  void Put(FakeWeb* web) const;
};

TwinPlan MakeTwinPlan(uint64_t seed);

// Thirty pages, with something of everything; the same each time.
TwinPlan ThirtyPages(config::Profile profile);

// A page with these links, in which `text` stands.
std::string TwinPage(const std::vector<std::string>& links,
                     const std::string& text);
// What all plans begin with: short waits, frequent checkpoints.
config::Settings TwinSettings(config::Profile profile);

}  // namespace nephila::crawl
