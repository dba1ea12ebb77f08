// What the operations, values and rules of a Drum do to records and results.
#include "drum/drum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_testing.h"
#include "drum/drum_testing.h"

namespace nephila::drum {
namespace {

using Records = std::map<uint64_t, std::string>;
using Results = std::vector<OwnedResult>;

class DrumTest : public ::testing::Test {
 protected:
  std::unique_ptr<Drum> Make(DrumOptions options) {
    return Must(Drum::Create(machine_.context(), kDir, std::move(options)));
  }

  // Adds the tuples and returns what a pass over them says.
  static Results Pass(Drum& drum, const std::vector<Tuple>& tuples) {
    for (const Tuple& tuple : tuples) MustDo(drum.Add(tuple));
    CollectingReceiver receiver;
    MustDo(drum.Drain(receiver));
    return receiver.results;
  }

  static Records Contents(const Drum& drum, const ScanRange& range = {}) {
    Records records;
    const auto scan = Must(drum.NewScan(range));
    while (!scan->AtEnd()) {
      EXPECT_TRUE(records.empty() || records.rbegin()->first < scan->key());
      records[scan->key()] = scan->value();
      MustDo(scan->Next());
    }
    return records;
  }

  TestMachine machine_;
};

constexpr Operation kCheck = Operation::kCheck;
constexpr Operation kUpdate = Operation::kUpdate;
constexpr Operation kBoth = Operation::kCheckUpdate;

TEST_F(DrumTest, AKeyIsUniqueOnceItsUpdateHasCome) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  EXPECT_EQ(Pass(*drum, {{kBoth, 7, "", "a"}, {kBoth, 8, "", "b"}}),
            (Results{{true, "", "a"}, {true, "", "b"}}));
  EXPECT_EQ(Pass(*drum, {{kBoth, 8, "", "c"}, {kBoth, 9, "", "d"}}),
            (Results{{false, "", "c"}, {true, "", "d"}}));
  EXPECT_EQ(Contents(*drum), (Records{{7, ""}, {8, ""}, {9, ""}}));
}

TEST_F(DrumTest, ACheckTellsAndChangesNothing) {
  const auto drum = Make(SmallOptions(kVariable, MakeOverwriteRule()));
  EXPECT_EQ(Pass(*drum, {{kCheck, 1, "", "a"}, {kCheck, 1, "", "b"}}),
            (Results{{true, "", "a"}, {true, "", "b"}}));
  EXPECT_EQ(Contents(*drum), Records{});
  Pass(*drum, {{kUpdate, 1, "one", ""}});
  EXPECT_EQ(Pass(*drum, {{kCheck, 1, "", "c"}, {kCheck, 2, "", "d"}}),
            (Results{{false, "one", "c"}, {true, "", "d"}}));
  EXPECT_EQ(Contents(*drum), (Records{{1, "one"}}));
}

TEST_F(DrumTest, AnUpdateChangesAndTellsNothing) {
  const auto drum = Make(SmallOptions(kVariable, MakeOverwriteRule()));
  EXPECT_EQ(Pass(*drum, {{kUpdate, 1, "one", "x"}, {kUpdate, 2, "two", ""}}),
            Results{});
  EXPECT_FALSE(drum->PassIsOn());
  EXPECT_EQ(Contents(*drum), (Records{{1, "one"}, {2, "two"}}));
}

TEST_F(DrumTest, ACheckUpdateTellsTheValueOfBefore) {
  const auto drum = Make(SmallOptions(kVariable, MakeOverwriteRule()));
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, "one", "a"}}), (Results{{true, "", "a"}}));
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, "two", "b"}}),
            (Results{{false, "one", "b"}}));
  EXPECT_EQ(Contents(*drum), (Records{{1, "two"}}));
}

TEST_F(DrumTest, OperationsMixInOneBatchInTheOrderOfArrival) {
  const auto drum = Make(SmallOptions(kVariable, MakeOverwriteRule()));
  EXPECT_EQ(Pass(*drum, {{kCheck, 1, "", "a"},
                         {kUpdate, 1, "one", ""},
                         {kCheck, 1, "", "b"},
                         {kBoth, 1, "two", "c"},
                         {kBoth, 2, "other", "d"},
                         {kUpdate, 1, "three", ""},
                         {kCheck, 1, "", "e"}}),
            (Results{{true, "", "a"},
                     {false, "one", "b"},
                     {false, "one", "c"},
                     {true, "", "d"},
                     {false, "three", "e"}}));
}

