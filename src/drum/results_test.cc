#include "drum/results.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 30;

struct Answer {
  bool operator==(const Answer&) const = default;

  bool unique = false;
  std::string text;
};

class ResultsTest : public ::testing::Test {
 protected:
  ResultsTest() { EXPECT_TRUE(fs_.MakeDir("store").has_value()); }

  std::unique_ptr<PassResults> Make(uint32_t buckets, bool bits,
                                    uint64_t memory_limit) {
    return std::make_unique<PassResults>(fs_, "store/results", 99, counts_,
                                         buckets, bits, memory_limit);
  }
  bool HasFile() { return *fs_.Exists("store/results"); }

  MemoryFileSystem fs_;
  IoCounts counts_;
};

std::string BitsOf(const std::vector<bool>& uniques) {
  std::string bytes((uniques.size() + 7) / 8, '\0');
  for (size_t i = 0; i < uniques.size(); ++i) {
    if (uniques[i]) {
      bytes[i / 8] = static_cast<char>(
          static_cast<unsigned char>(bytes[i / 8]) | 1U << i % 8);
    }
  }
  return bytes;
}

std::string BytesOf(const std::vector<Answer>& answers) {
  std::string bytes;
  for (const Answer& answer : answers) {
    AppendAnswer(bytes, answer.unique, answer.text);
  }
  return bytes;
}

// Takes the results of all buckets, which bucket is next being random, as a
// log of arrivals has it.
template <typename Item, typename Check>
void TakeAll(Random& random, const std::vector<std::vector<Item>>& expected,
             Check check) {
  std::vector<uint32_t> order;
  for (uint32_t b = 0; b < expected.size(); ++b) {
    order.insert(order.end(), expected[b].size(), b);
  }
  random.Shuffle(std::span(order));
  std::vector<size_t> taken(expected.size());
  for (const uint32_t b : order) {
    ASSERT_NO_FATAL_FAILURE(check(b, expected[b][taken[b]])) << taken[b];
    ++taken[b];
  }
}

TEST_F(ResultsTest, BitsComeBackFromMemoryAndFromAFile) {
  Random random(1);
  for (const uint64_t limit : {kPlenty, uint64_t{20'000}, uint64_t{0}}) {
    // The last one has several pieces, the others a few bytes or none.
    std::vector<std::vector<bool>> uniques(40);
    for (size_t b = 0; b < uniques.size(); ++b) {
      const size_t count =
          b + 1 == uniques.size() ? 300'000 : random.Below(b * 200 + 1);
      for (size_t i = 0; i < count; ++i) {
        uniques[b].push_back(random.Chance(0.3));
      }
    }
    const auto results = Make(40, true, limit);
    for (uint32_t b = 40; b-- > 0;) {
      ASSERT_TRUE(results->Put(b, BitsOf(uniques[b])).has_value());
    }
    EXPECT_EQ(HasFile(), limit != kPlenty);
    TakeAll(random, uniques, [&](uint32_t b, bool expected) {
      bool unique = !expected;
      std::string_view answer;
      ASSERT_TRUE(results->Next(b, unique, answer).has_value());
      ASSERT_EQ(unique, expected) << "bucket " << b;
    });
  }
}

TEST_F(ResultsTest, AnswersComeBackFromMemoryAndFromAFile) {
  Random random(2);
  for (const uint64_t limit : {kPlenty, uint64_t{100'000}, uint64_t{0}}) {
    std::vector<std::vector<Answer>> answers(64);
    for (size_t b = 0; b < answers.size(); ++b) {
      const size_t count = random.Below(b * 10 + 1);
      for (size_t i = 0; i < count; ++i) {
        answers[b].push_back(
            {random.Chance(0.5),
             std::string(random.Below(40), static_cast<char>(random.Next()))});
      }
    }
    const auto results = Make(64, false, limit);
    for (uint32_t b = 0; b < 64; ++b) {
      ASSERT_TRUE(results->Put(b, BytesOf(answers[b])).has_value());
    }
    EXPECT_EQ(HasFile(), limit != kPlenty);
    TakeAll(random, answers, [&](uint32_t b, const Answer& expected) {
      bool unique = false;
      std::string_view answer;
      ASSERT_TRUE(results->Next(b, unique, answer).has_value());
      ASSERT_TRUE((Answer{unique, std::string(answer)}) == expected)
          << "bucket " << b;
    });
  }
}

TEST_F(ResultsTest, AnAnswerLargerThanAPieceHasAPieceOfItsOwn) {
  const std::vector<Answer> answers = {{true, "small"},
                                       {false, std::string(200'000, 'x')},
                                       {true, ""},
                                       {true, std::string(4'100, 'y')},
                                       {false, std::string(4'070, 'z')},
                                       {false, "last"}};
  const auto results = Make(1, false, 0);
  ASSERT_TRUE(results->Put(0, BytesOf(answers)).has_value());
  ASSERT_TRUE(HasFile());
  for (const Answer& expected : answers) {
    bool unique = false;
    std::string_view answer;
    ASSERT_TRUE(results->Next(0, unique, answer).has_value());
    EXPECT_TRUE((Answer{unique, std::string(answer)}) == expected);
  }
}

TEST_F(ResultsTest, ReadingPastTheEndIsCorruption) {
  for (const bool bits : {true, false}) {
    for (const uint64_t limit : {kPlenty, uint64_t{0}}) {
      const auto results = Make(2, bits, limit);
      ASSERT_TRUE(
          results->Put(0, bits ? "\xFF" : BytesOf({{true, "a"}})).has_value());
      ASSERT_TRUE(results->Put(1, "").has_value());
      bool unique = false;
      std::string_view answer;
      for (int i = 0; i < (bits ? 8 : 1); ++i) {
        ASSERT_TRUE(results->Next(0, unique, answer).has_value());
        EXPECT_TRUE(unique);
      }
      for (const uint32_t bucket : {0U, 1U}) {
        const Status status = results->Next(bucket, unique, answer);
        ASSERT_FALSE(status.has_value());
        EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
      }
    }
  }
}

TEST_F(ResultsTest, DamagedResultsAreCorruption) {
  // Of an answer of three bytes there are two.
  const auto cut = Make(1, false, kPlenty);
  ASSERT_TRUE(cut->Put(0, "\6ab").has_value());
  bool unique = false;
  std::string_view answer;
  EXPECT_EQ(cut->Next(0, unique, answer).error().code, ErrorCode::kCorruption);

  const auto filed = Make(1, false, 0);
  ASSERT_TRUE(filed->Put(0, BytesOf({{true, "abc"}})).has_value());
  ASSERT_TRUE(fs_.FlipBit("store/results", kFrameHeaderBytes + 1, 3));
  EXPECT_EQ(filed->Next(0, unique, answer).error().code,
            ErrorCode::kCorruption);
}

TEST_F(ResultsTest, TheFileGoesWithTheResults) {
  auto results = Make(1, true, 3);
  EXPECT_FALSE(HasFile());
  ASSERT_TRUE(results->Put(0, "four").has_value());
  EXPECT_TRUE(HasFile());
  results.reset();
  EXPECT_FALSE(HasFile());
}

TEST_F(ResultsTest, AFullDiskIsAnError) {
  fs_.SetCapacity(0);
  const auto results = Make(1, true, 3);
  const Status status = results->Put(0, "four");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNoSpace);
}

}  // namespace
}  // namespace nephila::drum
