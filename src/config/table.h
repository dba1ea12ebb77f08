// Table: settings described as data, so that one piece of code reads, checks,
// prints and documents them all.
//
// A Row knows one member of some struct by two functions that take the struct
// as void*; MakeRow makes them from a lambda, so a struct and its rows cannot
// disagree about a type. nephila's own table is AllRows(); the tests have
// another with every type in it. Text given by a user is hostile: every
// message is one printable line of bounded length.
//   Threads: tables are const and safe to share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace nephila::config {

enum class Type : uint8_t {
  kBool,
  kInteger,
  kSize,      // bytes
  kDuration,  // nanoseconds
  kString,
  kStringList,
  kChoice,
};

// The position of a name in Row::choices.
struct Choice {
  size_t index = 0;
  bool operator==(const Choice&) const = default;
};

// What a setting of any type holds, in the order of Type.
using Value = std::variant<bool, int64_t, uint64_t, std::chrono::nanoseconds,
                           std::string, std::vector<std::string>, Choice>;

// Both ends belong to the range; the extreme values mean no limit. For a size
// in bytes, for a duration in nanoseconds, without meaning for other types.
struct Limits {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

enum class Change : uint8_t { kAnyTime, kFixedPerJob };

struct Row {
  std::string_view name;  // with its section: "url.max_length"
  Type type = Type::kBool;
  Change change = Change::kAnyTime;
  Limits limits;
  std::span<const std::string_view> choices;  // kChoice only
  std::string_view doc;
  Value default_value;
  Value (*get)(const void* settings) = nullptr;
  // REQUIRES: `value` holds the alternative that belongs to `type`.
  void (*set)(void* settings, Value value) = nullptr;
};

struct Section {
  std::string_view name;
  std::string_view doc;
};

// Rows of one section stand together, in the order of the sections; rows
// without a section (no dot in the name) come first.
struct Table {
  std::span<const Section> sections;
  std::span<const Row> rows;
};

// nephila's own: what settings.def says.
const Table& SettingsTable();
std::span<const Row> AllRows();

// "url" and "max_length" of url.max_length; "" where there is no section.
std::string_view SectionOf(std::string_view name);
std::string_view KeyOf(std::string_view name);

const Row* FindRow(std::span<const Row> rows, std::string_view name);
// "<name>: no such setting; did you mean <nearest>?"
Error NoSuchSetting(std::span<const Row> rows, std::string_view name);

// What a value has to be: "a size such as 2KiB", "one of keep, add, strip".
std::string Expected(const Row& row);
// For a reference: "size", "true or false".
std::string TypeText(const Row& row);
// "64B to 64KiB", "keep, add, strip", or "" where everything is allowed.
std::string AllowedText(const Row& row);

// "size, 64B to 64KiB; default "2KiB"; fixed per job"
std::string Facts(const Row& row);

// As ParseValue reads it; lists with a comma or a space in an item, which it
// would split, only as FormatTomlValue does.
std::string FormatValue(const Row& row, const Value& value);
// As it stands in TOML; loads back to the same value.
std::string FormatTomlValue(const Row& row, const Value& value);

// Reads plain text such as --set takes (a list is separated by commas), and
// checks it. Errors begin with the name of the setting.
Result<Value> ParseValue(const Row& row, std::string_view text);
// `value` if the row allows it: limits, and text that TOML can hold.
Result<Value> CheckValue(const Row& row, Value value);

// "<name>: <what>", where a user's text made the name or is in `what`.
Error SettingError(std::string_view name, std::string_view what);
// `text` cut to a length and without anything that disturbs a terminal.
std::string Printable(std::string_view text);

// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);

// Lines of at most `width` columns that begin with `prefix`, each ended by
// '\n'; a longer word has a line of its own.
std::string Wrap(std::string_view text, std::string_view prefix, size_t width);

// Below: how MakeRow ties a member to its Value.

template <typename T>
constexpr Type TypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return Type::kBool;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Type::kInteger;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return Type::kSize;
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    return Type::kDuration;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return Type::kString;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return Type::kStringList;
  } else {
    static_assert(std::is_enum_v<T>, "not a type of settings.def");
    return Type::kChoice;
  }
}

template <typename T>
Value ToValue(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return Choice{static_cast<size_t>(member)};
  } else {
    return Value(std::in_place_type<T>, member);
  }
}

template <typename T>
T FromValue(Value value) {
  if constexpr (std::is_enum_v<T>) {
    const Choice* choice = std::get_if<Choice>(&value);
    NEPHILA_CHECK(choice != nullptr);
    return static_cast<T>(choice->index);
  } else {
    T* held = std::get_if<T>(&value);
    NEPHILA_CHECK(held != nullptr);
    return std::move(*held);
  }
}

// `access` is a lambda without captures from S& (const or not) to the member;
// the default is what a fresh S holds. An enum E needs a function that
// argument-dependent lookup finds: span<const string_view> ChoiceNames(E).
template <typename S, typename Access>
Row MakeRow(std::string_view name, Access access, Limits limits, Change change,
            std::string_view doc) {
  using T = std::remove_cvref_t<decltype(access(std::declval<S&>()))>;
  Row row;
  row.name = name;
  row.type = TypeOf<T>();
  row.change = change;
  row.limits = limits;
  if constexpr (std::is_enum_v<T>) row.choices = ChoiceNames(T{});
  row.doc = doc;
  row.get = [](const void* settings) {
    return ToValue(Access{}(*static_cast<const S*>(settings)));
  };
  row.set = [](void* settings, Value value) {
    Access{}(*static_cast<S*>(settings)) = FromValue<T>(std::move(value));
  };
  const S defaults;
  row.default_value = row.get(&defaults);
  return row;
}

// The limits column of settings.def.
constexpr Limits Any() { return {}; }
constexpr Limits Between(int64_t min, int64_t max) { return {min, max}; }
constexpr Limits Between(std::chrono::nanoseconds min,
                         std::chrono::nanoseconds max) {
  return {min.count(), max.count()};
}
constexpr Limits AtLeast(int64_t min) {
  return {min, std::numeric_limits<int64_t>::max()};
}
constexpr Limits AtLeast(std::chrono::nanoseconds min) {
  return AtLeast(min.count());
}
constexpr Limits AtMost(int64_t max) {
  return {std::numeric_limits<int64_t>::min(), max};
}
constexpr Limits AtMost(std::chrono::nanoseconds max) {
  return AtMost(max.count());
}

}  // namespace nephila::config
