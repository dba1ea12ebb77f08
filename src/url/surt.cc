#include "url/surt.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "url/parser.h"
#include "url/url.h"

namespace nephila::url {
namespace {

// No URL that is crawled is longer.
constexpr size_t kLongestPrefix = size_t{64} << 10;

bool IsAddress(std::string_view host) {
  return host.starts_with('[') ||
         (!host.empty() &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 0x7f;
  });
}

// Up to the bracket that ends it case does not matter, behind it it does.
std::optional<std::string> ReadWritten(std::string_view text) {
  const size_t end = std::min(text.find(')'), text.size());
  const std::string_view host = text.substr(1, end - 1);
  // "(" alone is all of the web: nobody means that.
  if (host.empty() || host.find_first_of("/?#@") != std::string_view::npos) {
    return std::nullopt;
  }
  std::string prefix = LowerAscii(text.substr(0, end));
  prefix.append(text.substr(end));
  return prefix;
}

std::optional<std::string> ReadUrl(std::string_view text) {
  Url url;
  if (!Parse(text, nullptr, &url) || !url.is_http()) return std::nullopt;
  url.RemoveUserinfo();
  url.RemoveFragment();
  const std::string_view href = url.href();
  const auto start = static_cast<size_t>(url.host().data() - href.data());
  size_t size = url.host().size();
  if (url.host().ends_with('.')) --size;
  std::string prefix;
  AppendSurt(href, start, size, prefix);
  // "http://example.org" and "http://example.org/" are different wishes, and
  // one URL: the text tells them apart.
  const size_t slashes = text.find("//");
  const bool has_path =
      slashes != std::string_view::npos &&
      text.find_first_of("/?", slashes + 2) != std::string_view::npos;
  if (!has_path && url.port().empty() && !IsAddress(url.host())) {
    prefix.resize(prefix.size() - 2);  // ")/"
  }
  return prefix;
}

}  // namespace

void AppendReversedHost(std::string_view host, std::string& out) {
  if (IsAddress(host)) {
    out += host;
    return;
  }
  while (true) {
    const size_t dot = host.rfind('.');
    const bool last = dot == std::string_view::npos;
    out += host.substr(last ? 0 : dot + 1);
    if (last) return;
    out += ',';
    host = host.substr(0, dot);
  }
}

void AppendSurt(std::string_view href, size_t host_start, size_t host_size,
                std::string& out) {
  const std::string_view host = href.substr(host_start, host_size);
  out += '(';
  AppendReversedHost(host, out);
  if (!IsAddress(host)) out += ',';
  std::string_view rest = href.substr(host_start + host_size);
  // The dot that ends a name makes no other host.
  if (rest.starts_with('.')) rest.remove_prefix(1);
  const size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  out += rest.substr(0, path);
  out += ')';
  out += rest.substr(path);
}

std::optional<std::string> ReadSurtPrefix(std::string_view text) {
  text = TrimSpaces(text);
  if (text.empty() || text.size() > kLongestPrefix || !IsPrintable(text)) {
    return std::nullopt;
  }
  // Heritrix writes the scheme before it; ours stands for both.
  const size_t bracket = text.find("://(");
  if (bracket != std::string_view::npos &&
      bracket < text.find_first_of("(/?#", 0) + 1) {
    text.remove_prefix(bracket + 3);
  }
  return text.starts_with('(') ? ReadWritten(text) : ReadUrl(text);
}

void AppendFolderSurt(std::string_view href, size_t host_start,
                      size_t host_size, std::string& out) {
  const size_t end =
      std::min(href.find_first_of("?#", host_start + host_size), href.size());
  const std::string_view without = href.substr(0, end);
  const size_t slash = without.rfind('/');
  const bool in_path =
      slash != std::string_view::npos && slash >= host_start + host_size;
  AppendSurt(in_path ? without.substr(0, slash + 1) : without, host_start,
             host_size, out);
}

std::optional<std::string> HostOfSurt(std::string_view surt) {
  const size_t end = surt.find(')');
  if (!surt.starts_with('(') || end == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view name = surt.substr(1, end - 1);
  if (name.starts_with('[')) {
    return std::string(name.substr(0, name.find(']') + 1));
  }
  name = name.substr(0, name.find(':'));
  if (IsAddress(name)) return std::string(name);
  if (name.ends_with(',')) name.remove_suffix(1);
  if (name.empty()) return std::nullopt;
  std::string host;
  while (true) {
    const size_t comma = name.rfind(',');
    const bool last = comma == std::string_view::npos;
    host += name.substr(last ? 0 : comma + 1);
    if (last) return host;
    host += '.';
    name = name.substr(0, comma);
  }
}

}  // namespace nephila::url
