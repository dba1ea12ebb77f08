#include "store/warc_record.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "base/check.h"
#include "base/text.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

constexpr std::array<std::string_view, 9> kTypeNames = {
    "warcinfo", "response",   "resource",     "request", "metadata",
    "revisit",  "conversion", "continuation", "other"};

constexpr std::string_view kMagic = "WARC/";
// "WARC/1.1" and room for spaces and a CR.
constexpr size_t kLongestVersionLine = 32;

bool IsVersion(std::string_view text) {
  size_t dot = text.find('.');
  auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 4 &&
           std::all_of(part.begin(), part.end(), IsDigit);
  };
  return dot != std::string_view::npos && digits(text.substr(0, dot)) &&
         digits(text.substr(dot + 1));
}

// A header without its first line begins only with what a version allows.
Result<std::string_view, HeaderError> TakeVersion(std::string_view* text) {
  std::string_view start = text->substr(0, kMagic.size());
  if (start != kMagic.substr(0, start.size())) {
    return Unexpected(HeaderError::kNoVersion);
  }
  size_t end = text->find('\n');
  if (end == std::string_view::npos && text->size() < kLongestVersionLine) {
    return Unexpected(HeaderError::kIncomplete);
  }
  if (end >= kLongestVersionLine) {
    return Unexpected(HeaderError::kNoVersion);
  }
  std::string_view line = TakeLine(text);
  std::string_view version = line.substr(kMagic.size());
  while (version.ends_with(' ')) version.remove_suffix(1);
  if (!IsVersion(version)) return Unexpected(HeaderError::kNoVersion);
  return version;
}

// The number in `width` digits at the front of *text, which it takes away.
std::optional<int> TakeNumber(std::string_view* text, size_t width) {
  if (text->size() < width) return std::nullopt;
  int value = 0;
  for (char c : text->substr(0, width)) {
    if (!IsDigit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text->remove_prefix(width);
  return value;
}

}  // namespace

std::string_view RecordTypeName(RecordType type) {
  return kTypeNames[static_cast<size_t>(type)];
}

RecordType RecordTypeOf(std::string_view name) {
  for (size_t i = 0; i + 1 < kTypeNames.size(); ++i) {
    if (EqualsIgnoreCase(name, kTypeNames[i]))
      return static_cast<RecordType>(i);
  }
  return RecordType::kOther;
}

std::string_view HeaderErrorText(HeaderError error) {
  switch (error) {
    case HeaderError::kIncomplete:
      return "the header is cut short";
    case HeaderError::kNoVersion:
      return "no WARC version line";
    case HeaderError::kTooLong:
      return "the header is longer than the limit";
    case HeaderError::kTooManyFields:
      return "the header has too many fields";
    case HeaderError::kNotArc:
      return "no header line of an ARC record";
  }
  return "";
}

void WarcHeader::Reset(std::string_view version) {
  version_ = version;
  fields_.clear();
  // About as many as our own records have.
  fields_.reserve(12);
  malformed_lines_ = 0;
}

void WarcHeader::Add(std::string_view name, std::string_view value) {
  NEPHILA_CHECK(IsToken(name));
  WarcField& field = fields_.emplace_back();
  field.name = name;
  field.value = TrimSpace(value);
  for (char& c : field.value) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
      c = ' ';
    }
  }
}

const std::string* WarcHeader::Find(std::string_view name) const {
  for (const WarcField& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::string_view WarcHeader::Get(std::string_view name) const {
  const std::string* value = Find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

std::string_view WarcHeader::GetUri(std::string_view name) const {
  std::string_view value = Get(name);
  if (value.size() >= 2 && value.front() == '<' && value.back() == '>') {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

size_t WarcHeader::Count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(
      fields_.begin(), fields_.end(),
      [&](const auto& field) { return EqualsIgnoreCase(field.name, name); }));
}

std::string WarcHeader::content_type() const {
  std::string_view value = Get("Content-Type");
  return LowerAscii(TrimSpace(value.substr(0, value.find(';'))));
}

std::optional<uint64_t> WarcHeader::content_length() const {
  std::string_view text = Get("Content-Length");
  uint64_t length = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return length;
}

void WarcHeader::AppendTo(std::string& out) const {
  out.append(kMagic).append(version_).append("\r\n");
  for (const WarcField& field : fields_) {
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  out.append("\r\n");
}

Result<size_t, HeaderError> FindWarcHeader(std::string_view text, size_t seen,
                                           size_t max_bytes) {
  std::string_view rest = text;
  NEPHILA_TRY([[maybe_unused]] std::string_view version, TakeVersion(&rest));
  size_t end = FindHeaderEnd(text, seen);
  if (end == std::string_view::npos) {
    return Unexpected(text.size() >= max_bytes ? HeaderError::kTooLong
                                               : HeaderError::kIncomplete);
  }
  if (end > max_bytes) return Unexpected(HeaderError::kTooLong);
  return end;
}

Result<size_t, HeaderError> ParseWarcHeader(std::string_view text,
                                            size_t max_bytes, WarcHeader* out) {
  NEPHILA_TRY(size_t end, FindWarcHeader(text, 0, max_bytes));
  std::string_view rest = text;
  NEPHILA_TRY(std::string_view version, TakeVersion(&rest));
  out->Reset(version);
  rest = rest.substr(0, end - (text.size() - rest.size()));
  bool too_many = false;
  out->malformed_lines_ =
      ForEachField(rest, [&](std::string_view name, std::string value) {
        too_many = out->fields_.size() >= kMostFields;
        if (too_many) return;
        out->fields_.push_back({std::string(name), std::move(value)});
      });
  if (too_many) return Unexpected(HeaderError::kTooManyFields);
  return end;
}

std::optional<std::string> TimestampOf(std::string_view warc_date) {
  // Each part with what stands before it, its least and its greatest value.
  struct Part {
    char before;
    size_t width;
    int least;
    int greatest;
  };
  // 60 seconds: UTC has leap seconds.
  constexpr std::array<Part, 6> kParts = {{{'\0', 4, 0, 9999},
                                           {'-', 2, 1, 12},
                                           {'-', 2, 1, 31},
                                           {'T', 2, 0, 23},
                                           {':', 2, 0, 59},
                                           {':', 2, 0, 60}}};
  std::string timestamp;
  bool ended = false;
  for (const Part& part : kParts) {
    int value = part.least;
    ended = ended || warc_date.empty() || warc_date == "Z";
    if (!ended) {
      if (part.before != '\0') {
        if (warc_date[0] != part.before) return std::nullopt;
        warc_date.remove_prefix(1);
      }
      auto number = TakeNumber(&warc_date, part.width);
      if (!number || *number < part.least || *number > part.greatest) {
        return std::nullopt;
      }
      value = *number;
    } else if (timestamp.empty()) {
      return std::nullopt;
    }
    std::string digits = std::to_string(value);
    timestamp.append(part.width - digits.size(), '0').append(digits);
  }
  if (warc_date.starts_with('.')) {
    warc_date.remove_prefix(1);
    size_t digits =
        std::min(warc_date.find_first_not_of("0123456789"), warc_date.size());
    if (digits == 0) return std::nullopt;
    warc_date.remove_prefix(digits);
  }
  if (!warc_date.empty() && warc_date != "Z") return std::nullopt;
  return timestamp;
}

}  // namespace nephila::store
