#include "item/outcome_policy.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace nephila::item {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<OutcomeRow, kFetchOutcomes> kOutcomes = {{
    {"response", UrlStep::kDone, HostStep::kWell,
     "decided by the status, below"},
    {"dns-answer", UrlStep::kDone, HostStep::kNone, "the name has an address"},
    {"dns-failed", UrlStep::kRetry, HostStep::kTrouble,
     "name servers fail for a while more often than for ever"},
    {"connect-failed", UrlStep::kRetry, HostStep::kTrouble,
     "the server may be down for a while"},
    {"tls-failed", UrlStep::kRetry, HostStep::kBackOff,
     "a server may be at its limit; a refused certificate is given up at the "
     "first attempt"},
    {"connection-lost", UrlStep::kRetry, HostStep::kTrouble,
     "an overloaded server drops connections"},
    {"timeout", UrlStep::kRetry, HostStep::kTrouble,
     "an overloaded server is slow; a delay attack has few tries"},
    {"bad-response", UrlStep::kGiveUp, HostStep::kNone,
     "what speaks no HTTP will not learn it"},
    {"address-refused", UrlStep::kGiveUp, HostStep::kNone,
     "the job does not go there"},
    {"robots-denied", UrlStep::kGiveUp, HostStep::kNone,
     "robots.txt forbids it"},
    {"robots-unreachable", UrlStep::kRetry, HostStep::kNone,
     "parked until robots.txt is asked for again, and the attempt does not "
     "count"},
    {"out-of-scope", UrlStep::kGiveUp, HostStep::kNone, "the job excludes it"},
    {"blocked", UrlStep::kGiveUp, HostStep::kNone, "the operator blocks it"},
    {"over-budget", UrlStep::kGiveUp, HostStep::kNone,
     "a bound of the crawl is reached"},
    {"too-many-retries", UrlStep::kGiveUp, HostStep::kNone,
     "it was tried often enough"},
    {"interrupted", UrlStep::kRetry, HostStep::kNone,
     "the crawl stopped: tried again at once, and the attempt does not count"},
    {"internal-error", UrlStep::kRetry, HostStep::kNone,
     "a fault of ours says nothing about them"},
    {"unwanted", UrlStep::kGiveUp, HostStep::kWell,
     "its type or length was refused when the head came"},
    {"too-many-redirects", UrlStep::kGiveUp, HostStep::kWell,
     "a chain or a circle"},
    {"head-too-large", UrlStep::kGiveUp, HostStep::kNone,
     "a flood of header fields is no accident"},
    {"no-such-host", UrlStep::kGiveUp, HostStep::kDead,
     "the DNS says that the name does not exist"},
    {"proxy-failed", UrlStep::kRetry, HostStep::kNone,
     "our proxy's trouble is not the host's"},
    {"host-dead", UrlStep::kGiveUp, HostStep::kNone,
     "its host did not answer `politeness.give_up_after` times in a row"},
}};

constexpr std::array<OutcomeRow, kStatusClasses> kStatuses = {{
    {"2xx", UrlStep::kDone, HostStep::kWell, "an answer"},
    {"304", UrlStep::kDone, HostStep::kWell, "the copy we have is the answer"},
    {"other 3xx", UrlStep::kDone, HostStep::kWell,
     "the target is a link like any other"},
    {"404", UrlStep::kGiveUp, HostStep::kWell, "there is no such page"},
    {"410", UrlStep::kGiveUp, HostStep::kWell,
     "there is no such page any more"},
    {"408, 425", UrlStep::kRetry, HostStep::kWell, "the server asks for it"},
    {"429", UrlStep::kRetry, HostStep::kBackOff, "we ask for too much"},
    {"other 4xx", UrlStep::kGiveUp, HostStep::kWell,
     "the answer to this request will stay the same"},
    {"501, 505", UrlStep::kGiveUp, HostStep::kWell,
     "the server cannot do it at all"},
    {"503", UrlStep::kRetry, HostStep::kBackOff,
     "overload or maintenance, which end"},
    {"other 5xx", UrlStep::kRetry, HostStep::kBackOff,
     "errors come in bursts, and load makes them worse"},
    {"any other", UrlStep::kGiveUp, HostStep::kNone, "no status of HTTP"},
}};

