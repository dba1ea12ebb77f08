// Text helpers: what people write in settings and what they get to read.
//
// ParseX(FormatX(x)) == x for every size and every duration. Errors name the
// text and say what would have been right. Bounded by the length of their
// input; input is a setting, an argument or something to be shown, and may be
// anything. Threads: any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nephila {

// The text with every byte written as \xNN that could steer a terminal or
// break a line: C0 and C1 controls, DEL, line and paragraph separators, marks
// that turn the direction of writing, and all that is not UTF-8. Backslashes
// stay, so escaping twice does no harm. The result is valid UTF-8.
std::string EscapeForTerminal(std::string_view text);

// Whether all of it is UTF-8: no overlong forms, no surrogates, nothing beyond
// U+10FFFF.
bool IsUtf8(std::string_view text);

// With A to Z made small, and nothing else.
std::string LowerAscii(std::string_view text);

// "2MiB", "1.5 GB", "4096". Decimal: kB MB GB TB; binary: KiB MiB GiB TiB, and
// K M G T alone mean the binary ones, as in other crawlers' settings. A bare
// number is bytes. Case does not matter. A fraction is rounded down to whole
// bytes, but never to nothing.
Result<uint64_t> ParseSize(std::string_view text);

// The same, where the error is only the reason (a constant of one line), for
// callers who name the text themselves.
Result<uint64_t, std::string_view> ReadSize(std::string_view text);

// The shortest exact form, "1.5GiB", "1MB" or "1234567B".
std::string FormatSize(uint64_t bytes);

// Rounded, for progress lines: "512 B", "1.2 MiB".
std::string HumanSize(uint64_t bytes);

// "10s", "1h30m", "1.5s", "-2ms". Units: d h m (or min) s ms us ns, each at
// most once, the larger first. A number without a unit is refused: half of the
// world would mean seconds and the other half milliseconds.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// The same, where the error is only the reason.
Result<std::chrono::nanoseconds, std::string_view> ReadDuration(
    std::string_view text);

// The shortest exact form with the largest units first: "40s", "1h30m",
// "1m0.5s", "1.5ms", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

// Rounded, for progress lines: "85 ns", "1.2 ms", "12.3 s", and from one minute
// on the two largest units: "4m 5s", "3h 0m", "12d 7h".
std::string HumanDuration(std::chrono::nanoseconds duration);

// Insertions, deletions and replacements that turn one text into the other, or
// limit + 1 if it takes more than `limit`. At most |a| * |b| steps.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// The candidate that was probably meant, or an empty view if none is near. Case
// does not matter. The earlier of two that are equally near.
std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates);

}  // namespace nephila