TEST_F(DrumTest, DuplicatesInABatchBehaveAsIfTheyCameOneAfterAnother) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  EXPECT_EQ(
      Pass(*drum,
           {{kBoth, 5, "", "a"}, {kBoth, 5, "", "b"}, {kBoth, 5, "", "c"}}),
      (Results{{true, "", "a"}, {false, "", "b"}, {false, "", "c"}}));
}

TEST_F(DrumTest, TheSmallestAndTheLargestKeyAreKeysLikeOthers) {
  constexpr uint64_t kMost = ~uint64_t{0};
  const auto drum = Make(SmallOptions(kVariable, MakeKeepRule()));
  Pass(*drum, {{kBoth, kMost, "most", ""}, {kBoth, 0, "zero", ""}});
  EXPECT_EQ(Pass(*drum, {{kCheck, 0, "", "a"}, {kCheck, kMost, "", "b"}}),
            (Results{{false, "zero", "a"}, {false, "most", "b"}}));
  EXPECT_EQ(Contents(*drum), (Records{{0, "zero"}, {kMost, "most"}}));
  EXPECT_EQ(Contents(*drum, {.first = kMost, .last = kMost}),
            (Records{{kMost, "most"}}));
}

TEST_F(DrumTest, KeepRuleKeepsTheFirstValue) {
  const auto drum = Make(SmallOptions(kFixed8, MakeKeepRule()));
  const std::string one = Fixed64(1), two = Fixed64(2);
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, one, "a"}, {kBoth, 1, two, "b"}}),
            (Results{{true, "", "a"}, {false, one, "b"}}));
  Pass(*drum, {{kUpdate, 1, two, ""}});
  EXPECT_EQ(Contents(*drum), (Records{{1, one}}));
}

TEST_F(DrumTest, AddRuleAddsUpOverPassesAndStopsAtTheLargestNumber) {
  const auto drum = Make(SmallOptions({ValueKind::kFixed, 1}, MakeAddRule()));
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, "\x10", "a"}, {kBoth, 1, "\x20", "b"}}),
            (Results{{true, "", "a"}, {false, "\x10", "b"}}));
  Pass(*drum, {{kUpdate, 1, "\x40", ""}});
  EXPECT_EQ(Contents(*drum), (Records{{1, "\x70"}}));
  Pass(*drum, {{kUpdate, 1, "\xF0", ""}});
  EXPECT_EQ(Contents(*drum), (Records{{1, "\xFF"}}));
}

TEST_F(DrumTest, AnErasedRecordIsUniqueAgainInTheSameBatchAndInLaterOnes) {
  const auto drum = Make(SmallOptions(kVariable, MakeEraseRule()));
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, "one", "a"},
                         {kUpdate, 1, "-", ""},
                         {kCheck, 1, "", "b"},
                         {kBoth, 1, "two", "c"},
                         {kBoth, 1, "-", "d"}}),
            (Results{{true, "", "a"},
                     {true, "", "b"},
                     {true, "", "c"},
                     {false, "two", "d"}}));
  EXPECT_EQ(Contents(*drum), Records{});
  EXPECT_EQ(Pass(*drum, {{kBoth, 1, "three", "e"}}),
            (Results{{true, "", "e"}}));
  EXPECT_EQ(Contents(*drum), (Records{{1, "three"}}));
}

