#include "store/cdxj.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/text.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

constexpr size_t kTimestampDigits = 14;

// JSON in ASCII: a terminal, a sort and a grep see the same bytes. What is not
// UTF-8 becomes U+FFFD, since JSON cannot hold it.
void AppendString(std::string_view text, std::string* out) {
  using Json = nlohmann::json;
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
  });
  if (plain) {
    out->append("\"").append(text).append("\"");
  } else {
    out->append(Json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                Json::error_handler_t::replace));
  }
}

void AppendMember(std::string_view name, std::string_view value,
                  std::string* out) {
  out->append(out->ends_with('{') ? "" : ", ");
  AppendString(name, out);
  out->append(": ");
  AppendString(value, out);
}

void AppendIfAny(std::string_view name, const std::string& value,
                 std::string* out) {
  if (!value.empty()) AppendMember(name, value, out);
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// False if the value does not fit the name.
bool TakeMember(const std::string& name, std::string value, CdxjLine* line) {
  if (name == "url") {
    line->url = std::move(value);
  } else if (name == "mime") {
    line->mime = std::move(value);
  } else if (name == "status") {
    line->status = std::move(value);
  } else if (name == "digest") {
    line->digest = std::move(value);
  } else if (name == "filename") {
    line->filename = std::move(value);
  } else if (name == "length" || name == "offset") {
    auto number = Number(value);
    // "-" stands for unknown in what was made from CDX.
    if (!number && value != "-" && !value.empty()) return false;
    (name == "length" ? line->length : line->offset) = number;
  } else {
    line->others.emplace_back(name, std::move(value));
  }
  return true;
}

}  // namespace

std::string_view CdxjErrorText(CdxjError error) {
  switch (error) {
    case CdxjError::kNoFields:
      return "not a key, a timestamp and an object";
    case CdxjError::kTimestamp:
      return "the timestamp is not 14 digits";
    case CdxjError::kJson:
      return "no JSON object as an index has it";
    case CdxjError::kTooLong:
      return "the line is longer than the limit";
  }
  return "";
}

std::string FormatCdxj(const CdxjLine& line) {
  std::string out = line.key + ' ' + line.timestamp + " {";
  AppendIfAny("url", line.url, &out);
  AppendIfAny("mime", line.mime, &out);
  AppendIfAny("status", line.status, &out);
  AppendIfAny("digest", line.digest, &out);
  if (line.length) AppendMember("length", std::to_string(*line.length), &out);
  if (line.offset) AppendMember("offset", std::to_string(*line.offset), &out);
  AppendIfAny("filename", line.filename, &out);
  for (const auto& [name, value] : line.others) {
    AppendMember(name, value, &out);
  }
  out += '}';
  return out;
}

Result<CdxjLine, CdxjError> ParseCdxj(std::string_view text) {
  if (text.size() > kLongestCdxjLine) return Unexpected(CdxjError::kTooLong);
  size_t first = text.find(' ');
  size_t second =
      first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (first == 0 || second == std::string_view::npos) {
    return Unexpected(CdxjError::kNoFields);
  }
  CdxjLine line;
  line.key = text.substr(0, first);
  line.timestamp = text.substr(first + 1, second - first - 1);
  if (line.timestamp.size() != kTimestampDigits ||
      line.timestamp.find_first_not_of("0123456789") != std::string::npos) {
    return Unexpected(CdxjError::kTimestamp);
  }
  // Arrays and objects may stand in it, but none of use: a bound on their depth
  // keeps the parser's own stack small.
  auto too_deep = [](int depth, nlohmann::json::parse_event_t,
                     nlohmann::json&) { return depth < 16; };
  auto json = nlohmann::json::parse(text.substr(second + 1), too_deep,
                                    /*allow_exceptions=*/false);
  if (!json.is_object()) return Unexpected(CdxjError::kJson);
  for (const auto& [name, value] : json.items()) {
    std::string plain =
        value.is_string()
            ? value.get<std::string>()
            : value.dump(-1, ' ', true,
                         nlohmann::json::error_handler_t::replace);
    if (!TakeMember(name, std::move(plain), &line)) {
      return Unexpected(CdxjError::kJson);
    }
  }
  return line;
}

bool IsCdxjHeader(std::string_view text) {
  return text.starts_with(' ') || text.starts_with('!');
}

std::string CdxjDigest(std::string_view warc_digest) {
  constexpr std::string_view kSha1 = "sha1:";
  if (EqualsIgnoreCase(warc_digest.substr(0, kSha1.size()), kSha1)) {
    warc_digest.remove_prefix(kSha1.size());
  }
  return std::string(warc_digest);
}

}  // namespace nephila::store
