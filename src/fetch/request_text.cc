#include "fetch/request_text.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/check.h"

namespace nephila::fetch {
namespace {

constexpr std::string_view kAccept = "Accept: ";
constexpr std::string_view kConnectionClose = "Connection: close\r\n";

void AppendLine(std::string_view name, std::string_view value,
                std::string* out) {
  value = TrimSpaces(value);
  if (value.empty() || !IsFieldValue(value)) return;
  out->append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::optional<std::string_view> RequestTarget(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const size_t path = url.find('/', scheme + 3);
  if (path == std::string_view::npos) return std::nullopt;
  std::string_view target = url.substr(path);
  target = target.substr(0, target.find('#'));
  // The serializer has escaped all of these: whoever brings one did not
  // parse the URL.
  const bool clean = std::all_of(target.begin(), target.end(),
                                 [](char c) { return c > ' ' && c != '\x7f'; });
  if (!clean) return std::nullopt;
  return target;
}

bool IsFieldValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::string FormatAgentFields(const AgentFields& fields) {
  std::string text;
  AppendLine("User-Agent", fields.user_agent, &text);
  AppendLine("From", fields.from, &text);
  AppendLine("Accept", fields.accept, &text);
  AppendLine("Accept-Language", fields.accept_language, &text);
  AppendLine("Accept-Encoding", fields.accept_encoding, &text);
  return text;
}

void RequestText::Build(const RequestParts& parts) {
  text_.assign("GET ").append(parts.target).append(" HTTP/1.1\r\n");
  const size_t first_field = text_.size();
  text_.append("Host: ").append(parts.host);
  if (parts.port != (parts.https ? 443 : 80)) {
    std::array<char, 8> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), parts.port);
    text_.append(":").append(digits.data(), end.ptr);
  }
  text_.append("\r\n").append(parts.agent_fields);
  Line("If-None-Match", parts.if_none_match);
  Line("If-Modified-Since", parts.if_modified_since);
  Line("Cookie", parts.cookie);
  if (!parts.keep_connection) text_.append(kConnectionClose);

  lines_.assign(text_, first_field, std::string::npos);
  size_t count = 0;
  bool accepts = false;
  for (size_t at = 0; at < lines_.size();) {
    const size_t end = lines_.find('\r', at);
    NEPHILA_CHECK(count < kMostFields && end != std::string::npos);
    lines_[end] = '\0';
    nodes_[count].data = &lines_[at];
    accepts = accepts || lines_.compare(at, kAccept.size(), kAccept) == 0;
    nodes_[count].next = nullptr;
    if (count > 0) nodes_[count - 1].next = &nodes_[count];
    ++count;
    at = end + 2;
  }
  if (!accepts) {
    NEPHILA_CHECK(count > 0 && count < kMostFields);
    nodes_[count] = {.data = no_accept_.data(), .next = nullptr};
    nodes_[count - 1].next = &nodes_[count];
  }
  text_.append("\r\n");
}

void RequestText::Line(std::string_view name, std::string_view value) {
  AppendLine(name, value, &text_);
}

std::string RequestText::TextForHttp2() const {
  std::string text = text_;
  const size_t at = text.rfind(kConnectionClose);
  if (at != std::string::npos) text.erase(at, kConnectionClose.size());
  return text;
}

}  // namespace nephila::fetch
