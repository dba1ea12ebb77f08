#include "report/words.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace nephila::report {
namespace {

struct Words {
  std::string_view stage;
  std::string_view reason;
  std::string_view text;
};

constexpr Words kReasons[] = {
    {"parse", "unwanted", "not a link to a page (image, script, form)"},
    {"parse", "nofollow", "the page asks not to follow it"},
    {"parse", "quarantined", "page left out: reading it ended the program"},
    {"parse", "no-memory", "page left out: too little memory to read it"},
    {"url", "invalid-url", "not a URL"},
    {"url", "scheme", "mailto:, javascript: and the like"},
    {"url", "bad-host", "a host name that cannot be"},
    {"url", "too-long", "URL too long"},
    {"url", "bad-port", "port of another protocol (mail, chat)"},
    {"url", "repeated", "twice on the same page"},
    {"url", "page-limit", "behind the limit of one page's links"},
    {"scope", "other-site", "outside of the scope"},
    {"scope", "too-deep", "too many hops from a seed"},
    {"scope", "not-allowed", "no pattern of scope.allow is found in it"},
    {"scope", "denied", "denied by a pattern of scope.deny"},
    {"scope", "blocked", "on a black list"},
    {"seen", "extension", "file type that is no page (by its name)"},
    {"seen", "duplicate", "URL known already"},
    {"caps", "host-full", "host has as many URLs as it may"},
    {"caps", "domain-full", "domain has as many URLs as it may"},
    {"caps", "too-many-hosts", "domain has as many hosts as it may"},
    {"reputation", "same-domain", "link within a domain: no vote"},
    {"reputation", "duplicate", "link between domains that is known"},
    {"robots", "denied", "forbidden by robots.txt"},
    {"robots", "unreachable", "robots.txt out of reach: all is forbidden"},
    {"robots", "too-many-ports", "host has URLs of too many ports"},
    {"politeness", "other-site", "outside of the scope by now"},
    {"politeness", "too-deep", "too many hops from a seed, by now"},
    {"politeness", "not-allowed", "not allowed by a pattern, by now"},
    {"politeness", "denied", "denied by a pattern by now"},
    {"politeness", "blocked", "on a black list by now"},
    {"fetch", "dns-failed", "no answer about the name"},
    {"fetch", "no-such-host", "no such host"},
    {"fetch", "connect-failed", "no connection"},
    {"fetch", "tls-failed", "TLS failed"},
    {"fetch", "connection-lost", "connection broke off"},
    {"fetch", "timeout", "no answer in time"},
    {"fetch", "bad-response", "not HTTP"},
    {"fetch", "address-refused", "address is not public"},
    {"fetch", "robots-denied", "forbidden by robots.txt"},
    {"fetch", "robots-unreachable", "robots.txt out of reach"},
    {"fetch", "out-of-scope", "outside of the scope by now"},
    {"fetch", "blocked", "blocked by the operator"},
    {"fetch", "over-budget", "over a bound of the crawl"},
    {"fetch", "too-many-retries", "failed too often"},
    {"fetch", "interrupted", "interrupted: fetched again later"},
    {"fetch", "unwanted", "type or length not wanted"},
    {"fetch", "too-many-redirects", "too many redirects"},
    {"fetch", "head-too-large", "head too large"},
    {"fetch", "host-dead", "host silent too often"},
    {"store", "no-response", "nothing to archive"},
};

struct StatusName {
  std::string_view status;
  std::string_view name;
};
constexpr StatusName kStatuses[] = {
    {"200", "OK"},
    {"204", "No Content"},
    {"206", "Partial Content"},
    {"301", "Moved Permanently"},
    {"302", "Found"},
    {"303", "See Other"},
    {"304", "Not Modified"},
    {"307", "Temporary Redirect"},
    {"308", "Permanent Redirect"},
    {"400", "Bad Request"},
    {"401", "Unauthorized"},
    {"403", "Forbidden"},
    {"404", "Not Found"},
    {"405", "Method Not Allowed"},
    {"406", "Not Acceptable"},
    {"410", "Gone"},
    {"429", "Too Many Requests"},
    {"451", "Unavailable For Legal Reasons"},
    {"500", "Internal Server Error"},
    {"501", "Not Implemented"},
    {"502", "Bad Gateway"},
    {"503", "Service Unavailable"},
    {"504", "Gateway Timeout"},
};

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;

// At most one digit behind the point, and none that is 0.
std::string Short(double number) {
  const std::string text = fmt::format("{:.1f}", number);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

std::string Grouped(uint64_t number, Grouping grouping) {
  const std::string_view space =
      grouping == Grouping::kSpace ? " " : "\xE2\x80\xAF";
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += space;
    text += digits[i];
  }
  return text;
}

std::string Rounded(double number, Grouping grouping) {
  if (!std::isfinite(number) || number <= 0) return "0";
  if (number >= 99.95) {
    return Grouped(static_cast<uint64_t>(std::llround(number)), grouping);
  }
  if (number >= 9.995) return fmt::format("{:.1f}", number);
  if (number >= 0.9995) return fmt::format("{:.2f}", number);
  return fmt::format("{:.2g}", number);
}

std::string Percent(uint64_t count, uint64_t of) {
  if (of == 0) return "-";
  if (count == 0) return "0 %";
  const double share =
      100 * static_cast<double>(count) / static_cast<double>(of);
  if (share < 0.1) return "under 0.1 %";
  return fmt::format("{:.1f} %", share);
}

std::string ShortTime(double seconds) {
  if (seconds < 1 && seconds > 0) return Short(seconds * 1000) + " ms";
  if (seconds < 2 * kMinute) return Short(seconds) + " s";
  if (seconds < 2 * kHour) return Short(seconds / kMinute) + " min";
  if (seconds < 2 * kDay) return Short(seconds / kHour) + " h";
  return Short(seconds / kDay) + " d";
}

std::string DateTime(WallTime when) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     std::chrono::floor<std::chrono::seconds>(when));
}

std::string ShortNumber(double number) {
  if (number >= 1e9) return Short(number / 1e9) + "G";
  if (number >= 1e6) return Short(number / 1e6) + "M";
  if (number >= 1e3) return Short(number / 1e3) + "k";
  if (number >= 1 || number <= 0) return Short(number);
  return fmt::format("{:.1g}", number);
}

std::string ReasonText(std::string_view stage, std::string_view reason) {
  const auto* const found =
      std::ranges::find_if(kReasons, [&](const Words& words) {
        return words.stage == stage && words.reason == reason;
      });
  return std::string(found == std::end(kReasons) ? reason : found->text);
}

std::string EndText(const Figures& figures) {
  if (!figures.status) return "no checkpoint yet";
  if (!figures.status->end) return "not ended: it runs, or was cut off";
  using crawl::CrawlEnd;
  switch (*figures.status->end) {
    case CrawlEnd::kFinished:
      return "finished: nothing is left to fetch";
    case CrawlEnd::kStopped:
      return "stopped by its user";
    case CrawlEnd::kMaxPages:
      return "ended with as many pages as it was to crawl";
    case CrawlEnd::kMaxBytes:
      return "ended with as many bytes as it was to crawl";
    case CrawlEnd::kMaxTime:
      return "ended when its time was over";
  }
  return "";
}

std::string_view StatusText(std::string_view status) {
  const auto* const found =
      std::ranges::find(kStatuses, status, &StatusName::status);
  return found == std::end(kStatuses) ? "" : found->name;
}

}  // namespace nephila::report
