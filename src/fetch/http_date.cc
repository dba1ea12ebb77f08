#include "fetch/http_date.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "base/ascii.h"

namespace nephila::fetch {
namespace {

using std::chrono::sys_days;

constexpr int kMissing = -1;

struct Parts {
  int hour = kMissing;
  int minute = 0;
  int second = 0;
  int day = kMissing;
  int month = kMissing;
  int year = kMissing;
  bool short_year = false;
};

bool IsDelimiter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x09 || (byte >= 0x20 && byte <= 0x2f) ||
         (byte >= 0x3b && byte <= 0x40) || (byte >= 0x5b && byte <= 0x60) ||
         (byte >= 0x7b && byte <= 0x7e);
}

// The number that *text begins with, cut off it; kMissing unless it has `least`
// to `most` digits.
int TakeNumber(std::string_view* text, size_t least, size_t most) {
  size_t digits = 0;
  int number = 0;
  while (digits < text->size() && IsDigit((*text)[digits])) {
    if (digits == most) return kMissing;
    number = number * 10 + ((*text)[digits] - '0');
    ++digits;
  }
  if (digits < least) return kMissing;
  text->remove_prefix(digits);
  return number;
}

bool TakeTime(std::string_view token, Parts* parts) {
  std::array<int, 3> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = TakeNumber(&token, 1, 2);
    if (numbers[i] == kMissing) return false;
    if (i == 2) break;
    if (!token.starts_with(':')) return false;
    token.remove_prefix(1);
  }
  parts->hour = numbers[0];
  parts->minute = numbers[1];
  parts->second = numbers[2];
  return true;
}

int MonthOf(std::string_view token) {
  constexpr std::string_view kNames = "janfebmaraprmayjunjulaugsepoctnovdec";
  if (token.size() < 3) return kMissing;
  for (size_t i = 0; i < 12; ++i) {
    if (EqualsIgnoreCase(token.substr(0, 3), kNames.substr(i * 3, 3))) {
      return static_cast<int>(i) + 1;
    }
  }
  return kMissing;
}

// The first token of each kind counts.
void TakeToken(std::string_view token, Parts* parts) {
  if (parts->hour == kMissing && TakeTime(token, parts)) return;
  if (parts->day == kMissing) {
    std::string_view rest = token;
    parts->day = TakeNumber(&rest, 1, 2);
    if (parts->day != kMissing) return;
  }
  if (parts->month == kMissing) {
    parts->month = MonthOf(token);
    if (parts->month != kMissing) return;
  }
  if (parts->year == kMissing) {
    std::string_view rest = token;
    parts->year = TakeNumber(&rest, 2, 4);
    parts->short_year = token.size() - rest.size() == 2;
  }
}

Parts ReadParts(std::string_view text) {
  Parts parts;
  while (!text.empty()) {
    const auto* end = std::find_if(text.begin(), text.end(), IsDelimiter);
    const auto size = static_cast<size_t>(end - text.begin());
    if (size > 0) TakeToken(text.substr(0, size), &parts);
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return parts;
}

std::optional<WallTime> TimeOf(const Parts& parts) {
  constexpr int kFirstYear = 1601;  // RFC 6265 s5.1.1
  if (parts.hour == kMissing || parts.hour > 23 || parts.minute > 59 ||
      parts.second > 60 || parts.year < kFirstYear) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(
      std::chrono::year(parts.year),
      std::chrono::month(static_cast<unsigned>(std::max(parts.month, 0))),
      std::chrono::day(static_cast<unsigned>(std::max(parts.day, 0))));
  if (!date.ok()) return std::nullopt;
  // A leap second is the one before it, which every clock has.
  const auto seconds = std::chrono::sys_seconds(sys_days(date)) +
                       std::chrono::hours(parts.hour) +
                       std::chrono::minutes(parts.minute) +
                       std::chrono::seconds(std::min(parts.second, 59));
  using std::chrono::ceil;
  using std::chrono::floor;
  const auto first = ceil<std::chrono::seconds>(WallTime::min());
  const auto last = floor<std::chrono::seconds>(WallTime::max());
  return WallTime(std::clamp(seconds, first, last));
}

}  // namespace

std::optional<WallTime> ParseHttpDate(std::string_view text, WallTime now) {
  Parts parts = ReadParts(text);
  if (parts.short_year) {
    const std::chrono::year_month_day today(
        std::chrono::floor<std::chrono::days>(now));
    const int century = static_cast<int>(today.year()) / 100 * 100;
    // The century before, this or the next: the last within 50 years.
    parts.year += century + 100;
    while (parts.year > static_cast<int>(today.year()) + 50) parts.year -= 100;
  }
  return TimeOf(parts);
}

std::optional<WallTime> ParseCookieDate(std::string_view text) {
  Parts parts = ReadParts(text);
  if (parts.short_year) parts.year += parts.year >= 70 ? 1900 : 2000;
  return TimeOf(parts);
}

}  // namespace nephila::fetch
