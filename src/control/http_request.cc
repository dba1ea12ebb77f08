#include "control/http_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"

namespace nephila::control {
namespace {

// Without its end; the rest stays in `text`.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string_view TrimSpaces(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// The value of the only Host field, or nullopt if there is none. An error if
// there are several, or if a line is not a field.
Result<std::optional<std::string_view>, int> FindHost(std::string_view fields) {
  std::optional<std::string_view> host;
  while (!fields.empty()) {
    const std::string_view line = TakeLine(fields);
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 ||
        !IsVisible(line.substr(0, colon))) {
      return Unexpected(400);
    }
    if (LowerAscii(line.substr(0, colon)) != "host") continue;
    if (host) return Unexpected(400);
    host = TrimSpaces(line.substr(colon + 1));
  }
  return host;
}

}  // namespace

size_t HttpHeadSize(std::string_view bytes) {
  for (size_t at = bytes.find('\n'); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    const std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return 0;
}

bool IsOwnHost(std::string_view host, const net::Endpoint& at) {
  constexpr int kDefaultPort = 80;
  const std::string port = fmt::format(":{}", at.port);
  if (host.ends_with(port)) {
    host.remove_suffix(port.size());
  } else if (at.port != kDefaultPort) {
    return false;
  }
  if (host == "127.0.0.1" || host == "[::1]") return true;
  if (LowerAscii(host) == "localhost") return true;
  return at.address.is_v4() && host == at.address.ToString();
}

Result<HttpRequest, int> ParseHttpRequest(std::string_view head,
                                          const net::Endpoint& at) {
  const std::string_view line = TakeLine(head);
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Unexpected(400);
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) return Unexpected(400);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return Unexpected(505);
  if (!target.starts_with('/') || !IsVisible(target)) return Unexpected(400);
  if (method != "GET" && method != "HEAD") return Unexpected(405);
  const auto host = FindHost(head);
  if (!host.has_value()) return Unexpected(host.error());
  // HTTP/1.0 does not require a Host, but every client in use sends one.
  if (!*host) return Unexpected(400);
  if (!IsOwnHost(**host, at)) return Unexpected(421);
  return HttpRequest{target.substr(0, target.find('?')), method == "HEAD"};
}

}  // namespace nephila::control
