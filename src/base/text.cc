#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace nephila {
namespace {

using Wide = unsigned __int128;
using std::chrono::nanoseconds;

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

// A character of UTF-8; size 0 if the bytes are none.
struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;
};

// Reads the character that `text` begins with. REQUIRES: text is not empty.
CodePoint FirstCodePoint(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xC2   ? 0
                      : lead < 0xE0 ? 2
                      : lead < 0xF0 ? 3
                      : lead < 0xF5 ? 4
                                    : 0;
  if (size == 0 || text.size() < size) return {};
  uint32_t value = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) ||
                        (size == 4 && (value < 0x10000 || value > 0x10FFFF));
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate) return {};
  return {value, size};
}

bool CanSteerTerminal(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E ||
         c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

void AppendEscaped(std::string& out, std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  }
}

// A number as people write it: whole + fraction / scale.
struct Decimal {
  Wide whole = 0;  // below 2^74
  uint64_t fraction = 0;
  uint64_t scale = 1;  // a power of ten, at most 10^18

  bool IsZero() const { return whole == 0 && fraction == 0; }
};

void SkipSpaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

// Takes digits from the front of `text`; nullopt if there are none, or more
// than 18 after the point. What is far too large stays too large.
std::optional<Decimal> TakeDecimal(std::string_view& text) {
  Decimal number;
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  while (!text.empty() && IsDigit(text.front())) {
    const auto digit = static_cast<unsigned>(text.front() - '0');
    if (number.whole >> 70 == 0) number.whole = number.whole * 10 + digit;
    text.remove_prefix(1);
  }
  if (text.empty() || text.front() != '.') return number;
  text.remove_prefix(1);
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  while (!text.empty() && IsDigit(text.front())) {
    if (number.scale > 100'000'000'000'000'000) return std::nullopt;
    number.fraction =
        number.fraction * 10 + static_cast<uint64_t>(text.front() - '0');
    number.scale *= 10;
    text.remove_prefix(1);
  }
  return number;
}

// Takes letters from the front of `text`.
std::string_view TakeWord(std::string_view& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  const auto size = static_cast<size_t>(end - text.begin());
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

Unexpected<Error> Refuse(std::string_view what, std::string_view text,
                         std::string_view why) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            fmt::format("{} \"{}\": {}", what, EscapeForTerminal(text), why)});
}

struct Unit {
  std::string_view name;
  uint64_t size;
};

// The order is that in which FormatSize prefers them.
constexpr Unit kSizeUnits[] = {
    {"TiB", uint64_t{1} << 40},
    {"GiB", uint64_t{1} << 30},
    {"MiB", uint64_t{1} << 20},
    {"KiB", uint64_t{1} << 10},
    {"TB", 1'000'000'000'000},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"kB", 1'000},
    {"B", 1},
};

constexpr Unit kHumanSizeUnits[] = {
    {"KiB", uint64_t{1} << 10}, {"MiB", uint64_t{1} << 20},
    {"GiB", uint64_t{1} << 30}, {"TiB", uint64_t{1} << 40},
    {"PiB", uint64_t{1} << 50}, {"EiB", uint64_t{1} << 60},
};

constexpr Unit kShortSizeUnits[] = {
    {"T", uint64_t{1} << 40},
    {"G", uint64_t{1} << 30},
    {"M", uint64_t{1} << 20},
    {"K", uint64_t{1} << 10},
};

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

