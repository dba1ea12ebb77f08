#include "caps/cap_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::caps {
namespace {

// Meets the record with a value; the verdict as a number.
int Meet(const drum::MergeRule& rule, const std::string& value, bool* found,
         std::string* record) {
  drum::Meeting meeting{};
  meeting.operation = drum::Operation::kCheckUpdate;
  meeting.key = 1;
  meeting.value = value;
  meeting.found = *found;
  std::string answer;
  if (rule.Merge(meeting, *record, answer) == drum::Verdict::kWrite) {
    *found = true;
  }
  const auto verdict = ReadVerdict(answer);
  return verdict ? static_cast<int>(*verdict) : -1;
}

TEST(CapRules, AHostHasSoManyPagesAndSeedsBesides) {
  const auto rule = MakeHostRule();
  bool found = false;
  std::string record;
  EXPECT_EQ(Meet(*rule, HostValue(2, false), &found, &record), 0);
  EXPECT_EQ(Meet(*rule, HostValue(2, false), &found, &record), 0);
  EXPECT_EQ(Meet(*rule, HostValue(2, false), &found, &record), 1);
  EXPECT_EQ(Meet(*rule, HostValue(2, true), &found, &record), 0);
  EXPECT_EQ(Meet(*rule, HostValue(2, false), &found, &record), 1);
  EXPECT_EQ(record, "\3");
  // A limit of its own, as sites have it.
  EXPECT_EQ(Meet(*rule, HostValue(4, false), &found, &record), 0);
  bool none = false;
  std::string empty;
  EXPECT_EQ(Meet(*rule, HostValue(0, false), &none, &empty), 1);
  EXPECT_FALSE(none);
}

TEST(CapRules, ADomainHasSoManyPagesAndHosts) {
  const auto rule = MakeDomainRule(4, 2);
  bool found = false;
  std::string record;
  const auto meet = [&](uint64_t host, bool is_seed = false) {
    return Meet(*rule, DomainValue(url::HostKey{host}, is_seed), &found,
                &record);
  };
  EXPECT_EQ(meet(9), 0);
  EXPECT_EQ(meet(5), 0);
  EXPECT_EQ(meet(7), 3);  // a third host
  EXPECT_EQ(meet(5), 0);
  EXPECT_EQ(meet(7, true), 0);  // a seed of it counts
  EXPECT_EQ(meet(7), 2);
  EXPECT_EQ(meet(5), 2);
  const auto read = ReadDomainRecord(record);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->pages, 4U);
  // The seed's host took no place that it did not find free.
  EXPECT_EQ(read->hosts, (std::vector<uint64_t>{5, 9}));
}

TEST(CapRules, OnlyWhatIsLimitedIsCounted) {
  const auto pages = MakeDomainRule(2, 0);
  bool found = false;
  std::string record;
  for (uint64_t host = 1; host <= 2; ++host) {
    EXPECT_EQ(
        Meet(*pages, DomainValue(url::HostKey{host}, false), &found, &record),
        0);
  }
  EXPECT_EQ(record, "\2");
  const auto hosts = MakeDomainRule(0, 1);
  found = false;
  record.clear();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        Meet(*hosts, DomainValue(url::HostKey{8}, false), &found, &record), 0);
  }
  EXPECT_EQ(ReadDomainRecord(record)->pages, 0U);
  EXPECT_EQ(Meet(*hosts, DomainValue(url::HostKey{9}, false), &found, &record),
            3);
}

TEST(CapRules, ADomainThatIsFullIsToldByItsPagesAlone) {
  // What stands behind them is no list, and is not looked at.
  const std::string full = "\4xyz";
  const std::string value = DomainValue(url::HostKey{5}, false);
  bool found = true;
  std::string record = full;
  EXPECT_EQ(Meet(*MakeDomainRule(4, 2), value, &found, &record), 2);
  EXPECT_EQ(record, full);
  // And where hosts are not limited none is kept.
  record.clear();
  AppendDomainRecord({4, {5, 9}}, record);
  EXPECT_EQ(Meet(*MakeDomainRule(8, 0), value, &found, &record), 0);
  EXPECT_EQ(record, "\5");
}

TEST(CapRules, WhatIsNoRecordIsRefused) {
  EXPECT_FALSE(ReadDomainRecord(""));
  EXPECT_FALSE(ReadDomainRecord("\1xyz"));
  std::string unsorted;
  AppendDomainRecord({1, {9, 5}}, unsorted);
  EXPECT_FALSE(ReadDomainRecord(unsorted));
  EXPECT_FALSE(ReadVerdict(""));
  EXPECT_FALSE(ReadVerdict("\4"));
  bool found = true;
  std::string record = "damaged";
  EXPECT_EQ(Meet(*MakeDomainRule(1, 1), "", &found, &record), -1);
  EXPECT_EQ(Meet(*MakeHostRule(), "\1", &found, &record), -1);
}

}  // namespace
}  // namespace nephila::caps
