// A Drum does what a map does, whatever the order of calls.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_testing.h"
#include "base/random.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kTuplesPerCase = 300'000;
constexpr uint64_t kMiB = uint64_t{1} << 20;

struct RandomCase {
  std::string name;
  ValueFormat value;
  std::shared_ptr<const MergeRule> rule;
  // Few, and duplicates abound; many, and runs grow.
  uint64_t keys;
  std::optional<Operation> only = std::nullopt;
  bool key_of_aux = false;
  bool unique_only = false;
  uint64_t memory_bytes = kMiB;
  uint64_t disk_bytes = kMiB;
  std::optional<Codec> codec = std::nullopt;
};

void PrintTo(const RandomCase& one, std::ostream* out) { *out << one.name; }

class DrumRandomTest : public ::testing::TestWithParam<RandomCase> {
 protected:
  DrumRandomTest() : store_(machine_.context(), kDir, Options()) {
    MustDo(store_.Create());
  }

  DrumOptions Options() {
    DrumOptions options = SmallOptions(GetParam().value, GetParam().rule);
    options.only = GetParam().only;
    if (GetParam().key_of_aux) options.key_of_aux = KeyOfAux;
    options.unique_only = GetParam().unique_only;
    options.memory_bytes = GetParam().memory_bytes;
    options.disk_bytes = GetParam().disk_bytes;
    options.codec = GetParam().codec;
    options.parameters = [this] { return Fixed64(now_); };
    return options;
  }

  std::string Value(Operation operation) {
    if (!Updates(operation) || GetParam().value == kNoValue) return "";
    if (GetParam().value == kFixed8) return Fixed64(random_.Below(1000));
    // Mostly short; some are larger than a page, few than a block.
    const uint64_t drawn = random_.Below(1000);
    const uint64_t most = drawn == 0 ? 40'000 : drawn < 10 ? 5000 : 30;
    std::string text = TextOf(random_.Next(), random_.Below(most));
    // The erase rule takes these for what they are, to others they are text.
    if (random_.Chance(0.2)) text.insert(0, "-");
    return GetParam().rule->HasExpiry() ? Fixed64(1 + random_.Below(40)) + text
                                        : text;
  }

  uint64_t Number(uint64_t added) {
    if (GetParam().keys > added && random_.Chance(0.5)) {
      return random_.Below(added + 1);
    }
    return random_.Below(GetParam().keys);
  }

  Status AddOne(uint64_t added) {
    Operation operation = static_cast<Operation>(random_.Below(3));
    if (GetParam().only.has_value()) operation = *GetParam().only;
    const uint64_t number = Number(added);
    std::string aux;
    if (GetParam().key_of_aux) aux = std::to_string(number) + "/";
    const uint64_t drawn = random_.Below(1000);
    const uint64_t most = drawn == 0 ? 30'000 : drawn < 100 ? 1 : 50;
    aux += TextOf(random_.Next(), random_.Below(most));
    return store_.AddMakingRoom(
        {operation, KeyOf(number), Value(operation), aux});
  }

  ScanRange SomeRange() {
    ScanRange range;
    if (random_.Chance(0.5)) {
      range.first = random_.Next();
      range.last = range.first + (random_.Next() >> random_.Below(64));
    }
    if (random_.Chance(0.3)) {
      range.shards = ShardSet(random_.Next()) | ShardSet().set(777);
    }
    return range;
  }

