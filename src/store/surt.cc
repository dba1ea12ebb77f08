#include "store/surt.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"
#include "store/header_lines.h"
#include "url/idna.h"
#include "url/surt.h"

namespace nephila::store {
namespace surt {
namespace {

struct Parts {
  std::string opaque;  // instead of all others
  std::string scheme;
  bool has_userinfo = false;
  std::string userinfo;
  std::string host;
  std::string port;
  std::string path;
  bool has_query = false;
  std::string query;
};

bool IsAlnum(char c) { return IsDigit(c) || IsAlpha(c); }

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The length of a scheme at the front with its colon, or 0.
size_t SchemeLength(std::string_view text) {
  if (text.empty() || !IsAlpha(text[0])) return 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ':') return i + 1;
    if (!IsAlnum(text[i]) && text[i] != '+' && text[i] != '-' &&
        text[i] != '.') {
      return 0;
    }
  }
  return 0;
}

std::string_view TrimControls(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') {
    text.remove_suffix(1);
  }
  return text;
}

// user:pass@host:port
void SplitAuthority(std::string_view authority, Parts* parts) {
  if (size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parts->has_userinfo = true;
    parts->userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view port = authority.substr(colon + 1);
    // Not the colons of an IPv6 address.
    if (std::all_of(port.begin(), port.end(), IsDigit)) {
      parts->port = port;
      authority = authority.substr(0, colon);
    }
  }
  parts->host = authority;
}

Parts Split(std::string_view raw) {
  Parts parts;
  std::string text;
  text.reserve(raw.size() + 7);
  for (char c : TrimControls(raw)) {
    if (c != '\t' && c != '\r' && c != '\n') text += c;
  }
  if (text.empty()) return parts;
  size_t scheme = SchemeLength(text);
  if (scheme == 0) {
    text.insert(0, "http://");
    scheme = 5;
  }
  std::string_view rest = text;
  parts.scheme = LowerAscii(rest.substr(0, scheme - 1));
  rest.remove_prefix(scheme);
  // Names of records, not addresses of pages, whatever their slashes mean.
  bool name = parts.scheme == "dns" || parts.scheme == "warcinfo" ||
              parts.scheme == "filedesc";
  if (name || !rest.starts_with("//")) {
    parts.opaque = text;
    return parts;
  }
  rest.remove_prefix(2);
  rest = rest.substr(0, rest.find('#'));
  size_t end = std::min(rest.find_first_of("/?"), rest.size());
  SplitAuthority(rest.substr(0, end), &parts);
  rest.remove_prefix(end);
  size_t query = rest.find('?');
  parts.path = rest.substr(0, query);
  parts.has_query = query != std::string_view::npos;
  if (parts.has_query) parts.query = rest.substr(query + 1);
  return parts;
}

std::string Join(const Parts& parts) {
  if (parts.scheme.empty() || !parts.opaque.empty()) return parts.opaque;
  std::string url = parts.scheme + "://";
  if (parts.has_userinfo) url.append(parts.userinfo).append("@");
  url += parts.host;
  if (!parts.port.empty()) url.append(":").append(parts.port);
  url += parts.path;
  if (parts.has_query) url.append("?").append(parts.query);
  return url;
}

std::string DottedQuad(uint32_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (!text.empty()) text += '.';
    text += std::to_string(address >> shift & 255);
  }
  return text;
}

// A host that is one decimal number, or up to four octal ones, is an address.
std::optional<std::string> NumericAddress(std::string_view host) {
  if (host.empty() || host.size() > 64) return std::nullopt;
  if (std::all_of(host.begin(), host.end(), IsDigit)) {
    uint32_t address = 0;
    auto [end, error] =
        std::from_chars(host.data(), host.data() + host.size(), address);
    if (error != std::errc()) return std::nullopt;
    return DottedQuad(address);
  }
  if (host[0] != '0' ||
      host.find_first_not_of("01234567.") != std::string_view::npos ||
      std::count(host.begin(), host.end(), '.') != 3) {
    return std::nullopt;
  }
  uint32_t address = 0;
  for (int i = 0; i < 4; ++i) {
    size_t dot = std::min(host.find('.'), host.size());
    uint32_t part = 0;
    auto [end, error] =
        std::from_chars(host.data(), host.data() + dot, part, 8);
    if (error != std::errc() || end != host.data() + dot || part > 255) {
      return std::nullopt;
    }
    address = address << 8 | part;
    host.remove_prefix(std::min(dot + 1, host.size()));
  }
  return DottedQuad(address);
}

