// Reads settings from TOML and from --set, and writes them as TOML.
//
// An error is one line that begins with the place: "crawl.toml:7:3: " for a
// file, then "url.max_lenght: no such setting; did you mean url.max_length?".
// Of several it is the first in the file. After an error the settings are as
// they were. What is not named keeps its value, so calls add up: defaults,
// then files, then --set.
//   Text: hostile; bounded by kMaxTomlBytes, never recursed into without bound.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "config/table.h"

namespace nephila::config {

inline constexpr size_t kMaxTomlBytes = size_t{1} << 20;

// Tables, dotted keys and inline tables all name settings. `file_name` is
// only for messages. A table [site."example.org"] says `delay`, `max_pages` or
// `block` of one site, in place of an item of politeness.site_delays,
// scope.site_caps or scope.block. `names`, if not null, gets the names
// of those that are set, in the order of the file.
Status ApplyToml(std::string_view text, std::string_view file_name,
                 Settings* settings,
                 std::vector<std::string_view>* names = nullptr);

// "key=value". A list is separated by commas, or a TOML array; nothing after
// the '=' is the empty list. Space around key and value is dropped.
Status ApplySet(std::string_view assignment, Settings* settings);
// The setting that it names.
Result<const Row*> RowOfSet(std::string_view assignment);

// Every setting with its doc as a comment; loads back to the same settings.
std::string FormatToml(const Settings& settings);

// The same for any table and the struct it was made for.
Status ApplyTomlWith(const Table& table, std::string_view text,
                     std::string_view file_name, void* settings,
                     std::vector<std::string_view>* names = nullptr);
Status ApplySetWith(const Table& table, std::string_view assignment,
                    void* settings);
std::string FormatTomlWith(const Table& table, const void* settings);

}  // namespace nephila::config
