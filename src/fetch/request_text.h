// RequestText: the head of a request, byte for byte as it is sent.
//
// An archive keeps what was asked, so all fields are written here, in the order
// in which libcurl sends them: Host first, then the others as they stand in
// its list. Nothing in it tells one request of a user from another's: no
// Referer, no identifier, cookies only if the caller brings them.
//   In: parts of a URL, values of settings and earlier answers. Values with
//   control characters, which could begin a field of their own, are left out.
//   Threads: one per object.   Cost: two copies of the text, no allocation
//   once its buffers have grown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fetch/curl.h"

namespace nephila::fetch {

// What follows the authority of a URL without its fragment: "/a?b". Nothing
// if it is no URL with an authority, or holds a byte that no target may.
std::optional<std::string_view> RequestTarget(std::string_view url);

// No control characters, so it cannot end its line.
bool IsFieldValue(std::string_view value);

// The fields that all requests share; empty values are left out, and so are
// blanks around them.
struct AgentFields {
  std::string user_agent = "";
  std::string from = "";
  std::string accept = "";
  std::string accept_language = "";
  std::string accept_encoding = "";
};
// As lines with their ends.
std::string FormatAgentFields(const AgentFields& fields);

struct RequestParts {
  std::string_view target = "";
  std::string_view host = "";
  uint16_t port = 80;
  bool https = false;
  bool keep_connection = false;
  std::string_view agent_fields = "";  // FormatAgentFields
  std::string_view if_none_match = "";
  std::string_view if_modified_since = "";
  std::string_view cookie = "";
};

class RequestText {
 public:
  // The texts of the last Build are gone with the next one.
  void Build(const RequestParts& parts);

  // With its empty line.
  const std::string& text() const { return text_; }
  // The same without Connection, which HTTP/2 does not have (RFC 9113
  // s8.2.2).
  std::string TextForHttp2() const;
  // The fields for CURLOPT_HTTPHEADER.
  curl_slist* fields() { return nodes_.data(); }

 private:
  // Host, agent's five, two conditions, cookie, Connection, no Accept.
  static constexpr size_t kMostFields = 12;

  void Line(std::string_view name, std::string_view value);

  std::string text_;
  // The text with each CR turned into NUL: what the nodes point into.
  std::string lines_;
  std::array<curl_slist, kMostFields> nodes_{};
  // Keeps libcurl from a field of its own.
  std::array<char, 8> no_accept_{"Accept:"};
};

}  // namespace nephila::fetch