constexpr Unit kDurationUnits[] = {
    {"d", kDay},    {"h", kHour},      {"m", kMinute}, {"min", kMinute},
    {"s", kSecond}, {"ms", 1'000'000}, {"us", 1'000},  {"ns", 1},
};

// The unit's size in bytes, or 0.
uint64_t SizeUnit(std::string_view name) {
  for (const Unit& unit : kSizeUnits) {
    if (EqualsIgnoreCase(name, unit.name)) return unit.size;
  }
  for (const Unit& unit : kShortSizeUnits) {
    if (EqualsIgnoreCase(name, unit.name)) return unit.size;
  }
  return 0;
}

// The unit's length in nanoseconds, or 0.
uint64_t DurationUnit(std::string_view name) {
  for (const Unit& unit : kDurationUnits) {
    if (name == unit.name) return unit.size;
  }
  return 0;
}

// Takes "1.5h" from the front of `rest` and adds it to `total`, or says why
// not. `last_unit` is that of the part before; as units get smaller there are
// few parts, and `total` cannot overflow.
std::string_view TakeDurationPart(std::string_view& rest, uint64_t& last_unit,
                                  Wide& total) {
  const std::optional<Decimal> number = TakeDecimal(rest);
  if (!number) return "not a number; write a duration like 10s or 1h30m";
  SkipSpaces(rest);
  const std::string_view unit_name = TakeWord(rest);
  if (unit_name.empty()) {
    return "the unit is missing; use d, h, m, s, ms, us or ns";
  }
  const uint64_t unit = DurationUnit(unit_name);
  if (unit == 0) return "unknown unit; use d, h, m, s, ms, us or ns";
  if (unit >= last_unit) return "each unit once, the larger before the smaller";
  last_unit = unit;
  const Wide part = static_cast<Wide>(number->fraction) * unit;
  if (part % number->scale != 0) return "finer than a nanosecond";
  total += number->whole * unit + part / number->scale;
  SkipSpaces(rest);
  return {};
}

// To the nearest, half upwards.
uint64_t RoundedRatio(Wide amount, uint64_t unit) {
  return static_cast<uint64_t>((amount + unit / 2) / unit);
}

// "1.2 MiB" of 12 tenths.
std::string Tenths(uint64_t tenths, std::string_view unit) {
  return fmt::format("{}.{} {}", tenths / 10, tenths % 10, unit);
}

// `amount` / `unit` with as many decimals as it takes, at most `digits`.
// REQUIRES: amount is a multiple of unit / 10^digits.
std::string FormatDecimal(uint64_t amount, uint64_t unit, int digits) {
  std::string text = std::to_string(amount / unit);
  uint64_t rest = amount % unit;
  if (rest > 0) text += '.';
  for (int i = 0; i < digits && rest > 0; ++i) {
    rest *= 10;
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return text;
}

}  // namespace

std::string EscapeForTerminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = FirstCodePoint(text);
    const size_t size = std::max<size_t>(c.size, 1);
    if (c.size == 0 || CanSteerTerminal(c.value)) {
      AppendEscaped(out, text.substr(0, size));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = FirstCodePoint(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

Result<uint64_t> ParseSize(std::string_view text) {
  const auto size = ReadSize(text);
  if (!size.has_value()) return Refuse("size", text, size.error());
  return *size;
}

Result<uint64_t, std::string_view> ReadSize(std::string_view text) {
  const auto refuse = [](std::string_view why) { return Unexpected(why); };
  std::string_view rest = text;
  SkipSpaces(rest);
  if (rest.starts_with('-')) return refuse("a size is never negative");
  const std::optional<Decimal> number = TakeDecimal(rest);
  if (!number) return refuse("not a number; write a size like 2MiB");
  SkipSpaces(rest);
  const std::string_view unit_name = TakeWord(rest);
  const uint64_t unit = unit_name.empty() ? 1 : SizeUnit(unit_name);
  SkipSpaces(rest);
  if (unit == 0 || !rest.empty()) {
    return refuse("unknown unit; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB");
  }
  if (unit == 1 && number->fraction > 0) {
    return refuse("not whole bytes; did you forget the unit?");
  }
  const Wide bytes = number->whole * unit +
                     static_cast<Wide>(number->fraction) * unit / number->scale;
  if (bytes > kMax) return refuse("too large");
  if (bytes == 0 && !number->IsZero()) return refuse("less than one byte");
  return static_cast<uint64_t>(bytes);
}

std::string FormatSize(uint64_t bytes) {
  std::string best = std::to_string(bytes) + "B";
  for (const Unit& unit : kSizeUnits) {
    // Three decimals at most, or hardly anyone could read it.
    const bool exact = bytes % unit.size * 1000 % unit.size == 0;
    if (bytes < unit.size || !exact) continue;
    std::string text = FormatDecimal(bytes, unit.size, 3);
    text += unit.name;
    if (text.size() < best.size()) best = std::move(text);
  }
  return best;
}

std::string HumanSize(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  for (const Unit& unit : kHumanSizeUnits) {
    const uint64_t tenths = RoundedRatio(Wide{bytes} * 10, unit.size);
    // Rounded up to the next unit: "1.0 MiB", not "1024.0 KiB".
    if (tenths >= 10240 && unit.size < uint64_t{1} << 60) continue;
    return Tenths(tenths, unit.name);
  }
  return {};
}

Result<nanoseconds> ParseDuration(std::string_view text) {
  const auto duration = ReadDuration(text);
  if (!duration.has_value()) return Refuse("duration", text, duration.error());
  return *duration;
}

Result<nanoseconds, std::string_view> ReadDuration(std::string_view text) {
  std::string_view rest = text;
  SkipSpaces(rest);
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  Wide total = 0;
  uint64_t last_unit = kMax;
  do {
    const std::string_view why = TakeDurationPart(rest, last_unit, total);
    if (!why.empty()) return Unexpected(why);
  } while (!rest.empty());

  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (total > kLimit - (negative ? 0 : 1)) {
    return Unexpected(std::string_view("too long; the limit is 292 years"));
  }
  const auto magnitude = static_cast<uint64_t>(total);
  return nanoseconds(
      static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
}

std::string FormatDuration(nanoseconds duration) {
  auto rest = static_cast<uint64_t>(duration.count());
  if (rest == 0) return "0s";
  std::string text;
  if (duration.count() < 0) {
    text = "-";
    rest = 0 - rest;
  }
  if (rest < 1'000) return text + std::to_string(rest) + "ns";
  if (rest < 1'000'000) return text + FormatDecimal(rest, 1'000, 3) + "us";
  if (rest < kSecond) return text + FormatDecimal(rest, 1'000'000, 6) + "ms";
  for (const Unit& unit :
       {kDurationUnits[0], kDurationUnits[1], kDurationUnits[2]}) {
    if (rest < unit.size) continue;
    text += std::to_string(rest / unit.size);
    text += unit.name;
    rest %= unit.size;
  }
  if (rest > 0) text += FormatDecimal(rest, kSecond, 9) + "s";
  return text;
}

std::string HumanDuration(nanoseconds duration) {
  if (duration.count() < 0) {
    // The least has no positive twin; its neighbour looks the same.
    return "-" + HumanDuration(-std::max(duration, -nanoseconds::max()));
  }
  const auto ns = static_cast<uint64_t>(duration.count());
  if (ns == 0) return "0 s";
  if (ns < 1000) return std::to_string(ns) + " ns";
  for (const Unit& unit : {kDurationUnits[6], kDurationUnits[5]}) {
    const uint64_t tenths = RoundedRatio(Wide{ns} * 10, unit.size);
    if (tenths < 10000) return Tenths(tenths, unit.name);
  }
  const uint64_t tenths = RoundedRatio(Wide{ns} * 10, kSecond);
  if (tenths < 600) return Tenths(tenths, "s");
  const auto two = [&](uint64_t small_unit, uint64_t per_large,
                       std::string_view large, std::string_view small) {
    const uint64_t count = RoundedRatio(ns, small_unit);
    return fmt::format("{}{} {}{}", count / per_large, large, count % per_large,
                       small);
  };
  // By what the rounding makes of it: 59m 59.9s is an hour.
  if (RoundedRatio(ns, kSecond) < 3600) return two(kSecond, 60, "m", "s");
  constexpr uint64_t kMinutesPerDay = 1440;
  if (RoundedRatio(ns, kMinute) < kMinutesPerDay) {
    return two(kMinute, 60, "h", "m");
  }
  return two(kHour, 24, "d", "h");
}

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > limit) return limit + 1;
  // row[j] is the distance between the part of `a` read so far and b[0, j).
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    size_t nearest = row[0];
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
      nearest = std::min(nearest, row[j + 1]);
    }
    // Later rows never come nearer than the nearest of this one.
    if (nearest > limit) return limit + 1;
  }
  return std::min(row.back(), limit + 1);
}

std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates) {
  // One slip in a short word, at most three in a long one: beyond that a
  // suggestion is a guess.
  size_t limit = std::clamp<size_t>(name.size() / 3, 1, 3);
  const std::string lower = LowerAscii(name);
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(lower, LowerAscii(candidate), limit);
    if (distance > limit) continue;
    best = candidate;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return best;
}

}  // namespace nephila
