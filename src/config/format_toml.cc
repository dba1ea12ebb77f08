#include "config/load.h"

namespace nephila::config {
namespace {

constexpr size_t kColumns = 80;
constexpr std::string_view kComment = "# ";

}  // namespace

std::string FormatTomlWith(const Table& table, const void* settings) {
  std::string out;
  std::string_view section;
  for (const Row& row : table.rows) {
    if (SectionOf(row.name) != section) {
      section = SectionOf(row.name);
      if (!out.empty()) out += "\n";
      for (const Section& described : table.sections) {
        if (described.name != section) continue;
        out += Wrap(described.doc, kComment, kColumns);
      }
      out += "[" + std::string(section) + "]\n";
    }
    if (!out.empty()) out += "\n";
    out += Wrap(row.doc, kComment, kColumns);
    out += Wrap("(" + Facts(row) + ")", kComment, kColumns);
    out += std::string(KeyOf(row.name)) + " = " +
           FormatTomlValue(row, row.get(settings)) + "\n";
  }
  return out;
}

std::string FormatToml(const Settings& settings) {
  return FormatTomlWith(SettingsTable(), &settings);
}

}  // namespace nephila::config
