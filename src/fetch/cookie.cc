#include "fetch/cookie.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "fetch/http_date.h"

namespace nephila::fetch {
namespace {

using std::chrono::nanoseconds;

// Spaces and tabs alone: other controls were refused before.
std::string_view Trim(std::string_view text) { return TrimSpaces(text); }

bool IsForbidden(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

// "[-]digits" or none; what is too large for a number is merely very long.
std::optional<nanoseconds> MaxAge(std::string_view value, nanoseconds longest) {
  const bool negative = value.starts_with('-');
  if (negative) value.remove_prefix(1);
  if (value.empty() || !std::all_of(value.begin(), value.end(), IsDigit)) {
    return std::nullopt;
  }
  if (negative) return nanoseconds(0);
  const int64_t most = std::chrono::ceil<std::chrono::seconds>(longest).count();
  int64_t seconds = most;
  std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (seconds >= most) return longest;
  return std::chrono::seconds(seconds);
}

std::optional<nanoseconds> UntilDate(std::string_view value, WallTime now,
                                     nanoseconds longest) {
  const auto date = ParseCookieDate(value);
  if (!date) return std::nullopt;
  if (*date <= now) return nanoseconds(0);
  if (now <= WallTime::max() - longest && *date >= now + longest) {
    return longest;
  }
  return *date - now;
}

// What attributes say; of two of a name the last one counts.
struct Lives {
  std::optional<nanoseconds> max_age;
  std::optional<nanoseconds> expires;
};

void TakeAttribute(std::string_view attribute, WallTime now,
                   nanoseconds longest, ParsedCookie* cookie, Lives* lives) {
  const size_t equals = std::min(attribute.find('='), attribute.size());
  const std::string_view name = Trim(attribute.substr(0, equals));
  const std::string_view value =
      Trim(attribute.substr(std::min(equals + 1, attribute.size())));
  if (value.size() > kLongestCookieAttribute) return;
  if (EqualsIgnoreCase(name, "Expires")) {
    if (auto life = UntilDate(value, now, longest)) lives->expires = life;
  } else if (EqualsIgnoreCase(name, "Max-Age")) {
    if (auto life = MaxAge(value, longest)) lives->max_age = life;
  } else if (EqualsIgnoreCase(name, "Domain")) {
    cookie->domain = value.substr(value.starts_with('.') ? 1 : 0);
  } else if (EqualsIgnoreCase(name, "Path")) {
    cookie->path = value.starts_with('/') ? value : std::string_view();
  } else if (EqualsIgnoreCase(name, "Secure")) {
    cookie->secure = true;
  }
}

}  // namespace

CookieFault ParseSetCookie(std::string_view header, WallTime now,
                           nanoseconds longest_life, ParsedCookie* cookie) {
  *cookie = {};
  if (std::any_of(header.begin(), header.end(), IsForbidden)) {
    return CookieFault::kMalformed;
  }
  size_t end = std::min(header.find(';'), header.size());
  const std::string_view pair = header.substr(0, end);
  const size_t equals = pair.find('=');
  // Without '=' it is a value alone.
  if (equals != std::string_view::npos) {
    cookie->name = Trim(pair.substr(0, equals));
    cookie->value = Trim(pair.substr(equals + 1));
  } else {
    cookie->value = Trim(pair);
  }
  if (cookie->name.empty() && cookie->value.empty()) {
    return CookieFault::kMalformed;
  }
  if (cookie->name.size() + cookie->value.size() > kLongestCookie) {
    return CookieFault::kTooLarge;
  }
  Lives lives;
  std::string_view rest = header.substr(end);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    end = std::min(rest.find(';'), rest.size());
    TakeAttribute(rest.substr(0, end), now, longest_life, cookie, &lives);
    rest.remove_prefix(end);
  }
  cookie->life = lives.max_age ? lives.max_age : lives.expires;
  return CookieFault::kNone;
}

}  // namespace nephila::fetch
