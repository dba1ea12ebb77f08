#include "sim/http_request.h"

#include <algorithm>

#include "base/ascii.h"

namespace nephila::sim {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// Whether one of the words between commas is `word`; parameters (";q=0.5") are
// left aside, but "q=0" refuses.
bool ListHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    const size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view weight =
        Trim(item.substr(std::min(semicolon + 1, item.size())));
    if (EqualsIgnoreCase(Trim(item.substr(0, semicolon)), word)) {
      return weight != "q=0" && weight != "q=0.0";
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool IsGraphic(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f'; });
}

// Host and port, as in Host and in an absolute target.
bool SetHost(std::string_view text, Request* request) {
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  text = text.substr(0, std::min(text.find(':', bracket), text.size()));
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 253 || !IsGraphic(text)) return false;
  request->host.assign(text);
  for (char& c : request->host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '/' || c == '\\' || c == '"' || c == '<' || c == '@') return false;
  }
  return true;
}

bool ParseFirstLine(std::string_view line, Request* request) {
  const size_t space = line.find(' ');
  const size_t last = line.rfind(' ');
  if (space == std::string_view::npos || space == last) return false;
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request->http11 = version == "HTTP/1.1";
  request->keep_alive = request->http11;
  request->method = line.substr(0, space);
  request->target = line.substr(space + 1, last - space - 1);
  if (!IsGraphic(request->target) || request->method.empty()) return false;
  // The form that proxies get (RFC 9112 s3.2.2); it wins over Host.
  if (request->target.starts_with("http://")) {
    const std::string_view rest = request->target.substr(7);
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return false;
    if (!SetHost(rest.substr(0, slash), request)) return false;
    request->target = rest.substr(slash);
  }
  return request->target.starts_with('/') &&
         request->target.find('#') == std::string_view::npos;
}

bool ParseField(std::string_view line, Request* request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  if (!IsGraphic(name)) return false;
  // Lines end by CR LF alone (RFC 9112 s2.2).
  if (value.find_first_of(std::string_view("\r\n\0", 3)) !=
      std::string_view::npos) {
    return false;
  }
  if (EqualsIgnoreCase(name, "host")) {
    return !request->host.empty() || SetHost(value, request);
  }
  if (EqualsIgnoreCase(name, "connection")) {
    if (ListHas(value, "close")) request->keep_alive = false;
    if (ListHas(value, "keep-alive")) request->keep_alive = true;
  } else if (EqualsIgnoreCase(name, "accept-encoding")) {
    request->takes_gzip = ListHas(value, "gzip");
  } else if (EqualsIgnoreCase(name, "cookie")) {
    request->has_cookie = true;
  } else if (EqualsIgnoreCase(name, "if-none-match")) {
    request->if_none_match = value;
  } else if (EqualsIgnoreCase(name, "content-length")) {
    return value == "0";
  } else if (EqualsIgnoreCase(name, "transfer-encoding")) {
    return false;
  }
  return true;
}

}  // namespace

Result<size_t, RequestError> ParseRequest(std::string_view bytes,
                                          size_t* searched, Request* request) {
  const size_t end = bytes.find("\r\n\r\n", *searched);
  if (end == std::string_view::npos || end + 4 > kMaxRequestBytes) {
    *searched = bytes.size() < 3 ? 0 : bytes.size() - 3;
    return Unexpected(bytes.size() > kMaxRequestBytes ||
                              end != std::string_view::npos
                          ? RequestError::kTooLong
                          : RequestError::kIncomplete);
  }
  *searched = 0;
  request->method = {};
  request->target = {};
  request->if_none_match = {};
  request->host.clear();
  request->takes_gzip = false;
  request->has_cookie = false;
  std::string_view head = bytes.substr(0, end + 2);
  size_t line_end = head.find("\r\n");
  if (!ParseFirstLine(head.substr(0, line_end), request)) {
    return Unexpected(RequestError::kBad);
  }
  head.remove_prefix(line_end + 2);
  while (!head.empty()) {
    line_end = head.find("\r\n");
    if (!ParseField(head.substr(0, line_end), request)) {
      return Unexpected(RequestError::kBad);
    }
    head.remove_prefix(line_end + 2);
  }
  if (request->host.empty()) return Unexpected(RequestError::kBad);
  return end + 4;
}

}  // namespace nephila::sim