TEST_F(DrumTest, ARuleAnswersWithANumberThatDependsOnTheParameters) {
  uint64_t per_queue = 2;
  DrumOptions options = SmallOptions(kFixed8, MakeQueueRule());
  options.parameters = [&] { return Fixed64(per_queue); };
  const auto drum = Make(std::move(options));
  const auto queues = [&](int tuples) {
    std::vector<int> answers;
    const std::string value = Fixed64(0);
    const std::vector<Tuple> batch(static_cast<size_t>(tuples),
                                   {kBoth, 1, value, "x"});
    for (const OwnedResult& result : Pass(*drum, batch)) {
      EXPECT_EQ(result.value.size(), 4U);
      answers.push_back(result.value[0]);
    }
    return answers;
  };
  EXPECT_EQ(queues(5), (std::vector<int>{0, 0, 1, 1, 2}));
  per_queue = 3;
  EXPECT_EQ(queues(6), (std::vector<int>{2, 2, 3, 3, 3, 4}));
}

// Shared by the tests of expiry: records live for a while from the pass that
// wrote them.
class DrumExpiryTest : public DrumTest {
 protected:
  DrumExpiryTest() {
    options_ = SmallOptions(kVariable, MakeDeadlineRule());
    options_.parameters = [this] { return Fixed64(now_); };
  }

  static std::string Living(uint64_t how_long, const std::string& text) {
    return Fixed64(how_long) + text;
  }

  uint64_t now_ = 1000;
  DrumOptions options_;
};

TEST_F(DrumExpiryTest,
       DeadRecordsVanishUntouchedAndAreUniqueWhenTheyComeAgain) {
  const auto drum = Make(options_);
  Pass(*drum, {{kUpdate, 1, Living(10, "short"), ""},
               {kUpdate, 2, Living(10, "touched"), ""},
               {kUpdate, 3, Living(100, "long"), ""}});
  now_ = 1009;
  EXPECT_EQ(Pass(*drum, {{kCheck, 2, "", "a"}}),
            (Results{{false, Living(1010, "touched"), "a"}}));
  EXPECT_EQ(Contents(*drum).size(), 3U);
  now_ = 1010;
  EXPECT_EQ(
      Pass(*drum, {{kBoth, 2, Living(5, "again"), "b"}, {kCheck, 3, "", "c"}}),
      (Results{{true, "", "b"}, {false, Living(1100, "long"), "c"}}));
  EXPECT_EQ(Contents(*drum),
            (Records{{2, Living(1015, "again")}, {3, Living(1100, "long")}}));
  EXPECT_EQ(Pass(*drum, {{kCheck, 1, "", "d"}}), (Results{{true, "", "d"}}));
}

TEST_F(DrumExpiryTest, DeadRecordsVanishFromRunsOnDiskToo) {
  // Far more than a small pass may hold; half of them die.
  constexpr uint64_t kRecords = 6000;
  const auto drum = Make(options_);
  CollectingReceiver receiver;
  for (uint64_t i = 0; i < kRecords; ++i) {
    MustDo(drum->Add(
        {kUpdate, KeyOf(i), Living(i % 2 == 0 ? 10 : 100, "text"), ""}));
  }
  MustDo(drum->Drain(receiver));
  ASSERT_GT(FilesOf(machine_.fs, kDir, ".run").size(), 0U);
  EXPECT_EQ(Contents(*drum).size(), kRecords);
  now_ = 1050;
  // A pass that is small, and touches one of them.
  EXPECT_EQ(Pass(*drum, {{kCheck, KeyOf(0), "", "a"}}),
            (Results{{true, "", "a"}}));
  const Records left = Contents(*drum);
  EXPECT_EQ(left.size(), kRecords / 2);
  for (uint64_t i = 0; i < kRecords; ++i) {
    EXPECT_EQ(left.count(KeyOf(i)), i % 2) << i;
  }
  // And they stay away when the clock is set back.
  now_ = 1000;
  EXPECT_EQ(
      Pass(*drum, {{kCheck, KeyOf(2), "", "b"}, {kCheck, KeyOf(3), "", "c"}}),
      (Results{{true, "", "b"}, {false, Living(1100, "text"), "c"}}));
}

