#include "store/log_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"

namespace nephila::store {
namespace {

constexpr size_t kColumns = 12;
constexpr size_t kTimestampDigits = 17;

bool AreDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

// Columns two and three are filled with spaces from the left.
bool Split(std::string_view line, std::array<std::string_view, kColumns>* out) {
  for (size_t i = 0; i < kColumns; ++i) {
    size_t spaces = 0;
    while (spaces < line.size() && line[spaces] == ' ') ++spaces;
    const bool may_be_filled = i == 1 || i == 2;
    if (i == 0 ? spaces != 0 : spaces == 0) return false;
    if (spaces > 1 && !may_be_filled) return false;
    line.remove_prefix(spaces);
    const size_t end = std::min(line.find(' '), line.size());
    if (end == 0) return false;
    (*out)[i] = line.substr(0, end);
    line.remove_prefix(end);
  }
  return line.empty();
}

bool IsTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == 'd' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<LogLine> ParseLogLine(std::string_view line) {
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7F; };
  std::array<std::string_view, kColumns> columns;
  if (!std::ranges::all_of(line, is_plain) || !Split(line, &columns) ||
      !IsTime(columns[0])) {
    return std::nullopt;
  }
  LogLine read;
  read.made = columns[0];
  const std::string_view status = columns[1];
  const char* const end = status.data() + status.size();
  const auto [ptr, error] = std::from_chars(status.data(), end, read.status);
  if (error != std::errc() || ptr != end) return std::nullopt;
  if (columns[2] != "-") {
    if (!AreDigits(columns[2])) return std::nullopt;
    uint64_t bytes = 0;
    std::from_chars(columns[2].data(), columns[2].data() + columns[2].size(),
                    bytes);
    read.bytes = bytes;
  }
  read.url = columns[3];
  read.hop_path = columns[4];
  read.via = columns[5];
  read.media_type = columns[6];
  const std::string_view thread = columns[7];
  if (!thread.starts_with('#') || !AreDigits(thread.substr(1))) {
    return std::nullopt;
  }
  read.begin = columns[8];
  if (read.begin != "-") {
    const size_t plus = read.begin.find('+');
    if (plus != kTimestampDigits || !AreDigits(read.begin.substr(0, plus)) ||
        !AreDigits(read.begin.substr(plus + 1))) {
      return std::nullopt;
    }
    read.millis = read.begin.substr(plus + 1);
    read.begin = read.begin.substr(0, plus);
  }
  read.digest = columns[9];
  read.notes = columns[11];
  return read;
}

namespace {

// False from `take` ends it.
template <typename Take>
void ForEachNote(std::string_view notes, const Take& take) {
  while (!notes.empty()) {
    const size_t end = std::min(notes.find(','), notes.size());
    if (!take(notes.substr(0, end))) return;
    notes.remove_prefix(std::min(end + 1, notes.size()));
  }
}

}  // namespace

bool HasNote(const LogLine& line, std::string_view note) {
  bool has = false;
  ForEachNote(line.notes, [&](std::string_view one) {
    has = one == note;
    return !has;
  });
  return has;
}

uint32_t AttemptOf(const LogLine& line) {
  uint32_t attempt = 1;
  // "2t".
  ForEachNote(line.notes, [&](std::string_view one) {
    if (!one.ends_with('t') || !AreDigits(one.substr(0, one.size() - 1))) {
      return true;
    }
    const auto [ptr, error] =
        std::from_chars(one.data(), one.data() + one.size() - 1, attempt);
    return error != std::errc() || attempt == 0;
  });
  return std::max<uint32_t>(attempt, 1);
}

std::string LogColumn(std::string_view text) {
  if (text.empty()) return "-";
  std::string column;
  column.reserve(text.size());
  for (const char c : text) {
    if (c > ' ' && c < 0x7F) {
      column += c;
    } else {
      column += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return column;
}

}  // namespace nephila::store
