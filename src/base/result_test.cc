#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace nephila {
namespace {

enum class Small : uint8_t { kBad, kWorse };

Error MakeError(std::string message) {
  return Error{ErrorCode::kIo, std::move(message)};
}

Result<int> Half(int n) {
  if (n % 2 != 0) return Unexpected(MakeError("odd"));
  return n / 2;
}

Result<int> Quarter(int n) {
  NEPHILA_TRY(const int half, Half(n));
  NEPHILA_TRY(const int quarter, Half(half));
  return quarter;
}

// Two on one line, as in the body of a macro.
#define UNPACK_TWICE(a, b)           \
  NEPHILA_TRY(const int a, Half(8)); \
  NEPHILA_TRY(const int b, Half(a))

Result<int> TwiceOnALine() {
  UNPACK_TWICE(first, second);
  return second;
}

#undef UNPACK_TWICE

// An answer is not a condition; that there is one can still be asked.
static_assert(!std::is_constructible_v<bool, Result<bool>>);
static_assert(!std::is_constructible_v<bool, Result<bool, Small>>);
static_assert(std::is_constructible_v<bool, Result<int>>);
static_assert(std::is_constructible_v<bool, Status>);
static_assert(!std::is_convertible_v<Result<int>, bool>);

Status Check(bool ok) {
  if (!ok) return Unexpected(MakeError("not ok"));
  return {};
}

Result<int> CheckBoth(bool first, bool second) {
  NEPHILA_RETURN_IF_ERROR(Check(first));
  NEPHILA_RETURN_IF_ERROR(Check(second));
  return 7;
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("value");
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, "value");
  EXPECT_EQ(result->size(), 5u);
  *result += "s";
  EXPECT_EQ(*std::as_const(result), "values");
}

TEST(Result, HoldsAnError) {
  Result<int> result = Unexpected(MakeError("gone"));
  ASSERT_FALSE(result.has_value());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().message, "gone");
  EXPECT_EQ(std::move(result).error().message, "gone");
}

TEST(Result, TellsValueFromErrorOfTheSameType) {
  const Result<int, int> value = 1;
  const Result<int, int> error = Unexpected(1);
  EXPECT_TRUE(value.has_value());
  EXPECT_FALSE(error.has_value());
}

TEST(Result, CarriesSmallEnumsWithoutMuchWeight) {
  const Result<uint32_t, Small> result = Unexpected(Small::kWorse);
  EXPECT_EQ(result.error(), Small::kWorse);
  EXPECT_LE(sizeof(result), 8u);
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  static_assert(!std::is_copy_constructible_v<decltype(result)>);
  Result<std::unique_ptr<int>> moved = std::move(result);
  const std::unique_ptr<int> value = *std::move(moved);
  EXPECT_EQ(*value, 3);
}

TEST(Result, ValueOrFallsBackOnlyOnError) {
  EXPECT_EQ(Half(4).value_or(-1), 2);
  EXPECT_EQ(Half(5).value_or(-1), -1);
}

TEST(Result, AndThenStopsAtTheFirstError) {
  EXPECT_EQ(*Half(8).and_then(Half).and_then(Half), 1);
  int calls = 0;
  const auto count = [&](int n) {
    ++calls;
    return Half(n);
  };
  EXPECT_EQ(Half(3).and_then(count).error().message, "odd");
  EXPECT_EQ(calls, 0);
}

TEST(Result, TransformChangesOnlyTheValue) {
  const auto text = [](int n) { return std::to_string(n); };
  EXPECT_EQ(*Half(8).transform(text), "4");
  EXPECT_EQ(Half(7).transform(text).error().message, "odd");
}

TEST(Status, IsFineOrAnError) {
  EXPECT_TRUE(Check(true).has_value());
  EXPECT_EQ(Check(false).error().message, "not ok");
  EXPECT_EQ(*Check(true).and_then([] { return Half(2); }), 1);
  EXPECT_FALSE(Check(false).and_then([] { return Half(2); }).has_value());
}

TEST(Try, UnpacksOrReturns) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_EQ(Quarter(5).error().message, "odd");
}

TEST(Try, MayStandTwiceOnALine) { EXPECT_EQ(*TwiceOnALine(), 2); }

TEST(Result, OfABoolKeepsAnswerAndSuccessApart) {
  const Result<bool> no = false;
  EXPECT_TRUE(no.has_value());
  EXPECT_FALSE(*no);
}

TEST(Try, MovesWhatCanOnlyBeMoved) {
  const auto unpack = [](Result<std::unique_ptr<int>> in) -> Result<int> {
    NEPHILA_TRY(const std::unique_ptr<int> value, std::move(in));
    return *value;
  };
  EXPECT_EQ(*unpack(std::make_unique<int>(5)), 5);
  EXPECT_FALSE(unpack(Unexpected(MakeError("x"))).has_value());
}

TEST(ReturnIfError, GoesOnOrReturns) {
  EXPECT_EQ(*CheckBoth(true, true), 7);
  EXPECT_FALSE(CheckBoth(false, true).has_value());
  EXPECT_FALSE(CheckBoth(true, false).has_value());
}

TEST(IgnoreError, TakesAnyResult) {
  IgnoreError(Half(3), "the test wants nothing from it");
  IgnoreError(Check(false), "the test wants nothing from it");
}

TEST(Error, FromErrnoPicksTheCodeAndSaysWhy) {
  const Error error = Error::FromErrno("open /x", ENOENT);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.sys_errno, ENOENT);
  EXPECT_EQ(error.message, "open /x: No such file or directory");
  EXPECT_EQ(Error::FromErrno("w", ENOSPC).code, ErrorCode::kNoSpace);
  EXPECT_EQ(Error::FromErrno("w", EDQUOT).code, ErrorCode::kNoSpace);
  EXPECT_EQ(Error::FromErrno("w", EEXIST).code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(Error::FromErrno("w", EAGAIN).code, ErrorCode::kBusy);
  EXPECT_EQ(Error::FromErrno("w", EINVAL).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Error::FromErrno("w", EIO).code, ErrorCode::kIo);
}

TEST(Error, WithContextKeepsTheRest) {
  const Error error = Error::FromErrno("read", EIO).WithContext("seen/1.drum");
  EXPECT_EQ(error.message, "seen/1.drum: read: Input/output error");
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(error.sys_errno, EIO);
}

TEST(Error, EveryCodeHasAName) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kStopped); ++i) {
    EXPECT_NE(ErrorCodeName(static_cast<ErrorCode>(i)), "unknown") << i;
  }
}

TEST(CheckDeathTest, AbortsAndNamesThePlace) {
  NEPHILA_CHECK(1 + 1 == 2);
  EXPECT_DEATH(NEPHILA_CHECK(1 + 1 == 3),
               "result_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

TEST(CheckDeathTest, TouchingTheWrongSideOfAResultIsABug) {
  const Result<int> error = Half(1);
  const Result<int> value = Half(2);
  EXPECT_DEATH(static_cast<void>(*error), "check failed: has_value");
  EXPECT_DEATH(static_cast<void>(value.error()), "check failed: !has_value");
  const Status fine;
  EXPECT_DEATH(static_cast<void>(fine.error()), "check failed: !has_value");
}

}  // namespace
}  // namespace nephila
