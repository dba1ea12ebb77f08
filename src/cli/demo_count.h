// DemoCount: how much of what the demo's crawl found, and of what it fetched,
// is spam or a trap. The simulated web knows; the crawler is not told.
//
//   In: attempts as they end, with their links   Out: counts of each kind
//   Threads: one   Memory: a sixteenth of the different URLs, 8 bytes each
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "crawl/visit.h"
#include "item/url_record.h"
#include "sim/site.h"

namespace nephila::cli {

enum class DemoKind : uint8_t {
  kOrdinary,
  kFarm,    // pages that exist for their links alone
  kTrap,    // calendars and paths without end
  kMirror,  // a copy of another host
};
inline constexpr size_t kDemoKinds = 4;

class DemoCount {
 public:
  // `site` outlives it.
  explicit DemoCount(const sim::Site& site) : site_(site) {}

  void See(const crawl::FinishedVisit& visit);

  struct Counts {
    uint64_t urls = 0;   // different ones, as far as a sample can say
    uint64_t pages = 0;  // that were fetched
  };
  Counts of(DemoKind kind) const;
  Counts all() const;

 private:
  DemoKind KindOf(const item::UrlRecord& record) const;

  const sim::Site& site_;
  std::array<std::unordered_set<uint64_t>, kDemoKinds> sample_;
  std::array<uint64_t, kDemoKinds> pages_{};
};

}  // namespace nephila::cli
