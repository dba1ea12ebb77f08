// Tables V, VI and VII, and the figures in the text of ch. V.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/table_makers.h"

namespace nephila::model {
namespace {

using enum Method;

constexpr char kOther[] = "with p/pi";
constexpr char kOtherNote[] =
    "With p/pi: a cache removes only duplicates, so of the links behind it "
    "p/pi "
    "are unique, not p.";

struct Structure {
  const char* name;
  double links_per_s;  // mu(c)
  const char* size;
  double max_rate;  // S_max that gives the printed figure
  const char* printed;
};

constexpr double kStatedMaxRate = 4000;
constexpr double kClockRate = 2e6;

constexpr std::array<Structure, 6> kTable5 = {{
    {"Balanced tree (strings)", 113e3, "2.2 GB", 4000, "1295"},
    {"Tree-based LRU (8-byte int)", 185e3, "1.6 GB", 4000, "1757"},
    {"Balanced tree (8-byte int)", 416e3, "768 MB", 4000, "2552"},
    {"CLOCK (8-byte int)", kClockRate, "320 MB", 4000, "3577"},
    {"Random array (8-byte int)", 77e6, "128 MB", 6000, "5972"},
    {"Seq array (8-byte int)", 277e6, "128 MB", 6000, "5992"},
}};

constexpr std::array<Printed, 20> kTable6 = {{
    {8e8, 4e9, kMercatorB, "3.02"},   {8e8, 4e9, kDrum, "2.27"},
    {8e8, 8e9, kMercatorB, "2.54"},   {8e8, 8e9, kDrum, "2.27"},
    {8e9, 4e9, kMercatorB, "10.4"},   {8e9, 4e9, kDrum, "2.4"},
    {8e9, 8e9, kMercatorB, "6.1"},    {8e9, 8e9, kDrum, "2.4"},
    {8e10, 4e9, kMercatorB, "84"},    {8e10, 4e9, kDrum, "3.3"},
    {8e10, 8e9, kMercatorB, "41"},    {8e10, 8e9, kDrum, "3.3"},
    {8e11, 4e9, kMercatorB, "823"},   {8e11, 4e9, kDrum, "3.3"},
    {8e11, 8e9, kMercatorB, "395"},   {8e11, 8e9, kDrum, "3.3"},
    {8e12, 4e9, kMercatorB, "8,211"}, {8e12, 4e9, kDrum, "4.5"},
    {8e12, 8e9, kMercatorB, "3,935"}, {8e12, 8e9, kDrum, "3.3"},
}};

constexpr std::array<Printed, 20> kTable7 = {{
    {8e8, 4e9, kMercatorB, "18,051"}, {8e8, 4e9, kDrum, "26,433"},
    {8e8, 8e9, kMercatorB, "23,242"}, {8e8, 8e9, kDrum, "26,433"},
    {8e9, 4e9, kMercatorB, "6,438"},  {8e9, 4e9, kDrum, "25,261"},
    {8e9, 8e9, kMercatorB, "10,742"}, {8e9, 8e9, kDrum, "25,261"},
    {8e10, 4e9, kMercatorB, "1,165"}, {8e10, 4e9, kDrum, "18,023"},
    {8e10, 8e9, kMercatorB, "2,262"}, {8e10, 8e9, kDrum, "18,023"},
    {8e11, 4e9, kMercatorB, "136"},   {8e11, 4e9, kDrum, "18,023"},
    {8e11, 8e9, kMercatorB, "274"},   {8e11, 8e9, kDrum, "18,023"},
    {8e12, 4e9, kMercatorB, "13.9"},  {8e12, 4e9, kDrum, "11,641"},
    {8e12, 8e9, kMercatorB, "27.9"},  {8e12, 8e9, kDrum, "18,023"},
}};

}  // namespace

Table MakeTable5(const Parameters& parameters) {
  const CacheParameters& cache = parameters.cache;
  double l = parameters.drum.links_per_page;
  Table table{
      "V",
      "insertion rate mu(c) and the crawling rate it allows (Theorem 4)",
      {"structure", "mu(c), links/s", "size", "S_max"},
      "S_max as stated"};
  for (const Structure& row : kTable5) {
    bool clock = row.links_per_s == kClockRate;
    double mu = clock ? cache.cache_rate : row.links_per_s;
    bool stated = cache.max_rate != kStatedMaxRate;
    double max_rate = stated ? cache.max_rate : row.max_rate;
    Figure figure{
        {row.name, FormatPages(mu), row.size, fmt::format("{:g}", max_rate)},
        "(21)",
        CacheRate(mu, l, max_rate),
        row.printed};
    if (max_rate != cache.max_rate) {
      figure.other = CacheRate(mu, l, cache.max_rate);
      figure.note = 1;
    }
    table.figures.push_back(std::move(figure));
  }
  table.notes = {
      "Rows 5 and 6 are printed for S_max = 6000: no figure of (21) exceeds "
      "S_max, and the stated 4000 gives 3987 and 3996."};
  return table;
}

Table MakeTable6(const Parameters& parameters) {
  const DrumParameters& a = parameters.drum;
  Table table{"VI",
              "overhead alpha(pi n, R - c) behind a cache at D(pi n) (s V.3)",
              {"N", "R", "method"},
              kOther};
  table.notes = {kOtherNote};
  for (double pages : PagesOf(parameters)) {
    for (double ram : Or(parameters.ram_bytes, {4e9, 8e9})) {
      if (ram <= parameters.cache_bytes) continue;
      for (Method method : {kMercatorB, kDrum}) {
        auto alpha = [&](Uniqueness uniqueness) {
          return CachedAlpha(method, a, uniqueness, a.links_per_page * pages,
                             ram, parameters.cache_bytes, parameters.miss_rate);
        };
        table.figures.push_back({{FormatPages(pages), FormatBytes(ram),
                                  std::string(MethodName(method))},
                                 method == kDrum ? "(7)" : "(1)",
                                 alpha(Uniqueness::kAsInThesis),
                                 FindPrinted(kTable6, pages, ram, method),
                                 alpha(Uniqueness::kOnlyDuplicatesLeave)});
      }
    }
  }
  return table;
}

Table MakeTable7(const Parameters& parameters) {
  const DrumParameters& a = parameters.drum;
  Table table{"VII",
              "pages/s of disk and cache, max over c, at D(pi n) (Theorem 5)",
              {"N", "R", "method", "at c"},
              kOther};
  table.notes = {
      kOtherNote,
      "The printed figures come out with the second step of pi(c, S) at 2 "
      "gamma tau_h l S and c on a grid of 50 MB; the 4 of the text would give "
      "14,251 for the first figure.",
      "The printed figure is what (7) gives without U at D = p H pi n and pi = "
      "0.26, alpha = (H + b)/b + alpha''_min: 18,022.9. With U = 100M, as in "
      "the other rows, it is 0.05 % (80B) and 0.005 % (800B) less."};
  for (double pages : PagesOf(parameters)) {
    for (double ram : Or(parameters.ram_bytes, {4e9, 8e9})) {
      for (Method method : {kMercatorB, kDrum}) {
        auto best = [&](Uniqueness uniqueness) {
          return BestHybrid(method, a, parameters.cache, uniqueness,
                            a.links_per_page * pages, ram);
        };
        BestCache thesis = best(Uniqueness::kAsInThesis);
        bool limit = method == kDrum && (pages == 8e10 || pages == 8e11);
        table.figures.push_back(
            {{FormatPages(pages), FormatBytes(ram),
              std::string(MethodName(method)), FormatBytes(thesis.cache_bytes)},
             "(22)",
             thesis.pages_per_s,
             FindPrinted(kTable7, pages, ram, method),
             best(Uniqueness::kOnlyDuplicatesLeave).pages_per_s,
             limit ? size_t{3} : size_t{0}});
      }
    }
  }
  return table;
}

Table MakeCacheText(const Parameters& parameters) {
  Table table{"cache", "figures in the text of ch. V", {"what", "at"}, kOther};
  table.notes = {
      "Behind a cache pn links are unique as before, so the quadratic term "
      "falls by 1/pi, not by 1/pi^2: the passes are fewer, URLseen grows the "
      "same."};
  auto add = [&](const char* what, double pi, const char* equation,
                 double computed, const char* printed) {
    table.figures.push_back(
        {{what, fmt::format("pi = {:g}", pi)}, equation, computed, printed});
  };
  add("Mercator-A is faster by 1/pi", 0.35, "s V.3", 1 / 0.35, "2.8");
  add("Mercator-A is faster by 1/pi", 0.25, "s V.3", 1 / 0.25, "4");
  for (double pi : {0.35, 0.25}) {
    // The ratio of (5) without and with the cache, c << R.
    const DrumParameters& a = parameters.drum;
    DrumParameters behind = a;
    behind.unique_share /= pi;
    double before = OmegaLimit(kMercatorB, a, 1, 1);
    add("omega's limit falls by", pi, "(5)",
        before / OmegaLimit(kMercatorB, a, pi, 1), pi == 0.35 ? "8" : "16");
    table.figures.back().other = before / OmegaLimit(kMercatorB, behind, pi, 1);
    table.figures.back().note = 1;
  }
  double working_set = parameters.cache.host_delay_s *
                       parameters.drum.links_per_page *
                       parameters.beast.pages_per_s;
  table.figures.push_back(
      {{"tau_h l S, million links",
        fmt::format("S = {:g}", parameters.beast.pages_per_s)},
       "s V.1",
       working_set / 1e6,
       "7.3"});
  return table;
}

Table MakeCacheChoice(const Parameters& parameters) {
  const DrumParameters& a = parameters.drum;
  Table table{"c_opt",
              "whether a cache pays: S_opt, pages/s, and c_opt (24)",
              {"N", "R", "method", "min(S_max, S_disk)", "c_opt"},
              kOther};
  table.notes = {kOtherNote,
                 "c_opt = 0: the cache does not pay. The thesis compares S_opt "
                 "with S_disk; "
                 "as the CPU limits both, it is compared with min(S_max, "
                 "S_disk), which is "
                 "(24) at c = 0. The thesis prints no figures of (24)."};
  for (double pages : PagesOf(parameters)) {
    for (double ram : Or(parameters.ram_bytes, {4e9, 8e9})) {
      for (Method method : {kMercatorB, kDrum}) {
        double links = a.links_per_page * pages;
        auto best = [&](Uniqueness uniqueness) {
          return OptimalCache(method, a, parameters.cache, uniqueness, links,
                              ram);
        };
        double alone = HybridRate(method, a, parameters.cache,
                                  Uniqueness::kAsInThesis, links, ram, 0);
        BestCache thesis = best(Uniqueness::kAsInThesis);
        table.figures.push_back(
            {{FormatPages(pages), FormatBytes(ram),
              std::string(MethodName(method)),
              FormatValue(std::min(alone, parameters.cache.max_rate)),
              FormatBytes(thesis.cache_bytes)},
             "(24)",
             thesis.pages_per_s,
             "",
             best(Uniqueness::kOnlyDuplicatesLeave).pages_per_s});
      }
    }
  }
  return table;
}

}  // namespace nephila::model