TEST_F(DrumTest, ResultsComeInTheOrderOfArrivalOverAllBuckets) {
  constexpr uint64_t kTuples = 50'000;
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  CollectingReceiver receiver;
  for (uint64_t i = 0; i < kTuples; ++i) {
    // Keys jump through the whole range.
    MustDo(drum->Add({kBoth, KeyOf(i), "", std::to_string(i)}));
    if (!drum->PassIsOn()) continue;
    MustDo(drum->Drain(receiver));
  }
  MustDo(drum->Drain(receiver));
  ASSERT_EQ(receiver.results.size(), kTuples);
  for (uint64_t i = 0; i < kTuples; ++i) {
    ASSERT_EQ(receiver.results[i], (OwnedResult{true, "", std::to_string(i)}));
  }
}

TEST_F(DrumTest, TheKeyCanBeAFunctionOfAux) {
  constexpr uint64_t kTuples = 30'000;
  DrumOptions options = SmallOptions(kNoValue, nullptr);
  options.key_of_aux = KeyOfAux;
  options.only = kBoth;
  const auto drum = Make(std::move(options));
  CollectingReceiver receiver;
  for (uint64_t i = 0; i < kTuples; ++i) {
    const std::string aux = std::to_string(i / 2) + "/" + TextOf(i, i % 50);
    MustDo(drum->Add({kBoth, KeyOfAux(aux), "", aux}));
    if (drum->PassIsOn()) MustDo(drum->Drain(receiver));
  }
  MustDo(drum->Drain(receiver));
  ASSERT_EQ(receiver.results.size(), kTuples);
  for (uint64_t i = 0; i < kTuples; ++i) {
    const std::string aux = std::to_string(i / 2) + "/" + TextOf(i, i % 50);
    ASSERT_EQ(receiver.results[i], (OwnedResult{i % 2 == 0, "", aux})) << i;
  }
}

TEST_F(DrumTest, UniqueOnlyHandsOnUniquesAndCountsTheRest) {
  DrumOptions options = SmallOptions(kNoValue, nullptr);
  options.unique_only = true;
  const auto drum = Make(std::move(options));
  EXPECT_EQ(
      Pass(*drum,
           {{kBoth, 1, "", "a"}, {kBoth, 1, "", "b"}, {kBoth, 2, "", "c"}}),
      (Results{{true, "", "a"}, {true, "", "c"}}));
  // Those left out count in what Deliver returns.
  for (int i = 0; i < 5; ++i) MustDo(drum->Add({kBoth, 1, "", "d"}));
  MustDo(drum->Flush());
  MustDo(drum->Wait());
  CollectingReceiver receiver;
  EXPECT_EQ(Must(drum->Deliver(receiver, 3)), 3U);
  EXPECT_EQ(Must(drum->Deliver(receiver, 100)), 2U);
  EXPECT_EQ(receiver.results, Results{});
  const DrumStats stats = drum->stats();
  EXPECT_EQ(stats.tuples_added, 8U);
  EXPECT_EQ(stats.results_delivered, 8U);
  EXPECT_EQ(stats.uniques_delivered, 2U);
  EXPECT_EQ(stats.passes, 2U);
}

TEST_F(DrumTest, AuxIsOfAnyLength) {
  constexpr size_t kLarge = 300 << 10;
  DrumOptions options = SmallOptions(kNoValue, nullptr);
  options.memory_bytes = uint64_t{16} << 20;
  options.disk_bytes = uint64_t{64} << 20;
  const auto drum = Make(std::move(options));
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < 40; ++i) {
    texts.push_back(i % 4 == 0 ? TextOf(i, kLarge + i) : TextOf(i, i % 4 - 1));
  }
  std::vector<Tuple> tuples;
  Results expected;
  for (const std::string& text : texts) {
    tuples.push_back({kBoth, KeyOf(tuples.size()), "", text});
    expected.push_back({true, "", text});
  }
  EXPECT_EQ(Pass(*drum, tuples), expected);
}

