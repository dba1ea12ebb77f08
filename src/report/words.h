// Words: numbers and names of a report as people read them.
//   In: anything.   Out: short texts, in UTF-8 where `Grouping` asks for it,
//   not escaped.   Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "report/figures.h"

namespace nephila::report {

// Between groups of three digits.
enum class Grouping : uint8_t {
  kSpace,      // for terminals
  kThinSpace,  // U+202F, which no line is broken at
};

// "12 345 678".
std::string Grouped(uint64_t number, Grouping grouping);
// Three digits that count: "0.0123", "4.56", "1 230".
std::string Rounded(double number, Grouping grouping);
// "12.3 %", "under 0.1 %", "-" of nothing.
std::string Percent(uint64_t count, uint64_t of);
// For the ends of axes: "20 s", "5 min", "3 h", "12 d".
std::string ShortTime(double seconds);
// "2026-01-02 03:04:05 UTC".
std::string DateTime(WallTime when);
// "1.2k", "34k", "5M": for axes.
std::string ShortNumber(double number);

// Why a stage drops URLs: what its reason means; the reason itself if it is
// not known here.
std::string ReasonText(std::string_view stage, std::string_view reason);
// How a crawl ended: "ended: it had crawled for as long as it was to".
std::string EndText(const Figures& figures);
// "Not Found" of "404"; "" for what has no name.
std::string_view StatusText(std::string_view status);

}  // namespace nephila::report
