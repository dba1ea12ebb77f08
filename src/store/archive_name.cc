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

struct CivilTime {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::nanoseconds> time;
};

CivilTime CivilOf(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day),
          std::chrono::hh_mm_ss<std::chrono::nanoseconds>(time - day)};
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
  const CivilTime civil = CivilOf(time);
  const auto millis =
      std::chrono::floor<std::chrono::milliseconds>(civil.time.subseconds());
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}{:03}",
                     static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()),
                     static_cast<unsigned>(civil.date.day()),
                     civil.time.hours().count(), civil.time.minutes().count(),
                     civil.time.seconds().count(), millis.count());
}

std::string WarcDate(WallTime time) {
  const CivilTime civil = CivilOf(time);
  const auto micros =
      std::chrono::floor<std::chrono::microseconds>(civil.time.subseconds());
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                     static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()),
                     static_cast<unsigned>(civil.date.day()),
                     civil.time.hours().count(), civil.time.minutes().count(),
                     civil.time.seconds().count(), micros.count());
}

}  // namespace nephila::store
