#include "config/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace nephila::config {
namespace {

constexpr size_t kMaxShown = 200;  // bytes of a user's text in a message

// The alternative that belongs to the row's type.
template <typename T>
const T& Get(const Value& value) {
  const T* held = std::get_if<T>(&value);
  NEPHILA_CHECK(held != nullptr);
  return *held;
}

std::string Join(std::span<const std::string_view> items) {
  std::string joined;
  for (std::string_view item : items) {
    if (!joined.empty()) joined += ", ";
    joined += item;
  }
  return joined;
}

bool IsControl(char c) { return static_cast<uint8_t>(c) < 0x20 || c == '\x7f'; }

// A TOML basic string.
std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (IsControl(c)) {
      quoted += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

// A limit as the user would write it.
std::string FormatLimit(const Row& row, int64_t limit) {
  switch (row.type) {
    case Type::kSize:
      return FormatSize(static_cast<uint64_t>(std::max<int64_t>(limit, 0)));
    case Type::kDuration:
      return FormatDuration(std::chrono::nanoseconds(limit));
    default:
      return std::to_string(limit);
  }
}

std::string RangeText(const Row& row) {
  const bool lower = row.limits.min != Any().min;
  const bool upper = row.limits.max != Any().max;
  if (lower && upper) {
    return FormatLimit(row, row.limits.min) + " to " +
           FormatLimit(row, row.limits.max);
  }
  if (lower) return "at least " + FormatLimit(row, row.limits.min);
  if (upper) return "at most " + FormatLimit(row, row.limits.max);
  return "";
}

std::string AllowedSuffix(const Row& row) {
  const std::string range = RangeText(row);
  return range.empty() ? "" : " (allowed " + range + ")";
}

Error NotExpected(const Row& row, std::string_view text) {
  return SettingError(row.name, "'" + Printable(text) + "' is not " +
                                    Expected(row) + AllowedSuffix(row));
}

// The same for a text that is nearly right: with the reason.
Error NotExpected(const Row& row, std::string_view text, std::string_view why) {
  return SettingError(row.name,
                      fmt::format("'{}' is not a {}: {}{}", Printable(text),
                                  TypeText(row), why, AllowedSuffix(row)));
}

// Why TOML, or a path, could not hold `text`; "" if both can.
std::string_view TextProblem(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return "holds a NUL byte";
  if (!IsUtf8(text)) return "is not UTF-8";
  return "";
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

Result<Value> ParseList(const Row& row, std::string_view text) {
  std::vector<std::string> items;
  if (Trim(text).empty()) return Value(std::move(items));
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view item = Trim(text.substr(0, comma));
    if (item.empty()) {
      return Unexpected(SettingError(
          row.name, "item " + std::to_string(items.size() + 1) +
                        " of the list is empty (items are separated by one "
                        "comma, or written as [\"a\", \"b\"])"));
    }
    items.emplace_back(item);
    if (comma == std::string_view::npos) return Value(std::move(items));
    text.remove_prefix(comma + 1);
  }
}

// ParseValue without the check of limits.
Result<Value> ReadValue(const Row& row, std::string_view text) {
  switch (row.type) {
    case Type::kBool:
      if (text == "true") return Value(true);
      if (text == "false") return Value(false);
      break;
    case Type::kInteger:
      if (auto number = ParseInteger(text)) return Value(*number);
      break;
    case Type::kSize: {
      const auto size = ReadSize(text);
      if (size.has_value()) return Value(*size);
      return Unexpected(NotExpected(row, text, size.error()));
    }
    case Type::kDuration: {
      const auto duration = ReadDuration(text);
      if (duration.has_value()) return Value(*duration);
      return Unexpected(NotExpected(row, text, duration.error()));
    }
    case Type::kString:
      return Value(std::string(text));
    case Type::kStringList:
      return ParseList(row, text);
    case Type::kChoice: {
      const auto found =
          std::find(row.choices.begin(), row.choices.end(), text);
      if (found == row.choices.end()) break;
      return Value(Choice{static_cast<size_t>(found - row.choices.begin())});
    }
  }
  return Unexpected(NotExpected(row, text));
}

// Whether `longer` is `text` and then another word: "max_length_bytes" goes on
// after "max_length", "max_lengths" does not.
bool GoesOn(std::string_view longer, std::string_view text) {
  return longer.size() > text.size() && longer.starts_with(text) &&
         (longer[text.size()] == '_' || longer[text.size()] == '.');
}

// The index of the candidate that `name` goes on after, the longest one, or of
// the only one that goes on after `name`.
std::optional<size_t> PrefixMatch(
    std::string_view name, std::span<const std::string_view> candidates) {
  std::optional<size_t> said;
  std::optional<size_t> begun;
  size_t begun_count = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string_view candidate = candidates[i];
    if (GoesOn(name, candidate) &&
        (!said || candidate.size() > candidates[*said].size())) {
      said = i;
    }
    if (!GoesOn(candidate, name)) continue;
    begun = i;
    ++begun_count;
  }
  if (said) return said;
  return begun_count == 1 ? begun : std::nullopt;
}

// The setting that someone who wrote `name` probably meant, or "": misspelt,
// under no section or another one, with a word too many or too few.
std::string_view MeantName(std::span<const Row> rows, std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> keys;
  for (const Row& row : rows) {
    names.push_back(row.name);
    keys.push_back(KeyOf(row.name));
  }
  if (const auto nearest = NearestName(name, names); !nearest.empty()) {
    return nearest;
  }
  const std::string lower = LowerAscii(name);
  const std::string_view key = KeyOf(lower);
  if (const auto match = PrefixMatch(lower, names)) return names[*match];
  const auto nearest = NearestName(key, keys);
  if (!nearest.empty()) {
    // The view is one of `keys`: the place says which.
    const auto same = [&](std::string_view other) {
      return other.data() == nearest.data();
    };
    const auto found = std::find_if(keys.begin(), keys.end(), same);
    return names[static_cast<size_t>(found - keys.begin())];
  }
  const auto match = PrefixMatch(key, keys);
  return match ? names[*match] : std::string_view();
}

bool WithinLimits(const Row& row, const Value& value) {
  if (const auto* size = std::get_if<uint64_t>(&value)) {
    return std::cmp_greater_equal(*size, row.limits.min) &&
           std::cmp_less_equal(*size, row.limits.max);
  }
  int64_t number = 0;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    number = *integer;
  } else if (const auto* time = std::get_if<std::chrono::nanoseconds>(&value)) {
    number = time->count();
  } else {
    return true;
  }
  return row.limits.min <= number && number <= row.limits.max;
}

}  // namespace