// base * growth^times, at most `most`.
nanoseconds Grown(nanoseconds base, int64_t growth, uint32_t times,
                  nanoseconds most) {
  int64_t wait = base.count();
  for (uint32_t i = 0; i < times && wait < most.count() && growth > 1; ++i) {
    if (wait > most.count() / growth) return most;
    wait *= growth;
  }
  return nanoseconds(std::min(wait, most.count()));
}

// An attempt that never reached the host does not count.
bool Counts(FetchOutcome outcome) {
  return outcome != FetchOutcome::kInterrupted &&
         outcome != FetchOutcome::kRobotsUnreachable;
}

}  // namespace

StatusClass ClassOf(int status) {
  switch (status) {
    case 304:
      return StatusClass::kNotModified;
    case 404:
      return StatusClass::kNotFound;
    case 408:
    case 425:
      return StatusClass::kTryAgain;
    case 410:
      return StatusClass::kGone;
    case 429:
      return StatusClass::kTooManyRequests;
    case 501:
    case 505:
      return StatusClass::kNotServed;
    case 503:
      return StatusClass::kUnavailable;
    default:
      break;
  }
  switch (status / 100) {
    case 2:
      return StatusClass::kSuccess;
    case 3:
      return StatusClass::kRedirect;
    case 4:
      return StatusClass::kClientError;
    case 5:
      return StatusClass::kServerError;
    default:
      return StatusClass::kOther;
  }
}

std::span<const OutcomeRow> OutcomeRows() { return kOutcomes; }
std::span<const OutcomeRow> StatusRows() { return kStatuses; }

const OutcomeRow& RowFor(FetchOutcome outcome, int status) {
  if (outcome == FetchOutcome::kResponse) {
    return kStatuses[static_cast<size_t>(ClassOf(status))];
  }
  const auto row = static_cast<size_t>(outcome);
  NEPHILA_CHECK(row < kOutcomes.size());
  return kOutcomes[row];
}

std::string_view UrlStepName(UrlStep step) {
  switch (step) {
    case UrlStep::kDone:
      return "done";
    case UrlStep::kRetry:
      return "retry";
    case UrlStep::kGiveUp:
      return "give up";
  }
  NEPHILA_CHECK(false);
}

std::string_view HostStepName(HostStep step) {
  switch (step) {
    case HostStep::kNone:
      return "-";
    case HostStep::kWell:
      return "well";
    case HostStep::kBackOff:
      return "backs off";
    case HostStep::kTrouble:
      return "backs off, then dead";
    case HostStep::kDead:
      return "dead";
  }
  NEPHILA_CHECK(false);
}

Next WhatNext(const Attempt& attempt, const config::FetchSettings& settings) {
  const OutcomeRow& row = RowFor(attempt.outcome, attempt.status);
  Next next;
  next.url = row.url;
  next.host = row.host;
  next.attempt_counts = Counts(attempt.outcome);
  // It will be the same for every page of the host, and for long.
  if (attempt.outcome == FetchOutcome::kTlsFailed &&
      attempt.certificate_refused) {
    next.url = UrlStep::kGiveUp;
  }
  if (next.url != UrlStep::kRetry) return next;
  if (attempt.outcome == FetchOutcome::kInterrupted) return next;
  if (attempt.outcome == FetchOutcome::kRobotsUnreachable) {
    next.url_wait = attempt.robots_wait.value_or(settings.retry_wait);
    return next;
  }
  if (attempt.attempt >= static_cast<uint64_t>(settings.retry_attempts)) {
    next.url = UrlStep::kGiveUp;
    next.attempts_used_up = true;
    return next;
  }
  next.url_wait =
      Grown(settings.retry_wait, settings.retry_growth,
            std::max(attempt.attempt, 1U) - 1, settings.retry_wait_max);
  return next;
}

}  // namespace nephila::item
