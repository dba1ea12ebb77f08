#include "robots/policy.h"

#include <array>

namespace nephila::robots {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kNotModified = 304;

Policy Unreachable(const Fetch& fetch) {
  if (fetch.have_copy) return {Verdict::kKeepCopy, true};
  bool long_gone = fetch.unreachable_for.has_value() &&
                   *fetch.unreachable_for > kUnreachablePeriod;
  return {long_gone ? Verdict::kAllowAll : Verdict::kDisallowAll, true};
}

Policy ForStatus(const Fetch& fetch) {
  int status = fetch.status;
  if (status >= 200 && status < 300) return {Verdict::kParse, false};
  if (status == kNotModified && fetch.have_copy) {
    return {Verdict::kKeepCopy, false};
  }
  // Any other 3xx that was not followed is a bad redirect.
  bool unavailable = status >= 300 && status < 500 &&
                     status != kTooManyRequests && status != kNotModified;
  if (unavailable) return {Verdict::kAllowAll, false};
  return Unreachable(fetch);
}

}  // namespace

Policy PolicyFor(const Fetch& fetch) {
  switch (fetch.end) {
    case FetchEnd::kAnswer:
      return ForStatus(fetch);
    case FetchEnd::kTooManyRedirects:
    case FetchEnd::kBadRedirect:
      return {Verdict::kAllowAll, false};
    case FetchEnd::kRefusedRedirect:
    case FetchEnd::kNetwork:
      return Unreachable(fetch);
  }
  return Unreachable(fetch);
}

std::string_view VerdictName(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {
      "parse", "keep-copy", "allow-all", "disallow-all"};
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace nephila::robots