TEST_F(DrumTest, VariableValuesAreOfAnyLength) {
  constexpr size_t kLarge = 200 << 10;
  DrumOptions options = SmallOptions(kVariable, MakeOverwriteRule());
  options.memory_bytes = uint64_t{16} << 20;
  options.disk_bytes = uint64_t{64} << 20;
  const auto drum = Make(std::move(options));
  Records records;
  std::vector<Tuple> tuples;
  for (uint64_t i = 0; i < 60; ++i) {
    records[KeyOf(i)] = TextOf(i, i % 3 == 0 ? kLarge + i : i % 3 - 1);
  }
  for (const auto& [key, value] : records) {
    tuples.push_back({kUpdate, key, value, ""});
  }
  EXPECT_EQ(Pass(*drum, tuples), Results{});
  EXPECT_EQ(Contents(*drum), records);
  Results expected;
  for (Tuple& tuple : tuples) {
    tuple.operation = kCheck;
    tuple.aux = "x";
    expected.push_back({false, std::string(tuple.value), "x"});
    tuple.value = {};
  }
  EXPECT_EQ(Pass(*drum, tuples), expected);
}

TEST_F(DrumTest, WhatDoesNotFitTheOptionsIsRefusedAndNotAdded) {
  DrumOptions options = SmallOptions(kFixed8, MakeOverwriteRule());
  options.only = kBoth;
  const auto drum = Make(std::move(options));
  const std::string good = Fixed64(1);
  EXPECT_FAILS(drum->Add({kBoth, 1, "short", "a"}), kInvalidArgument, "");
  EXPECT_FAILS(drum->Add({kBoth, 1, good + "x", "a"}), kInvalidArgument, "");
  EXPECT_FAILS(drum->Add({kUpdate, 1, good, "a"}), kInvalidArgument, "");
  EXPECT_FAILS(drum->Add({kCheck, 1, "", "a"}), kInvalidArgument, "");
  EXPECT_EQ(Pass(*drum, {{kBoth, 2, good, "b"}}), (Results{{true, "", "b"}}));
  EXPECT_EQ(Contents(*drum), (Records{{2, good}}));
  EXPECT_EQ(drum->stats().tuples_added, 1U);
}

TEST_F(DrumTest, AStoreWithoutValuesTakesNone) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  EXPECT_FAILS(drum->Add({kBoth, 1, "value", "a"}), kInvalidArgument, "");
}

TEST_F(DrumTest, AStoreWithValuesNeedsARule) {
  EXPECT_FAILS(
      Drum::Create(machine_.context(), kDir, SmallOptions(kFixed8, nullptr)),
      kInvalidArgument, "");
}

TEST_F(DrumTest, FlushOfAnEmptyBatchIsNoPass) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  MustDo(drum->Flush());
  EXPECT_FALSE(drum->PassIsOn());
  MustDo(drum->Wait());
  CollectingReceiver receiver;
  EXPECT_EQ(Must(drum->Deliver(receiver, 10)), 0U);
  MustDo(drum->Drain(receiver));
  EXPECT_EQ(receiver.results, Results{});
  EXPECT_EQ(drum->stats().passes, 0U);
}

TEST_F(DrumTest, ABatchThatGathersDuringAPassDoesNotDisturbIt) {
  const auto drum = Make(SmallOptions(kVariable, MakeOverwriteRule()));
  constexpr uint64_t kKeys = 500;
  for (uint64_t i = 0; i < kKeys; ++i) {
    MustDo(drum->Add({kBoth, KeyOf(i), "first", std::to_string(i)}));
  }
  MustDo(drum->Flush());
  ASSERT_TRUE(drum->PassIsOn());
  CollectingReceiver receiver;
  for (uint64_t i = 0; i < kKeys; ++i) {
    MustDo(drum->Add({kBoth, KeyOf(i), "second", std::to_string(kKeys + i)}));
    MustDo(drum->Wait());
    ASSERT_EQ(Must(drum->Deliver(receiver, 1)), 1U);
    ASSERT_EQ(receiver.results.back(),
              (OwnedResult{true, "", std::to_string(i)}));
  }
  MustDo(drum->Drain(receiver));
  ASSERT_EQ(receiver.results.size(), 2 * kKeys);
  for (uint64_t i = kKeys; i < 2 * kKeys; ++i) {
    ASSERT_EQ(receiver.results[i],
              (OwnedResult{false, "first", std::to_string(i)}));
  }
}

