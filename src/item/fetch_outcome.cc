#include "item/fetch_outcome.h"

#include "base/check.h"

namespace nephila::item {

std::string_view FetchOutcomeName(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kResponse:
      return "response";
    case FetchOutcome::kDnsAnswer:
      return "dns-answer";
    case FetchOutcome::kDnsFailed:
      return "dns-failed";
    case FetchOutcome::kConnectFailed:
      return "connect-failed";
    case FetchOutcome::kTlsFailed:
      return "tls-failed";
    case FetchOutcome::kConnectionLost:
      return "connection-lost";
    case FetchOutcome::kTimeout:
      return "timeout";
    case FetchOutcome::kBadResponse:
      return "bad-response";
    case FetchOutcome::kAddressRefused:
      return "address-refused";
    case FetchOutcome::kRobotsDenied:
      return "robots-denied";
    case FetchOutcome::kRobotsUnreachable:
      return "robots-unreachable";
    case FetchOutcome::kOutOfScope:
      return "out-of-scope";
    case FetchOutcome::kBlocked:
      return "blocked";
    case FetchOutcome::kOverBudget:
      return "over-budget";
    case FetchOutcome::kTooManyRetries:
      return "too-many-retries";
    case FetchOutcome::kInterrupted:
      return "interrupted";
    case FetchOutcome::kInternalError:
      return "internal-error";
    case FetchOutcome::kUnwanted:
      return "unwanted";
    case FetchOutcome::kTooManyRedirects:
      return "too-many-redirects";
    case FetchOutcome::kHeadTooLarge:
      return "head-too-large";
    case FetchOutcome::kNoSuchHost:
      return "no-such-host";
    case FetchOutcome::kProxyFailed:
      return "proxy-failed";
    case FetchOutcome::kHostDead:
      return "host-dead";
  }
  NEPHILA_CHECK(false);
}

}  // namespace nephila::item
