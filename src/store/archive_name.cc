#include "store/archive_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/ascii.h"

namespace nephila::store {
namespace {

constexpr size_t kTimestampDigits = 17;

bool IsAlphanumeric(char c) { return IsDigit(c) || IsAlpha(c); }

bool TakeSuffix(std::string_view suffix, std::string_view* name) {
  if (!name->ends_with(suffix)) return false;
  name->remove_suffix(suffix.size());
  return true;
}

void AppendDigits(int64_t value, int64_t highest_unit, std::string* out) {
  for (int64_t unit = highest_unit; unit > 0; unit /= 10) {
    *out += static_cast<char>('0' + value / unit % 10);
  }
}

// UTC, with what is between the parts of a date and of a time. By hand, since
// it is done several times a page.
std::string CivilText(WallTime time, std::string_view in_date,
                      std::string_view in_time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(
      std::chrono::floor<std::chrono::seconds>(time) - day);
  std::string text;
  text.reserve(32);
  AppendDigits(static_cast<int>(date.year()), 1000, &text);
  text += in_date;
  AppendDigits(static_cast<unsigned>(date.month()), 10, &text);
  text += in_date;
  AppendDigits(static_cast<unsigned>(date.day()), 10, &text);
  if (!in_date.empty()) text += 'T';
  AppendDigits(clock.hours().count(), 10, &text);
  text += in_time;
  AppendDigits(clock.minutes().count(), 10, &text);
  text += in_time;
  AppendDigits(clock.seconds().count(), 10, &text);
  return text;
}

// Behind the second.
int64_t NanosecondsOf(WallTime time) {
  return (time - std::chrono::floor<std::chrono::seconds>(time)).count();
}

}  // namespace

std::string ArchiveName::FinalText() const {
  std::string text = fmt::format("{}-{}-{:05}", prefix, timestamp, serial);
  if (!host.empty()) text.append("-").append(host);
  return text + suffix;
}

std::string ArchiveName::Text() const {
  std::string text = FinalText();
  if (open) text += kOpenSuffix;
  return text;
}

std::string ArchiveName::IndexText() const {
  std::string text = FinalText();
  text.resize(text.size() - suffix.size());
  return text.append(kIndexSuffix);
}

std::string_view SuffixOf(CompressorKind kind) {
  return kind == CompressorKind::kZstd ? kZstdSuffix : kGzipSuffix;
}

std::optional<ArchiveName> ParseArchiveName(std::string_view prefix,
                                            std::string_view name) {
  ArchiveName parts;
  parts.open = TakeSuffix(kOpenSuffix, &name);
  if (TakeSuffix(kGzipSuffix, &name)) {
    parts.suffix = kGzipSuffix;
  } else if (TakeSuffix(kZstdSuffix, &name)) {
    parts.suffix = kZstdSuffix;
  } else {
    return std::nullopt;
  }
  if (!name.starts_with(prefix)) return std::nullopt;
  parts.prefix = prefix;
  name.remove_prefix(prefix.size());
  if (name.size() < kTimestampDigits + 2 || name[0] != '-' ||
      name[kTimestampDigits + 1] != '-') {
    return std::nullopt;
  }
  parts.timestamp = name.substr(1, kTimestampDigits);
  if (!std::ranges::all_of(parts.timestamp, IsDigit)) return std::nullopt;
  name.remove_prefix(kTimestampDigits + 2);
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, parts.serial);
  if (error != std::errc{}) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(rest - name.data()));
  if (!name.empty()) {
    if (name[0] != '-') return std::nullopt;
    name.remove_prefix(1);
    if (!IsNamePart(name)) return std::nullopt;
    parts.host = name;
  }
  return parts;
}

bool IsNamePart(std::string_view text) {
  return !text.empty() && text.size() <= 100 && IsAlphanumeric(text[0]) &&
         std::ranges::all_of(text, [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

std::string Timestamp17(WallTime time) {
  std::string text = CivilText(time, "", "");
  AppendDigits(NanosecondsOf(time) / 1'000'000, 100, &text);
  return text;
}

std::string WarcDate(WallTime time) {
  std::string text = CivilText(time, "-", ":");
  text += '.';
  AppendDigits(NanosecondsOf(time) / 1'000, 100'000, &text);
  text += 'Z';
  return text;
}

}  // namespace nephila::store
