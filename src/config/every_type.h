// For tests: a struct with a setting of every type, and its table.
//
// nephila's own table need not use every type at every time; the machinery is
// tested with this one, which does.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/table.h"

namespace nephila::config {

enum class Color : uint8_t { kRed, kGreen };

inline std::span<const std::string_view> ChoiceNames(Color /*any*/) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"red", "green"});
  return kNames;
}

struct EveryType {
  int64_t top = 7;
  bool flag = true;
  int64_t count = -3;
  int64_t free_count = 0;
  uint64_t size_bytes = 4096;
  uint64_t free_size_bytes = 1;
  std::chrono::nanoseconds delay = std::chrono::seconds(10);
  std::chrono::nanoseconds free_delay = std::chrono::milliseconds(1500);
  std::string text = "plain";
  std::vector<std::string> list = {"a", "b"};
  Color color = Color::kGreen;

  bool operator==(const EveryType&) const = default;
};

inline const Table& EveryTypeTable() {
  using std::chrono::hours;
  using std::chrono::seconds;
  static constexpr auto kSections = std::to_array<Section>(
      {{"one", "Numbers."}, {"two.deep", "Texts | such."}});
  constexpr Change kAnyTime = Change::kAnyTime;
  static const std::vector<Row> kRows = {
      MakeRow<EveryType>(
          "top", [](auto& s) -> auto& { return s.top; }, AtMost(9), kAnyTime,
          "No section."),
      MakeRow<EveryType>(
          "one.flag", [](auto& s) -> auto& { return s.flag; }, Any(),
          Change::kFixedPerJob, "A flag."),
      MakeRow<EveryType>(
          "one.count", [](auto& s) -> auto& { return s.count; }, Between(-5, 5),
          kAnyTime, "A count."),
      MakeRow<EveryType>(
          "one.free_count", [](auto& s) -> auto& { return s.free_count; },
          Any(), kAnyTime, "Any count."),
      MakeRow<EveryType>(
          "one.size", [](auto& s) -> auto& { return s.size_bytes; },
          Between(1024, 1 << 20), kAnyTime, "A size."),
      MakeRow<EveryType>(
          "one.free_size", [](auto& s) -> auto& { return s.free_size_bytes; },
          Any(), kAnyTime, "Any size."),
      MakeRow<EveryType>(
          "one.delay", [](auto& s) -> auto& { return s.delay; },
          Between(seconds(1), hours(1)), kAnyTime, "A delay."),
      MakeRow<EveryType>(
          "one.free_delay", [](auto& s) -> auto& { return s.free_delay; },
          AtLeast(seconds(0)), kAnyTime, "Any delay."),
      MakeRow<EveryType>(
          "two.deep.text", [](auto& s) -> auto& { return s.text; }, Any(),
          kAnyTime, "A text."),
      MakeRow<EveryType>(
          "two.deep.list", [](auto& s) -> auto& { return s.list; }, Any(),
          kAnyTime, "A list."),
      MakeRow<EveryType>(
          "two.deep.color", [](auto& s) -> auto& { return s.color; }, Any(),
          kAnyTime, "A color."),
  };
  static const Table kTable{kSections, kRows};
  return kTable;
}

}  // namespace nephila::config
