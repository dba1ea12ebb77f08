// MimeType: what a Content-Type header says.
//
// The parser, serialiser and groups of the MIME Sniffing standard (s4), and how
// Fetch (s2.2.2) combines several headers: the last valid one counts, the
// charset of an earlier one of the same essence is kept.
//   In: header values, bytes as they came   Threads: any
//   Cost: linear but for the parameters, of which only kMostParameters are kept
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nephila::parse {

// What is beyond is dropped: pages use one or two.
inline constexpr size_t kMostParameters = 64;

struct MimeType {
  std::string type;     // lower case
  std::string subtype;  // lower case
  // Names in lower case, each once, in the order of the header.
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string Essence() const { return type + "/" + subtype; }
  bool Is(std::string_view essence) const;
  // Nothing if there is no such parameter; it may be there and empty only
  // if it was quoted.
  std::optional<std::string_view> Parameter(std::string_view name) const;
  // The charset parameter; empty: none.
  std::string_view Charset() const {
    return Parameter("charset").value_or(std::string_view());
  }
  std::string Serialize() const;

  // The groups of s4.6.
  bool IsImage() const { return type == "image"; }
  bool IsAudioOrVideo() const;
  bool IsFont() const;
  bool IsZipBased() const;
  bool IsArchive() const;
  bool IsXml() const;
  bool IsHtml() const { return Is("text/html"); }
  bool IsScriptable() const;
  bool IsJavaScript() const;
  bool IsJson() const;
};

// Nothing if it is none.
std::optional<MimeType> ParseMimeType(std::string_view text);

// The type of a response from its Content-Type headers, in their order.
std::optional<MimeType> ExtractMimeType(
    std::span<const std::string_view> headers);

}  // namespace nephila::parse
