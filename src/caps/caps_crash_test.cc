// `caps` stopped at many of its writes: the limits hold to a URL.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "caps/caps.h"
#include "caps/caps_testing.h"
#include "item/stage_crash_testing.h"

namespace nephila::caps {
namespace {

using item::Admission;

constexpr uint64_t kUrls = 3000;
constexpr int64_t kMostPages = 40;
constexpr int64_t kMostOfDomain = 150;
constexpr int64_t kMostHosts = 5;

// The URLs of 5 domains with 8 hosts each, in turn, and commits now and then.
class CapsWork {
 public:
  Status Run(FileSystem& fs) {
    CapsOptions options;
    options.seed = kSeed;
    options.memory_bytes = uint64_t{2} << 20;
    options.disk_bytes = uint64_t{8} << 20;
    options.settings.max_pages_per_host = kMostPages;
    options.settings.max_pages_per_domain = kMostOfDomain;
    options.settings.max_hosts_per_domain = kMostHosts;
    out_.resize(manifest_.out);
    NEPHILA_TRY(const auto caps, restarts_.Start(fs, options));
    const item::RecordSink sink =
        [this](std::string_view record) -> Result<Admission> {
      if (out_.size() % 7 == 3 && !refused_) {
        refused_ = true;
        return Admission::kFull;
      }
      refused_ = false;
      out_.push_back(UrlOf(record));
      return Admission::kTaken;
    };
    uint64_t next = manifest_.next;
    while (next < kUrls || !caps->IsEmpty()) {
      for (int i = 0; i < 100 && next < kUrls; ++i) {
        NEPHILA_TRY(const Admission added, caps->Add(Record(next)));
        if (added == Admission::kFull) break;
        ++next;
      }
      if (next % 700 == 0 || next == kUrls) {
        NEPHILA_RETURN_IF_ERROR(caps->Flush());
      }
      NEPHILA_TRY(const size_t done, caps->Step(sink, 60));
      static_cast<void>(done);
      if (next % 300 == 0) NEPHILA_RETURN_IF_ERROR(Commit(*caps, next));
    }
    EXPECT_EQ(caps->account().Imbalance(), 0);
    EXPECT_EQ(caps->account().Totals().out, out_.size());
    return Commit(*caps, next);
  }

  void Check() const {
    std::map<std::string, int64_t> hosts;
    std::map<std::string, int64_t> domains;
    for (const std::string& url : out_) {
      const std::string host = url.substr(0, url.rfind('/'));
      ++hosts[host];
      ++domains[host.substr(host.find('.') + 1)];
    }
    ASSERT_EQ(domains.size(), 5U);
    for (const auto& [domain, count] : domains) {
      ASSERT_EQ(count, kMostOfDomain) << domain;
    }
    ASSERT_EQ(hosts.size(), 5U * kMostHosts);
    for (const auto& [host, count] : hosts) {
      ASSERT_LE(count, kMostPages) << host;
    }
    std::vector<std::string> sorted = out_;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
  }

 private:
  struct Manifest {
    uint64_t next = 0;
    size_t out = 0;
  };

  static std::string Record(uint64_t number) {
    return RecordOf("h" + std::to_string(number / 5 % 8),
                    "d" + std::to_string(number % 5) + ".test", number);
  }

  Status Commit(Caps& caps, uint64_t next) {
    NEPHILA_RETURN_IF_ERROR(restarts_.Commit(caps));
    manifest_ = {next, out_.size()};
    return {};
  }

  item::Restarts<Caps> restarts_;
  bool refused_ = false;
  Manifest manifest_;
  std::vector<std::string> out_;
};

TEST(CapsCrash, TheLimitsHoldWhereverTheMachineStops) {
  item::StopAtManyPlaces<CapsWork>(25);
}

}  // namespace
}  // namespace nephila::caps
