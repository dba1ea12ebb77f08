#include "drum/rule.h"

#include <string>

#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

using std::string_literals::operator""s;

// What a rule makes of a record, none if `found` is false.
struct Outcome {
  bool operator==(const Outcome&) const = default;

  Verdict verdict;
  std::string record;
};

Outcome Meet(const MergeRule& rule, Operation operation, bool found,
             std::string record, std::string_view value) {
  std::string answer = record;
  const std::string answer_before = answer;
  const Verdict verdict =
      rule.Merge({operation, 5, value, {}, found}, record, answer);
  // The answer is the value of before the update.
  EXPECT_EQ(answer, answer_before);
  return {verdict, record};
}

TEST(RuleTest, NoRuleLetsACheckChangeARecord) {
  for (const auto& rule :
       {MakeKeepRule(), MakeOverwriteRule(), MakeAddRule()}) {
    for (const bool found : {false, true}) {
      const std::string record = found ? "\1\2"s : ""s;
      EXPECT_EQ(Meet(*rule, Operation::kCheck, found, record, ""),
                (Outcome{Verdict::kLeave, record}));
    }
    EXPECT_FALSE(rule->HasExpiry());
    EXPECT_FALSE(rule->IsDead(1, "a", "b"));
  }
}

TEST(RuleTest, KeepKeepsTheFirstValue) {
  const auto rule = MakeKeepRule();
  for (const auto operation : {Operation::kUpdate, Operation::kCheckUpdate}) {
    EXPECT_EQ(Meet(*rule, operation, false, "", "new"),
              (Outcome{Verdict::kWrite, "new"}));
    EXPECT_EQ(Meet(*rule, operation, true, "old", "new"),
              (Outcome{Verdict::kLeave, "old"}));
    // An empty record is one as well.
    EXPECT_EQ(Meet(*rule, operation, true, "", "new"),
              (Outcome{Verdict::kLeave, ""}));
  }
}

TEST(RuleTest, OverwriteKeepsTheLastValue) {
  const auto rule = MakeOverwriteRule();
  for (const auto operation : {Operation::kUpdate, Operation::kCheckUpdate}) {
    EXPECT_EQ(Meet(*rule, operation, false, "", "new"),
              (Outcome{Verdict::kWrite, "new"}));
    EXPECT_EQ(Meet(*rule, operation, true, "old", "new"),
              (Outcome{Verdict::kWrite, "new"}));
    EXPECT_EQ(Meet(*rule, operation, true, "old", ""),
              (Outcome{Verdict::kWrite, ""}));
  }
}

TEST(RuleTest, AddAddsLittleEndianNumbers) {
  const auto rule = MakeAddRule();
  for (const auto operation : {Operation::kUpdate, Operation::kCheckUpdate}) {
    EXPECT_EQ(Meet(*rule, operation, false, "", "\5"),
              (Outcome{Verdict::kWrite, "\5"}));
    EXPECT_EQ(Meet(*rule, operation, true, "\x80", "\x7F"),
              (Outcome{Verdict::kWrite, "\xFF"}));
    // The carry goes up, from the first byte to the second.
    EXPECT_EQ(Meet(*rule, operation, true, "\xFF\0"s, "\1\0"s),
              (Outcome{Verdict::kWrite, "\0\1"s}));
    EXPECT_EQ(Meet(*rule, operation, true, "\xFF\xFF\0\0"s, "\2\0\0\1"s),
              (Outcome{Verdict::kWrite, "\1\0\1\1"s}));
    EXPECT_EQ(Meet(*rule, operation, true, "\xFF\0\0\0\0\0\0\x80"s,
                   "\1\0\0\0\0\0\0\x7F"s),
              (Outcome{Verdict::kWrite, "\0\1\0\0\0\0\0\xFF"s}));
  }
}

TEST(RuleTest, AddStopsAtTheLargestNumber) {
  const auto rule = MakeAddRule();
  for (const size_t size : {1U, 2U, 4U, 8U}) {
    const std::string most(size, '\xFF');
    std::string one(size, '\0');
    one[0] = 1;
    std::string nearly = most;
    nearly[0] = '\xFE';
    const auto meet = [&](const std::string& record, const std::string& value) {
      return Meet(*rule, Operation::kUpdate, true, record, value);
    };
    EXPECT_EQ(meet(nearly, one), (Outcome{Verdict::kWrite, most})) << size;
    EXPECT_EQ(meet(most, one), (Outcome{Verdict::kWrite, most})) << size;
    EXPECT_EQ(meet(one, most), (Outcome{Verdict::kWrite, most})) << size;
    EXPECT_EQ(meet(most, most), (Outcome{Verdict::kWrite, most})) << size;
    EXPECT_EQ(meet(most, std::string(size, '\0')),
              (Outcome{Verdict::kWrite, most}))
        << size;
  }
}

TEST(RuleTest, OperationsSayWhatTheyDo) {
  EXPECT_TRUE(GivesResult(Operation::kCheck));
  EXPECT_FALSE(GivesResult(Operation::kUpdate));
  EXPECT_TRUE(GivesResult(Operation::kCheckUpdate));
  EXPECT_FALSE(Updates(Operation::kCheck));
  EXPECT_TRUE(Updates(Operation::kUpdate));
  EXPECT_TRUE(Updates(Operation::kCheckUpdate));
}

}  // namespace
}  // namespace nephila::drum
