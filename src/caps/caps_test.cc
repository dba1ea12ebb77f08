#include "caps/caps.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "caps/caps_testing.h"

namespace nephila::caps {
namespace {

using item::Admission;
using Urls = std::vector<std::string>;

class CapsTest : public testing::Test {
 protected:
  CapsTest() {
    options_.seed = kSeed;
    options_.memory_bytes = uint64_t{2} << 20;
    options_.disk_bytes = uint64_t{8} << 20;
    MustDo(fs_.MakeDir("caps"));
  }

  drum::DrumContext Context() { return {fs_, clock_, workers_}; }
  void Create() { caps_ = Must(Caps::Create(Context(), "caps", options_)); }
  void Reopen() {
    const std::string commit = Must(caps_->BeginCommit());
    MustDo(caps_->FinishCommit());
    caps_.reset();
    caps_ = Must(Caps::Open(Context(), "caps", options_, commit));
  }
  void Add(const std::string& record) {
    ASSERT_EQ(Must(caps_->Add(record)), Admission::kTaken);
  }
  // All that is let through, until nothing is held.
  Urls Drain() {
    Urls urls;
    for (int i = 0; i < 1000 && !caps_->IsEmpty(); ++i) {
      MustDo(caps_->Flush());
      Must(caps_->Step(
          [&](std::string_view record) -> Result<Admission> {
            urls.push_back(UrlOf(record));
            return Admission::kTaken;
          },
          100));
    }
    EXPECT_TRUE(caps_->IsEmpty());
    EXPECT_EQ(caps_->account().Imbalance(), 0);
    return urls;
  }
  uint64_t Dropped(DropReason reason) const {
    return caps_->account().Totals().dropped[static_cast<size_t>(reason)];
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  CapsOptions options_;
  std::unique_ptr<Caps> caps_;
};

TEST_F(CapsTest, AreMadeOnlyIfOneIsSet) {
  config::ScopeSettings settings;
  EXPECT_FALSE(Caps::AreSet(settings));
  settings.max_hosts_per_domain = 1;
  EXPECT_TRUE(Caps::AreSet(settings));
  settings = {};
  settings.site_caps = {"a.test=1"};
  EXPECT_TRUE(Caps::AreSet(settings));
}

TEST_F(CapsTest, AHostHasItsFirstPages) {
  options_.settings.max_pages_per_host = 2;
  Create();
  for (uint64_t i = 0; i < 4; ++i) {
    Add(RecordOf("a", "x.test", i));
    Add(RecordOf("b", "x.test", i));
  }
  EXPECT_EQ(Drain(), (Urls{"http://a.x.test/0", "http://b.x.test/0",
                           "http://a.x.test/1", "http://b.x.test/1"}));
  EXPECT_EQ(Dropped(DropReason::kHostFull), 4U);
  Reopen();
  Add(RecordOf("a", "x.test", 9));
  Add(RecordOf("c", "x.test", 9));
  EXPECT_EQ(Drain(), Urls{"http://c.x.test/9"});
}

TEST_F(CapsTest, ADomainHasItsFirstPagesAndHosts) {
  options_.settings.max_pages_per_domain = 3;
  options_.settings.max_hosts_per_domain = 2;
  Create();
  Add(RecordOf("a", "x.test", 1));
  Add(RecordOf("b", "x.test", 1));
  Add(RecordOf("c", "x.test", 1));
  Add(RecordOf("a", "x.test", 2));
  Add(RecordOf("a", "x.test", 3));
  Add(RecordOf("a", "y.test", 1));
  EXPECT_EQ(Drain(), (Urls{"http://a.x.test/1", "http://b.x.test/1",
                           "http://a.x.test/2", "http://a.y.test/1"}));
  EXPECT_EQ(Dropped(DropReason::kTooManyHosts), 1U);
  EXPECT_EQ(Dropped(DropReason::kDomainFull), 1U);
}

TEST_F(CapsTest, SeedsCountAndAreNeverRefused) {
  options_.settings.max_pages_per_host = 1;
  options_.settings.max_pages_per_domain = 2;
  options_.settings.max_hosts_per_domain = 1;
  Create();
  Add(RecordOf("a", "x.test", 1, /*is_seed=*/true));
  Add(RecordOf("a", "x.test", 2));
  Add(RecordOf("a", "x.test", 3, /*is_seed=*/true));
  Add(RecordOf("b", "x.test", 4, /*is_seed=*/true));
  Add(RecordOf("", "x.test", 5));
  EXPECT_EQ(Drain(), (Urls{"http://a.x.test/1", "http://a.x.test/3",
                           "http://b.x.test/4"}));
  EXPECT_EQ(Dropped(DropReason::kHostFull), 1U);
  EXPECT_EQ(Dropped(DropReason::kDomainFull), 1U);
}

TEST_F(CapsTest, OneThatIsTriedAgainIsLetThroughAndNotCounted) {
  options_.settings.max_pages_per_host = 2;
  options_.settings.max_pages_per_domain = 3;
  options_.settings.max_hosts_per_domain = 1;
  Create();
  const std::string again = RecordOf("a", "x.test", 1, false, /*attempts=*/1);
  Add(RecordOf("a", "x.test", 1));
  Add(again);
  Add(RecordOf("a", "x.test", 2));
  EXPECT_EQ(Drain().size(), 3U);
  // The host is full.
  Add(again);
  Add(RecordOf("a", "x.test", 3));
  Reopen();
  EXPECT_EQ(Drain(), Urls{"http://a.x.test/1"});
  EXPECT_EQ(Dropped(DropReason::kHostFull), 1U);
  // And no more of them wait than others.
  Admission admission = Admission::kTaken;
  for (int i = 0; i < 2000 && admission == Admission::kTaken; ++i) {
    admission = Must(caps_->Add(again));
  }
  EXPECT_EQ(admission, Admission::kFull);
  Drain();
}

TEST_F(CapsTest, ASiteWithACapOfItsOwnCountsAsOneHost) {
  options_.settings.site_caps = {"x.test=3", "b.x.test = 1"};
  Create();
  for (uint64_t i = 0; i < 3; ++i) {
    Add(RecordOf("", "x.test", i));
    Add(RecordOf("a", "x.test", i));
    Add(RecordOf("b", "x.test", i));
    Add(RecordOf("", "other.test", i));
  }
  const Urls urls = Drain();
  std::map<std::string, int> counts;
  for (const std::string& url : urls) ++counts[url.substr(0, url.rfind('/'))];
  EXPECT_EQ(counts["http://x.test"] + counts["http://a.x.test"], 3);
  EXPECT_EQ(counts["http://b.x.test"], 1);
  EXPECT_EQ(counts["http://other.test"], 3);
}

TEST_F(CapsTest, ASiteCapThatIsNoneIsAnErrorOfOneLine) {
  for (const char* wrong : {"x.test", "=3", "x.test=", "x.test=-1",
                            "x.test=3 pages", "x.test=99999999999999999999"}) {
    const auto caps = ParseSiteCaps({wrong});
    ASSERT_FALSE(caps.has_value()) << wrong;
    EXPECT_TRUE(caps.error().message.starts_with("scope.site_caps: '"))
        << caps.error().message;
  }
}

TEST_F(CapsTest, WhatIsNotTakenStays) {
  options_.settings.max_pages_per_host = 1;
  options_.settings.max_pages_per_domain = 10;
  Create();
  for (uint64_t i = 0; i < 5; ++i) {
    Add(RecordOf("h" + std::to_string(i), "x.test", i));
  }
  const item::RecordSink full = [](std::string_view) -> Result<Admission> {
    return Admission::kFull;
  };
  for (int i = 0; i < 20; ++i) {
    MustDo(caps_->Flush());
    Must(caps_->Step(full, 10));
  }
  EXPECT_EQ(caps_->stats().waiting, 5U);
  Reopen();
  EXPECT_EQ(caps_->stats().waiting, 5U);
  EXPECT_EQ(Drain().size(), 5U);
  const auto wrong = caps_->Add("no record");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(CapsTest, ACommitThatIsDamagedIsRefused) {
  options_.settings.max_pages_per_host = 1;
  Create();
  Add(RecordOf("a", "x.test", 1));
  const std::string commit = Must(caps_->BeginCommit());
  MustDo(caps_->FinishCommit());
  caps_.reset();
  for (size_t size = 0; size < commit.size(); ++size) {
    const auto opened =
        Caps::Open(Context(), "caps", options_, commit.substr(0, size));
    EXPECT_FALSE(opened.has_value()) << size;
  }
  std::string later = commit;
  later[0] = 9;
  const auto opened = Caps::Open(Context(), "caps", options_, later);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

TEST_F(CapsTest, FreshUrlsAreFollowedThroughBothStores) {
  options_.settings.max_pages_per_host = 5;
  options_.settings.max_pages_per_domain = 5;
  Create();
  Add(RecordOf("a", "x.test", 1));
  MustDo(caps_->BeginFresh());
  Urls urls;
  bool fresh = false;
  for (int i = 0; i < 100 && !fresh; ++i) {
    fresh = Must(caps_->IsFresh());
    Must(caps_->Step(
        [&](std::string_view record) -> Result<Admission> {
          urls.push_back(UrlOf(record));
          return Admission::kTaken;
        },
        10));
  }
  EXPECT_TRUE(fresh);
  EXPECT_EQ(urls, Urls{"http://a.x.test/1"});
}

// What the limits mean, URL by URL.
struct Model {
  explicit Model(const config::ScopeSettings& limits) : settings(limits) {}
  bool Takes(const std::string& host, const std::string& domain) {
    const auto limit = [](int64_t most) {
      return most == 0 ? UINT64_MAX : static_cast<uint64_t>(most);
    };
    std::set<std::string>& hosts = domains[domain];
    if (pages[host] >= limit(settings.max_pages_per_host) ||
        of_domain[domain] >= limit(settings.max_pages_per_domain) ||
        (!hosts.contains(host) &&
         hosts.size() >= limit(settings.max_hosts_per_domain))) {
      return false;
    }
    hosts.insert(host);
    ++pages[host];
    ++of_domain[domain];
    return true;
  }
  config::ScopeSettings settings;
  std::map<std::string, uint64_t> pages;
  std::map<std::string, uint64_t> of_domain;
  std::map<std::string, std::set<std::string>> domains;
};

TEST_F(CapsTest, AreExactWhateverTheBatches) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed);
    const std::string dir = "caps" + std::to_string(seed);
    MustDo(fs_.MakeDir(dir));
    options_.settings = {};
    options_.settings.max_pages_per_host =
        static_cast<int64_t>(random.Below(4)) * 3;
    options_.settings.max_pages_per_domain =
        static_cast<int64_t>(random.Below(3)) * 20;
    options_.settings.max_hosts_per_domain =
        static_cast<int64_t>(random.Below(4));
    if (!Caps::AreSet(options_.settings)) continue;
    caps_ = Must(Caps::Create(Context(), dir, options_));
    Model model(options_.settings);
    std::multiset<std::string> wanted;
    std::multiset<std::string> out;
    const item::RecordSink sink =
        [&](std::string_view record) -> Result<Admission> {
      if (random.Below(5) == 0) return Admission::kFull;
      out.insert(UrlOf(record));
      return Admission::kTaken;
    };
    for (uint64_t i = 0; i < 3000; ++i) {
      const std::string domain = "d" + std::to_string(random.Below(5)) + ".t";
      const std::string host = "h" + std::to_string(random.Below(8));
      std::string name = host;
      name.append(".").append(domain);
      const std::string record = RecordOf(host, domain, i);
      Add(record);
      if (model.Takes(name, domain)) {
        wanted.insert(UrlOf(record));
      }
      if (random.Below(100) == 0) MustDo(caps_->Flush());
      if (random.Below(10) == 0) Must(caps_->Step(sink, 1 + random.Below(50)));
    }
    for (const std::string& url : Drain()) out.insert(url);
    EXPECT_EQ(out, wanted) << seed;
  }
}

}  // namespace
}  // namespace nephila::caps
