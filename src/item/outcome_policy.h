// OutcomePolicy: what happens next, for each way an attempt can end. One table,
// which docs/outcomes.md prints; nothing else in the crawl decides about
// retries.
//
// Of the URL: it is done, is tried again after a wait that grows with each
// attempt, or is given up. Of the host: it is well, backs off, or is dead; only
// silence kills: a host that answers, be it with errors alone, is there. How
// long a host is left alone is for politeness to say, which counts what happens
// to it in a row, and keeps a wait that the server asks for (Retry-After, RFC
// 9110 s10.2.3) with any status: the host asked, not the URL.
//   In: an outcome, the status, what was tried before   Out: Next
//   Threads: any; pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/settings.h"
#include "item/fetch_outcome.h"

namespace nephila::item {

enum class UrlStep : uint8_t {
  kDone,    // it has its answer
  kRetry,   // again, until the attempts are used up
  kGiveUp,  // no attempt would change it
};

enum class HostStep : uint8_t {
  kNone,     // nothing was learned about the host
  kWell,     // it answers: trouble in a row is forgotten
  kBackOff,  // it is there, and asks for less
  kTrouble,  // it does not answer: backs off, and is dead after so many
             // silences in a row
  kDead,     // it is not there
};

// Classes of statuses that differ in what happens next.
enum class StatusClass : uint8_t {
  kSuccess,          // 2xx
  kNotModified,      // 304
  kRedirect,         // other 3xx
  kNotFound,         // 404
  kGone,             // 410
  kTryAgain,         // 408, 425
  kTooManyRequests,  // 429
  kClientError,      // other 4xx
  kNotServed,        // 501, 505
  kUnavailable,      // 503
  kServerError,      // other 5xx
  kOther,            // 1xx, 6xx and above
};
inline constexpr uint8_t kStatusClasses = 12;

StatusClass ClassOf(int status);

// A row of the table.
struct OutcomeRow {
  std::string_view name;  // "response 404", "timeout"
  UrlStep url;
  HostStep host;
  std::string_view why;
};

// In the order of FetchOutcome; kResponse is told apart by its status, so its
// row stands for none.
std::span<const OutcomeRow> OutcomeRows();
// In the order of StatusClass.
std::span<const OutcomeRow> StatusRows();
const OutcomeRow& RowFor(FetchOutcome outcome, int status);

std::string_view UrlStepName(UrlStep step);
std::string_view HostStepName(HostStep step);

struct Attempt {
  FetchOutcome outcome = FetchOutcome::kInternalError;
  int status = 0;        // with kResponse
  uint32_t attempt = 1;  // of this URL; the first is 1
  // With kRobotsUnreachable: until robots.txt will be asked for again.
  std::optional<std::chrono::nanoseconds> robots_wait;
  // With kTlsFailed: it was the certificate.
  bool certificate_refused = false;
};

struct Next {
  bool operator==(const Next&) const = default;

  UrlStep url = UrlStep::kGiveUp;
  // It is given up because its attempts are used up: log it as
  // kTooManyRetries.
  bool attempts_used_up = false;
  // With kRetry: the URL's own; its host may have to wait for longer.
  std::chrono::nanoseconds url_wait{};
  // Whether the next attempt has a higher number than this.
  bool attempt_counts = true;
  HostStep host = HostStep::kNone;  // of the row
};

Next WhatNext(const Attempt& attempt, const config::FetchSettings& settings);

}  // namespace nephila::item