  // Something else than an Add, or nothing.
  void Disturb() {
    switch (random_.Below(10'000)) {
      case 0:
      case 1:
      case 2:
        return MustDo(store_.Flush());
      case 3:
      case 4:
      case 5:
        now_ += random_.Below(20);
        return;
      case 6:
        return MustDo(store_.Wait());
      case 7:
        Must(store_.Commit());
        return;
      case 8:
        if (store_.commit_in_flight()) {
          MustDo(store_.FinishCommit());
        } else {
          Must(store_.BeginCommit());
        }
        return;
      case 9:
        if (random_.Chance(0.5)) return;
        Reopen();
        return;
      case 10:
        return MustDo(store_.CheckContents(SomeRange()));
      case 11:
        return MustDo(store_.Drain());
      default:
        if (random_.Chance(0.002)) Must(store_.Deliver(random_.Below(4000)));
    }
  }

  // At the last commit or the one before; what was not committed is undone in
  // the reference as well.
  void Reopen() {
    const std::vector<uint64_t> commits = store_.commits();
    ++reopened_;
    CountPasses();
    Must(store_.Open(commits[random_.Below(commits.size())]));
  }

  void CountPasses() {
    passes_ += store_.drum().stats().passes;
    small_passes_ += store_.drum().stats().small_passes;
  }

  static constexpr uint64_t kSeed = 20260101;

  TestMachine machine_;
  Random random_{kSeed};
  uint64_t now_ = 1000;
  uint64_t reopened_ = 0;
  uint64_t passes_ = 0;
  uint64_t small_passes_ = 0;
  CheckedDrum store_;
};

TEST_P(DrumRandomTest, AnswersAsAMapDoes) {
  for (uint64_t i = 0; i < kTuplesPerCase; ++i) {
    MustDo(AddOne(i));
    Disturb();
    ASSERT_FALSE(HasFailure()) << "at tuple " << i;
  }
  CountPasses();
  MustDo(store_.Drain());
  store_.ExpectNothingLeft();
  MustDo(store_.CheckContents());
  Must(store_.Open(Must(store_.Commit())));
  MustDo(store_.CheckContents());
  // Else the numbers above are such that little was tried.
  EXPECT_GT(passes_, 20U);
  if (GetParam().keys > 1000) {
    EXPECT_LT(small_passes_, passes_);
  }
  EXPECT_GT(reopened_, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    All, DrumRandomTest,
    ::testing::Values(RandomCase{"seen, few keys", kNoValue, nullptr, 500},
                      RandomCase{.name = "seen, many keys",
                                 .value = kNoValue,
                                 .rule = nullptr,
                                 .keys = uint64_t{1} << 40,
                                 .only = Operation::kCheckUpdate,
                                 .key_of_aux = true,
                                 .unique_only = true,
                                 .disk_bytes = 2 * kMiB},
                      RandomCase{.name = "keep",
                                 .value = kVariable,
                                 .rule = MakeKeepRule(),
                                 .keys = 20'000,
                                 .memory_bytes = 2 * kMiB,
                                 .disk_bytes = 4 * kMiB,
                                 .codec = Codec::kNone},
                      RandomCase{.name = "overwrite, many keys",
                                 .value = kVariable,
                                 .rule = MakeOverwriteRule(),
                                 .keys = uint64_t{1} << 40,
                                 .key_of_aux = true,
                                 .memory_bytes = 4 * kMiB,
                                 .disk_bytes = 4 * kMiB,
                                 .codec = Codec::kZstd},
                      RandomCase{.name = "add",
                                 .value = kFixed8,
                                 .rule = MakeAddRule(),
                                 .keys = 50'000,
                                 .disk_bytes = 2 * kMiB},
                      RandomCase{.name = "queues",
                                 .value = kFixed8,
                                 .rule = MakeQueueRule(),
                                 .keys = 300,
                                 .only = Operation::kCheckUpdate,
                                 .codec = Codec::kLz4},
                      RandomCase{.name = "queues, unique only",
                                 .value = kFixed8,
                                 .rule = MakeQueueRule(),
                                 .keys = uint64_t{1} << 40,
                                 .unique_only = true,
                                 .memory_bytes = 2 * kMiB},
                      RandomCase{.name = "erase",
                                 .value = kVariable,
                                 .rule = MakeEraseRule(),
                                 .keys = 3000,
                                 .disk_bytes = 2 * kMiB},
                      RandomCase{.name = "expiry, few keys",
                                 .value = kVariable,
                                 .rule = MakeDeadlineRule(),
                                 .keys = 2000,
                                 .disk_bytes = 4 * kMiB},
                      RandomCase{.name = "expiry, many keys",
                                 .value = kVariable,
                                 .rule = MakeDeadlineRule(),
                                 .keys = uint64_t{1} << 40,
                                 .key_of_aux = true,
                                 .memory_bytes = 2 * kMiB,
                                 .disk_bytes = 2 * kMiB}));

}  // namespace
}  // namespace nephila::drum
