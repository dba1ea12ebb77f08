// Figures computed beside figures printed, and the text that shows them.
//
// A table has one row a figure; how a printed figure agrees is decided by its
// digits alone. Pure. Threads: any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nephila::model {

enum class Agreement {
  kNothingPrinted,
  kDigits,     // rounded or truncated, it is the printed figure
  kRounded,    // rounded only
  kTruncated,  // truncated only
  kPlaces,     // if the printed figure's last zeros are no digits ("820")
  kDiffers,
};
std::string_view AgreementName(Agreement agreement);

// `printed` as in the papers: digits, commas, a point; empty if there is none.
Agreement Compare(std::string_view printed, double computed);
std::optional<double> PrintedValue(std::string_view printed);

struct Figure {
  std::vector<std::string> where;  // by Table::columns
  std::string equation;
  double computed = 0;
  std::string printed = {};
  std::optional<double> other = {};  // what Table::other_name says
  size_t note = 0;                   // from 1, 0 is none
};

struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> columns;
  std::string other_name = {};  // empty: no such column
  bool compares = true;         // false: no figure is printed anywhere
  std::vector<Figure> figures = {};
  std::vector<std::string> notes = {};
};

// Four digits and more, by size: "2.2672", "93.9996", "660802.6".
std::string FormatValue(double value);

// "800M", "8B", "7.5T"; the letter of `units` at each power of 1000.
std::string FormatPages(double pages);
// "4 GB", decimal.
std::string FormatBytes(double bytes);

// A Markdown table with its columns aligned, the title above, notes below.
std::string FormatTable(const Table& table);

}  // namespace nephila::model