std::string_view SectionOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : name.substr(0, dot);
}

std::string_view KeyOf(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

const Row* FindRow(std::span<const Row> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(),
                   [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

Error NoSuchSetting(std::span<const Row> rows, std::string_view name) {
  std::string what = "no such setting";
  // Nothing so long is a misspelling, and the search is quadratic.
  if (!name.empty() && name.size() <= kMaxShown) {
    const std::string_view meant = MeantName(rows, name);
    if (!meant.empty()) what += fmt::format("; did you mean {}?", meant);
  }
  return SettingError(name, what);
}

std::string Expected(const Row& row) {
  switch (row.type) {
    case Type::kBool:
      return "true or false";
    case Type::kInteger:
      return "an integer";
    case Type::kSize:
      return "a size such as 2KiB";
    case Type::kDuration:
      return "a duration such as 10s";
    case Type::kString:
      return "a string";
    case Type::kStringList:
      return "a list of strings";
    case Type::kChoice:
      return "one of " + Join(row.choices);
  }
  NEPHILA_CHECK(false);
}

std::string TypeText(const Row& row) {
  switch (row.type) {
    case Type::kBool:
      return "true or false";
    case Type::kInteger:
      return "integer";
    case Type::kSize:
      return "size";
    case Type::kDuration:
      return "duration";
    case Type::kString:
      return "string";
    case Type::kStringList:
      return "list of strings";
    case Type::kChoice:
      return "choice";
  }
  NEPHILA_CHECK(false);
}

std::string AllowedText(const Row& row) {
  return row.type == Type::kChoice ? Join(row.choices) : RangeText(row);
}

std::string Facts(const Row& row) {
  std::string facts = TypeText(row);
  if (row.type == Type::kChoice) {
    facts = Expected(row);
  } else if (const std::string range = RangeText(row); !range.empty()) {
    facts += ", " + range;
  }
  facts += "; default " + FormatTomlValue(row, row.default_value);
  if (row.change == Change::kFixedPerJob) facts += "; fixed per job";
  return facts;
}

std::string FormatValue(const Row& row, const Value& value) {
  switch (row.type) {
    case Type::kBool:
      return Get<bool>(value) ? "true" : "false";
    case Type::kInteger:
      return std::to_string(Get<int64_t>(value));
    case Type::kSize:
      return FormatSize(Get<uint64_t>(value));
    case Type::kDuration:
      return FormatDuration(Get<std::chrono::nanoseconds>(value));
    case Type::kString:
      return Get<std::string>(value);
    case Type::kStringList: {
      const auto& items = Get<std::vector<std::string>>(value);
      return Join(std::vector<std::string_view>(items.begin(), items.end()));
    }
    case Type::kChoice:
      NEPHILA_CHECK(Get<Choice>(value).index < row.choices.size());
      return std::string(row.choices[Get<Choice>(value).index]);
  }
  NEPHILA_CHECK(false);
}

std::string FormatTomlValue(const Row& row, const Value& value) {
  switch (row.type) {
    case Type::kBool:
    case Type::kInteger:
      return FormatValue(row, value);
    case Type::kSize:
    case Type::kDuration:
    case Type::kString:
    case Type::kChoice:
      return TomlString(FormatValue(row, value));
    case Type::kStringList: {
      std::vector<std::string> quoted;
      for (const auto& item : Get<std::vector<std::string>>(value)) {
        quoted.push_back(TomlString(item));
      }
      return "[" +
             Join(std::vector<std::string_view>(quoted.begin(), quoted.end())) +
             "]";
    }
  }
  NEPHILA_CHECK(false);
}

Result<Value> ParseValue(const Row& row, std::string_view text) {
  NEPHILA_TRY(Value value, ReadValue(row, text));
  return CheckValue(row, std::move(value));
}

Result<Value> CheckValue(const Row& row, Value value) {
  if (!WithinLimits(row, value)) {
    return Unexpected(SettingError(
        row.name,
        FormatValue(row, value) + " is out of range" + AllowedSuffix(row)));
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::string_view problem = TextProblem(*text);
    if (!problem.empty()) {
      return Unexpected(SettingError(
          row.name, "'" + Printable(*text) + "' " + std::string(problem)));
    }
  }
  if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *items) {
      const std::string_view problem = TextProblem(item);
      if (problem.empty()) continue;
      return Unexpected(SettingError(
          row.name, "'" + Printable(item) + "' " + std::string(problem)));
    }
  }
  return value;
}

Error SettingError(std::string_view name, std::string_view what) {
  return Error{ErrorCode::kInvalidArgument,
               Printable(name) + ": " + std::string(what)};
}

std::string Printable(std::string_view text) {
  if (text.size() <= kMaxShown) return EscapeForTerminal(text);
  size_t end = kMaxShown;
  // Not in the middle of a character, which would be shown as bytes.
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return EscapeForTerminal(text.substr(0, end)) + "...";
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string Wrap(std::string_view text, std::string_view prefix, size_t width) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(word.size() + (space == std::string_view::npos ? 0 : 1));
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.clear();
    }
    line += line.empty() ? prefix : " ";
    line += word;
  }
  return line.empty() ? out : out + line + "\n";
}

}  // namespace nephila::config