TEST_F(DrumTest, AFlushDuringAPassIsDoneWhenThatIsDelivered) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  MustDo(drum->Add({kBoth, 1, "", "a"}));
  MustDo(drum->Flush());
  MustDo(drum->Add({kBoth, 1, "", "b"}));
  MustDo(drum->Flush());
  CollectingReceiver receiver;
  // No further Flush: both passes come by themselves.
  for (int i = 0; i < 100 && drum->PassIsOn(); ++i) {
    MustDo(drum->Wait());
    Must(drum->Deliver(receiver, 1));
  }
  EXPECT_EQ(receiver.results, (Results{{true, "", "a"}, {false, "", "b"}}));
}

TEST_F(DrumTest, DeliverHandsOnNoMoreThanAskedFor) {
  const auto drum = Make(SmallOptions(kNoValue, nullptr));
  for (uint64_t i = 0; i < 10; ++i) MustDo(drum->Add({kBoth, i, "", ""}));
  MustDo(drum->Flush());
  MustDo(drum->Wait());
  CollectingReceiver receiver;
  EXPECT_EQ(Must(drum->Deliver(receiver, 0)), 0U);
  EXPECT_EQ(Must(drum->Deliver(receiver, 4)), 4U);
  EXPECT_EQ(receiver.results.size(), 4U);
  EXPECT_TRUE(drum->PassIsOn());
  EXPECT_EQ(Must(drum->Deliver(receiver, 100)), 6U);
  EXPECT_EQ(Must(drum->Deliver(receiver, 100)), 0U);
  EXPECT_FALSE(drum->PassIsOn());
}

TEST_F(DrumTest, ParametersAreAskedOncePerPass) {
  int asked = 0;
  DrumOptions options = SmallOptions(kNoValue, nullptr);
  options.parameters = [&] { return std::to_string(++asked); };
  const auto drum = Make(std::move(options));
  for (int i = 1; i <= 3; ++i) {
    Pass(*drum, {{kBoth, 1, "", "a"}});
    EXPECT_EQ(asked, i);
  }
}

// Each kind of value with each codec through passes of all sizes.
struct CodecCase {
  ValueFormat value;
  std::optional<Codec> codec;
};

class DrumCodecTest : public ::testing::TestWithParam<CodecCase> {};

TEST_P(DrumCodecTest, GivesBackWhatWentIn) {
  constexpr uint64_t kTuples = 20'000;
  TestMachine machine;
  DrumOptions options = SmallOptions(
      GetParam().value,
      GetParam().value == kNoValue ? nullptr : MakeOverwriteRule());
  options.codec = GetParam().codec;
  CheckedDrum store(machine.context(), kDir, options);
  MustDo(store.Create());
  for (uint64_t i = 0; i < kTuples; ++i) {
    std::string value;
    if (GetParam().value == kFixed8) value = Fixed64(i);
    if (GetParam().value == kVariable) value = TextOf(i, i % 40);
    MustDo(store.AddMakingRoom(
        {kBoth, KeyOf(i % 7001), value, TextOf(i, 20 + i % 60)}));
    if (i % 6000 == 5999) MustDo(store.Drain());
  }
  MustDo(store.Drain());
  MustDo(store.CheckContents());
  const DrumStats stats = store.drum().stats();
  EXPECT_GT(stats.aux_bytes, 20 * kTuples);
  if (GetParam().codec == Codec::kNone) {
    EXPECT_GE(stats.aux_log_bytes, stats.aux_bytes);
  } else if (GetParam().codec.has_value()) {
    EXPECT_LT(stats.aux_log_bytes, stats.aux_bytes);
  }
  // And from what the disk has.
  Must(store.Open(Must(store.Commit())));
  MustDo(store.CheckContents());
}

INSTANTIATE_TEST_SUITE_P(All, DrumCodecTest,
                         ::testing::Values(CodecCase{kNoValue, Codec::kNone},
                                           CodecCase{kNoValue, Codec::kLz4},
                                           CodecCase{kNoValue, Codec::kZstd},
                                           CodecCase{kFixed8, Codec::kNone},
                                           CodecCase{kFixed8, Codec::kLz4},
                                           CodecCase{kVariable, Codec::kZstd},
                                           CodecCase{kVariable, std::nullopt}));

}  // namespace
}  // namespace nephila::drum