std::string CanonicalHost(std::string_view raw) {
  std::string host = UnescapeRepeatedly(raw);
  std::string squeezed;
  squeezed.reserve(host.size());
  for (char c : host) {
    if (c == '.' && (squeezed.empty() || squeezed.back() == '.')) continue;
    squeezed += c;
  }
  if (squeezed.ends_with('.')) squeezed.pop_back();
  bool ascii = std::all_of(squeezed.begin(), squeezed.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  });
  // No name of DNS is longer, in any spelling.
  constexpr size_t kLongestName = 4096;
  std::string puny;
  if (!ascii && squeezed.size() <= kLongestName && IsUtf8(squeezed) &&
      url::AppendDomainToAscii(squeezed, &puny)) {
    squeezed = puny;
  }
  squeezed = LowerAscii(squeezed);
  if (auto address = NumericAddress(squeezed)) return *address;
  return EscapeOnce(squeezed);
}

// "." and empty segments go, ".." takes the one before it.
std::string CanonicalPath(std::string_view raw) {
  std::string text = UnescapeRepeatedly(raw);
  std::vector<std::string_view> segments;
  std::string_view rest = text;
  bool directory = true;  // whether a slash is at the end
  while (!rest.empty()) {
    size_t slash = std::min(rest.find('/'), rest.size());
    std::string_view segment = rest.substr(0, slash);
    bool last = slash == rest.size();
    rest.remove_prefix(last ? slash : slash + 1);
    directory = !last || segment.empty() || segment == "." || segment == "..";
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
      continue;
    }
    segments.push_back(segment);
  }
  std::string path = "/";
  for (size_t i = 0; i < segments.size(); ++i) {
    path += segments[i];
    if (i + 1 < segments.size() || directory) path += '/';
  }
  return EscapeOnce(path);
}

void Canonicalize(Parts* parts) {
  if (parts->scheme.empty() || !parts->opaque.empty()) return;
  parts->host = CanonicalHost(parts->host);
  parts->path = CanonicalPath(parts->path);
  if (parts->has_query) {
    parts->query = EscapeOnce(UnescapeRepeatedly(parts->query));
  }
}

void Archive(Parts* parts) {
  if (parts->scheme.empty() || !parts->opaque.empty()) return;
  parts->has_userinfo = false;
  parts->host = std::string(StripWww(parts->host));
  if ((parts->scheme == "http" && parts->port == "80") ||
      (parts->scheme == "https" && parts->port == "443")) {
    parts->port.clear();
  }
  parts->path = LowerAscii(StripPathSession(parts->path));
  if (parts->path.size() > 1 && parts->path.ends_with('/')) {
    parts->path.pop_back();
  }
  if (parts->has_query) {
    parts->query = SortQuery(LowerAscii(StripQuerySession(parts->query)));
    parts->has_query = !parts->query.empty();
  }
}

// Whether `count` letters or digits stand at `at`.
bool AlnumRun(std::string_view text, size_t at, size_t count) {
  return at <= text.size() && text.size() - at >= count &&
         std::all_of(text.begin() + static_cast<ptrdiff_t>(at),
                     text.begin() + static_cast<ptrdiff_t>(at + count),
                     IsAlnum);
}

// The length of "(...24...)/" or "(a(...24...)b(...24...))/" at `at`, or 0.
size_t AspSession(std::string_view path, size_t at) {
  constexpr size_t kId = 24;
  if (at >= path.size() || path[at] != '(') return 0;
  size_t i = at + 1;
  if (AlnumRun(path, i, kId)) {
    i += kId;
  } else {
    size_t groups = 0;
    while (i + 1 < path.size() && IsAlpha(path[i]) && path[i + 1] == '(' &&
           AlnumRun(path, i + 2, kId) && i + 2 + kId < path.size() &&
           path[i + 2 + kId] == ')') {
      i += kId + 3;
      ++groups;
    }
    if (groups == 0) return 0;
  }
  return path.substr(i, 2) == ")/" ? i + 2 - at : 0;
}

// Removes the last "name" followed by `id` letters or digits and the end or &.
void StripParameter(std::string_view name, size_t id, std::string* query) {
  std::string lower = LowerAscii(*query);
  for (size_t at = lower.rfind(name); at != std::string::npos;
       at = at == 0 ? std::string::npos : lower.rfind(name, at - 1)) {
    size_t end = at + name.size() + id;
    if (!AlnumRun(lower, at + name.size(), id)) continue;
    if (end < lower.size() && lower[end] != '&') continue;
    query->erase(at, end - at + (end < lower.size() ? 1 : 0));
    return;
  }
}

}  // namespace

std::string UnescapeRepeatedly(std::string_view text) {
  // An escape undone may complete another one that began before it: what is
  // done so far is a stack whose top is looked at again. Escapes cannot
  // overlap, so the order in which they are undone does not matter.
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    out += c;
    while (out.size() >= 3 && out[out.size() - 3] == '%') {
      int high = HexValue(out[out.size() - 2]);
      int low = HexValue(out[out.size() - 1]);
      if (high < 0 || low < 0) break;
      out.resize(out.size() - 2);
      out.back() = static_cast<char>(high << 4 | low);
    }
  }
  return out;
}

