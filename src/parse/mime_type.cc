#include "parse/mime_type.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text.h"

namespace nephila::parse {
namespace {

constexpr bool IsHttpSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// What may stand in a quoted string.
constexpr bool IsQuotable(char c) {
  auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

std::string_view TrimHttp(std::string_view text) {
  while (!text.empty() && IsHttpSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsHttpSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Fetch s2.2: reads from the quote at text[*at] to behind the one that closes
// it; the value is without quotes and escapes.
std::string ReadQuoted(std::string_view text, size_t* at) {
  std::string value;
  for (++*at; *at < text.size();) {
    char c = text[(*at)++];
    if (c == '"') break;
    if (c == '\\' && *at < text.size()) c = text[(*at)++];
    value.push_back(c);
  }
  return value;
}

// Reads what stands behind "name=", to the next ';'. Nothing: no value.
std::optional<std::string> ReadValue(std::string_view text, size_t* at) {
  bool quoted = text[*at] == '"';
  std::string value;
  if (quoted) value = ReadQuoted(text, at);
  size_t end = std::min(text.find(';', *at), text.size());
  if (!quoted) {
    std::string_view plain = text.substr(*at, end - *at);
    while (!plain.empty() && IsHttpSpace(plain.back())) plain.remove_suffix(1);
    value = plain;
  }
  *at = end;
  if (!quoted && value.empty()) return std::nullopt;
  return value;
}

void ReadParameters(std::string_view text, MimeType* mime) {
  size_t at = 0;  // of a ';', or the end
  while (at < text.size()) {
    ++at;
    while (at < text.size() && IsHttpSpace(text[at])) ++at;
    size_t end = std::min(text.find_first_of(";=", at), text.size());
    std::string_view name = text.substr(at, end - at);
    at = end;
    if (at == text.size() || text[at] == ';') continue;
    ++at;
    if (at == text.size()) return;
    std::optional<std::string> value = ReadValue(text, &at);
    if (!value || !IsToken(name) ||
        !std::all_of(value->begin(), value->end(), IsQuotable) ||
        mime->parameters.size() == kMostParameters) {
      continue;
    }
    std::string lower = LowerAscii(name);
    if (mime->Parameter(lower)) continue;
    mime->parameters.emplace_back(std::move(lower), *std::move(value));
  }
}

// Fetch s2.2.2, "get, decode, and split": at commas outside of quotes.
std::vector<std::string_view> SplitHeader(std::string_view text) {
  std::vector<std::string_view> values;
  size_t begin = 0;
  size_t at = 0;
  auto trim = [](std::string_view value) {
    auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!value.empty() && blank(value.front())) value.remove_prefix(1);
    while (!value.empty() && blank(value.back())) value.remove_suffix(1);
    return value;
  };
  for (;;) {
    at = std::min(text.find_first_of("\",", at), text.size());
    if (at < text.size() && text[at] == '"') {
      ReadQuoted(text, &at);
      if (at < text.size()) continue;
    }
    values.push_back(trim(text.substr(begin, at - begin)));
    if (at == text.size()) return values;
    begin = ++at;
  }
}

}  // namespace

std::optional<MimeType> ParseMimeType(std::string_view text) {
  text = TrimHttp(text);
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view type = text.substr(0, slash);
  size_t end = std::min(text.find(';', slash), text.size());
  std::string_view subtype = text.substr(slash + 1, end - slash - 1);
  while (!subtype.empty() && IsHttpSpace(subtype.back())) {
    subtype.remove_suffix(1);
  }
  if (!IsToken(type) || !IsToken(subtype)) return std::nullopt;
  MimeType mime;
  mime.type = LowerAscii(type);
  mime.subtype = LowerAscii(subtype);
  ReadParameters(text.substr(end), &mime);
  return mime;
}

std::optional<MimeType> ExtractMimeType(
    std::span<const std::string_view> headers) {
  std::string joined;
  for (size_t i = 0; i < headers.size(); ++i) {
    if (i > 0) joined.append(", ");
    joined.append(headers[i]);
  }
  std::optional<MimeType> mime;
  std::optional<std::string> charset;
  std::string essence;
  for (std::string_view value : SplitHeader(joined)) {
    std::optional<MimeType> next = ParseMimeType(value);
    if (!next || next->Is("*/*")) continue;
    std::optional<std::string_view> named = next->Parameter("charset");
    std::string next_essence = next->Essence();
    if (next_essence != essence) {
      charset.reset();
      if (named) charset = std::string(*named);
      essence = std::move(next_essence);
    } else if (!named && charset) {
      next->parameters.emplace_back("charset", *charset);
    }
    mime = std::move(next);
  }
  return mime;
}

bool MimeType::Is(std::string_view essence) const {
  return essence.size() == type.size() + 1 + subtype.size() &&
         essence.starts_with(type) && essence[type.size()] == '/' &&
         essence.ends_with(subtype);
}

std::optional<std::string_view> MimeType::Parameter(
    std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string MimeType::Serialize() const {
  std::string text = Essence();
  for (const auto& [name, value] : parameters) {
    text.append(";").append(name).append("=");
    if (IsToken(value)) {
      text += value;
      continue;
    }
    text.push_back('"');
    for (char c : value) {
      if (c == '"' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.push_back('"');
  }
  return text;
}

bool MimeType::IsAudioOrVideo() const {
  return type == "audio" || type == "video" || Is("application/ogg");
}

bool MimeType::IsFont() const {
  constexpr std::array<std::string_view, 7> kSubtypes = {
      "font-cff",  "font-off",          "font-sfnt",      "font-ttf",
      "font-woff", "vnd.ms-fontobject", "vnd.ms-opentype"};
  return type == "font" ||
         (type == "application" && std::find(kSubtypes.begin(), kSubtypes.end(),
                                             subtype) != kSubtypes.end());
}

bool MimeType::IsZipBased() const {
  return subtype.ends_with("+zip") || Is("application/zip");
}

bool MimeType::IsArchive() const {
  return Is("application/x-rar-compressed") || Is("application/zip") ||
         Is("application/x-gzip");
}

bool MimeType::IsXml() const {
  return subtype.ends_with("+xml") || Is("text/xml") || Is("application/xml");
}

bool MimeType::IsScriptable() const {
  return IsXml() || IsHtml() || Is("application/pdf");
}

bool MimeType::IsJavaScript() const {
  constexpr std::array<std::string_view, 16> kEssences = {
      "application/ecmascript",
      "application/javascript",
      "application/x-ecmascript",
      "application/x-javascript",
      "text/ecmascript",
      "text/javascript",
      "text/javascript1.0",
      "text/javascript1.1",
      "text/javascript1.2",
      "text/javascript1.3",
      "text/javascript1.4",
      "text/javascript1.5",
      "text/jscript",
      "text/livescript",
      "text/x-ecmascript",
      "text/x-javascript"};
  return std::any_of(kEssences.begin(), kEssences.end(),
                     [this](std::string_view e) { return Is(e); });
}

bool MimeType::IsJson() const {
  return subtype.ends_with("+json") || Is("application/json") ||
         Is("text/json");
}

}  // namespace nephila::parse
