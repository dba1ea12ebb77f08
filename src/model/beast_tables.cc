// BEAST's disk speeds and queues, in the text of ch. VII and of the WWW paper.

#include <array>

#include "model/table_makers.h"

namespace nephila::model {
namespace {

struct PrintedBeast {
  double pages;
  const char* naive_thesis;
  const char* naive_paper;
  const char* queues_thesis;
  const char* queues_paper;
};

constexpr std::array<PrintedBeast, 3> kBeast = {{
    {1e8, "3.7", "3.8", "", ""},
    {8e9, "82", "83", "9", "16"},
    {8e10, "820", "826", "87", "128"},
}};

PrintedBeast FindBeast(double pages) {
  for (const PrintedBeast& row : kBeast) {
    if (row.pages == pages) return row;
  }
  return {pages, "", "", "", ""};
}

}  // namespace

Table MakeBeast(const Parameters& parameters) {
  constexpr double kMega = 1e6;
  const BeastParameters& a = parameters.beast;
  Table table{
      "beast",
      "disk speed that budgets need (Theorems 6 and 7; WWW paper, 4, 5)",
      {"what", "N"}};
  table.notes = {
      "(31) with the stated E[B_x] V = 363M gives 11.5 and 110.7. 9 and 87 "
      "would "
      "follow from 462M (14 x 33M, or 11 x 42M). The WWW paper's eq. 11 gives "
      "the 16 and 128 that it prints.",
      "For N < E[B_x] V the proof of Theorem 7 ends in beta = 1/2; (27) and "
      "the "
      "WWW paper's eq. 10 have 1, which (30) gives at N = E[B_x] V."};
  for (double pages : Or(parameters.pages, {1e8, 8e9, 8e10})) {
    PrintedBeast printed = FindBeast(pages);
    std::string at = FormatPages(pages);
    auto add = [&](const char* what, const char* equation, double computed,
                   const char* text, size_t note) {
      table.figures.push_back(
          {{what, at}, equation, computed, text, std::nullopt, note});
    };
    double naive = NaiveDiskSpeed(a, pages) / kMega;
    add("naive, MB/s (thesis)", "(25)", naive, printed.naive_thesis, 0);
    add("naive, MB/s (WWW)", "WWW 8", naive, printed.naive_paper, 0);
    bool small = pages < a.mean_budget * a.domains;
    add("doubling, MB/s", "(26)", DoublingDiskSpeed(a, pages) / kMega, "",
        small ? 2 : 0);
    bool differs = *printed.queues_thesis != '\0';
    add("queues (thesis)", "(31)", QueuesByThesis(a, pages),
        printed.queues_thesis, differs ? 1 : 0);
    add("queues (WWW)", "WWW 11", QueuesByPaper(a, pages), printed.queues_paper,
        0);
  }
  table.figures.push_back({{"doubling, MB/s, its limit", "any"},
                           "s VII.2",
                           DoublingDiskSpeedLimit(a) / kMega,
                           "8.2"});
  return table;
}

}  // namespace nephila::model