// Escapes what is no visible ASCII, and the bytes of `others`, in these digits.
std::string Escape(std::string_view text, std::string_view others,
                   std::string_view digits) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && others.find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string EscapeOnce(std::string_view text) {
  return Escape(text, "#%", "0123456789ABCDEF");
}

std::string SortQuery(std::string_view query) {
  struct Parameter {
    std::string_view name;
    std::string_view rest;  // with its '='
    bool operator<(const Parameter& other) const {
      return name != other.name ? name < other.name : rest < other.rest;
    }
  };
  std::vector<Parameter> parameters;
  size_t length = query.size();
  while (true) {
    size_t end = std::min(query.find('&'), query.size());
    std::string_view one = query.substr(0, end);
    size_t equals = std::min(one.find('='), one.size());
    parameters.push_back({one.substr(0, equals), one.substr(equals)});
    if (end == query.size()) break;
    query.remove_prefix(end + 1);
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  out.reserve(length);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) out += '&';
    out.append(parameters[i].name).append(parameters[i].rest);
  }
  return out;
}

std::string_view StripWww(std::string_view host) {
  if (!host.starts_with("www")) return host;
  size_t i = 3;
  while (i < host.size() && IsDigit(host[i])) ++i;
  if (i + 1 >= host.size() || host[i] != '.') return host;
  return host.substr(i + 1);
}

std::string StripPathSession(std::string_view path) {
  std::string lower = LowerAscii(path);
  std::string out(path);
  constexpr std::string_view kJava = ";jsessionid=";
  if (size_t at = lower.rfind(kJava); at != std::string::npos &&
                                      at + kJava.size() + 32 == lower.size() &&
                                      AlnumRun(lower, at + kJava.size(), 32)) {
    out.resize(at);
    return out;
  }
  // Only in front of a page of ASP.NET.
  size_t page = lower.rfind(".aspx");
  if (page == std::string::npos) return out;
  for (size_t at = lower.rfind("/(", page); at != std::string::npos;
       at = at == 0 ? std::string::npos : lower.rfind("/(", at - 1)) {
    size_t length = AspSession(path, at + 1);
    if (length == 0 || at + 1 + length >= page) continue;
    out.erase(at + 1, length);
    break;
  }
  return out;
}

std::string StripQuerySession(std::string_view query) {
  std::string out(query);
  StripParameter("jsessionid=", 32, &out);
  StripParameter("phpsessid=", 32, &out);
  StripParameter("sid=", 32, &out);
  std::string lower = LowerAscii(out);
  // aspsessionidXXXXXXXX=24 letters
  constexpr std::string_view kAsp = "aspsessionid";
  if (size_t at = lower.rfind(kAsp);
      at != std::string::npos && AlnumRun(lower, at + kAsp.size(), 8)) {
    StripParameter(lower.substr(at, kAsp.size() + 8) + "=", 24, &out);
  }
  // cfid=...&cftoken=...
  lower = LowerAscii(out);
  if (size_t at = lower.rfind("cfid="); at != std::string::npos) {
    size_t next = lower.find('&', at);
    if (next != std::string::npos && next > at + 5 &&
        lower.compare(next + 1, 8, "cftoken=") == 0) {
      size_t end = std::min(lower.find('&', next + 1), lower.size());
      if (end > next + 9) {
        out.erase(at, end - at + (end < lower.size() ? 1 : 0));
      }
    }
  }
  return out;
}

std::string CanonicalUrl(std::string_view url) {
  Parts parts = Split(url);
  Canonicalize(&parts);
  return Join(parts);
}

std::string ArchiveUrl(std::string_view url) {
  Parts parts = Split(url);
  Canonicalize(&parts);
  Archive(&parts);
  return Join(parts);
}

}  // namespace surt

namespace {

// Opaque keys are as they came: what would end a field or a line is escaped.
std::string EscapeSpace(std::string_view text) {
  return surt::Escape(text, "", "0123456789abcdef");
}

}  // namespace

std::string SurtKey(std::string_view url) {
  surt::Parts parts = surt::Split(url);
  if (parts.scheme.empty()) return "-";
  if (!parts.opaque.empty()) return EscapeSpace(parts.opaque);
  surt::Canonicalize(&parts);
  surt::Archive(&parts);
  std::string key;
  url::AppendReversedHost(parts.host, key);
  if (!parts.port.empty()) key.append(":").append(parts.port);
  key.append(")").append(parts.path);
  if (parts.has_query) key.append("?").append(parts.query);
  return key;
}

}  // namespace nephila::store
