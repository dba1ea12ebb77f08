#include <array>

#include "config/settings.h"
#include "config/table.h"

namespace nephila::config {

#define NEPHILA_ENUM_BEGIN(type)                                \
  std::span<const std::string_view> ChoiceNames(type /*any*/) { \
    static constexpr auto kNames = std::to_array<std::string_view>({
#define NEPHILA_ENUM_VALUE(type, value, text) text,
#define NEPHILA_ENUM_END(type) \
  });                          \
  return kNames;               \
  }
#include "config/settings.def"

namespace {

std::vector<Row> MakeRows() {
  [[maybe_unused]] constexpr Change kAnyTime = Change::kAnyTime;
  [[maybe_unused]] constexpr Change kFixedPerJob = Change::kFixedPerJob;
  std::vector<Row> rows;
#define NEPHILA_SETTING(type, section, key, member, value, limits, fixed, doc) \
  rows.push_back(MakeRow<Settings>(                                            \
      #section "." #key,                                                       \
      [](auto& settings) -> auto& { return settings.section.member; }, limits, \
      fixed, doc));
#include "config/settings.def"
  return rows;
}

}  // namespace

const Table& SettingsTable() {
  static constexpr auto kSections = std::to_array<Section>({
#define NEPHILA_SECTION_BEGIN(type, name, doc) {#name, doc},
#include "config/settings.def"
  });
  static const std::vector<Row> kRows = MakeRows();
  static const Table kTable{kSections, kRows};
  return kTable;
}

std::span<const Row> AllRows() { return SettingsTable().rows; }

}  // namespace nephila::config
