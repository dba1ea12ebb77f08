#include "model/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace nephila::model {
namespace {

std::string WithoutCommas(std::string_view printed) {
  std::string digits(printed);
  std::erase(digits, ',');
  return digits;
}

// The value of a step in the last digit.
double Resolution(const std::string& digits) {
  size_t point = digits.find('.');
  if (point == std::string::npos) return 1;
  return std::pow(10, -static_cast<double>(digits.size() - point - 1));
}

struct Forms {
  bool rounded;
  bool truncated;
};

Forms FormsOf(double computed, double printed, double resolution) {
  auto is = [&](double steps) {
    return std::abs(steps * resolution - printed) < resolution * 1e-6;
  };
  return {is(std::round(computed / resolution)),
          is(std::trunc(computed / resolution))};
}

std::string FormatScaled(double value, std::span<const char* const> units) {
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g}{}", value, units[unit]);
}

std::string Difference(const Figure& figure) {
  auto printed = PrintedValue(figure.printed);
  if (!printed || *printed == 0) return "";
  return fmt::format("{:+.2f} %", 100 * (figure.computed / *printed - 1));
}

std::vector<std::string> Header(const Table& table) {
  std::vector<std::string> cells = table.columns;
  cells.insert(cells.end(), {"eq.", "computed"});
  if (table.compares)
    cells.insert(cells.end(), {"printed", "difference", "as"});
  if (!table.other_name.empty()) cells.push_back(table.other_name);
  return cells;
}

std::vector<std::string> Cells(const Table& table, const Figure& figure) {
  std::vector<std::string> cells = figure.where;
  std::string as(AgreementName(Compare(figure.printed, figure.computed)));
  if (figure.note != 0) {
    as += fmt::format("{}[{}]", as.empty() ? "" : " ", figure.note);
  }
  cells.insert(cells.end(), {figure.equation, FormatValue(figure.computed)});
  if (table.compares) {
    cells.insert(cells.end(), {figure.printed, Difference(figure), as});
  }
  if (!table.other_name.empty()) {
    cells.push_back(figure.other ? FormatValue(*figure.other) : "");
  }
  return cells;
}

}  // namespace

std::string_view AgreementName(Agreement agreement) {
  switch (agreement) {
    case Agreement::kNothingPrinted:
      return "";
    case Agreement::kDigits:
      return "same";
    case Agreement::kRounded:
      return "rounded";
    case Agreement::kTruncated:
      return "truncated";
    case Agreement::kPlaces:
      return "leading digits";
    case Agreement::kDiffers:
      break;
  }
  return "differs";
}

std::optional<double> PrintedValue(std::string_view printed) {
  std::string digits = WithoutCommas(printed);
  double value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Agreement Compare(std::string_view printed, double computed) {
  auto value = PrintedValue(printed);
  if (!value) return Agreement::kNothingPrinted;
  std::string digits = WithoutCommas(printed);
  double resolution = Resolution(digits);
  Forms forms = FormsOf(computed, *value, resolution);
  if (forms.rounded && forms.truncated) return Agreement::kDigits;
  if (forms.rounded) return Agreement::kRounded;
  if (forms.truncated) return Agreement::kTruncated;
  if (digits.find('.') != std::string::npos) return Agreement::kDiffers;
  for (; digits.size() > 1 && digits.back() == '0'; digits.pop_back()) {
    resolution *= 10;
    forms = FormsOf(computed, *value, resolution);
    if (forms.rounded || forms.truncated) return Agreement::kPlaces;
  }
  return Agreement::kDiffers;
}

std::string FormatValue(double value) {
  double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.5g}", value);
  if (size >= 10'000) return fmt::format("{:.1f}", value);
  if (size >= 1000) return fmt::format("{:.2f}", value);
  return fmt::format("{:.4f}", value);
}

std::string FormatPages(double pages) {
  static constexpr std::array kUnits = {"", "K", "M", "B", "T"};
  return FormatScaled(pages, kUnits);
}

std::string FormatBytes(double bytes) {
  static constexpr std::array kUnits = {" B", " kB", " MB", " GB", " TB"};
  return FormatScaled(bytes, kUnits);
}

std::string FormatTable(const Table& table) {
  std::vector<std::vector<std::string>> rows{Header(table)};
  for (const Figure& figure : table.figures) {
    rows.push_back(Cells(table, figure));
  }
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text = fmt::format("{}: {}\n\n", table.name, table.title);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      text += fmt::format("| {:<{}} ", rows[r][i], widths[i]);
    }
    text += "|\n";
    if (r != 0) continue;
    for (size_t width : widths) text += fmt::format("| {:-<{}} ", "", width);
    text += "|\n";
  }
  if (!table.notes.empty()) text += '\n';
  for (size_t i = 0; i < table.notes.size(); ++i) {
    text += fmt::format("[{}] {}\n", i + 1, table.notes[i]);
  }
  return text;
}

}  // namespace nephila::model
