#include "fetch/judge.h"

#include <array>
#include <cerrno>

#include "base/check.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;

constexpr std::array<std::string_view, kStops> kStopNames = {
    "none",       "cancelled",  "guard",    "second-contact", "connect-time",
    "head-time",  "total-time", "too-slow", "head-size",      "not-http",
    "unwanted",   "length",     "pool",     "bad-request",    "no-ipv6",
    "no-sockets", "http1-only",
};

bool Says(std::string_view message, std::string_view what) {
  return message.find(what) != std::string_view::npos;
}

FetchOutcome NoConnection(const EndFacts& facts) {
  return facts.by_proxy && !facts.proxy_blames_server
             ? FetchOutcome::kProxyFailed
             : FetchOutcome::kConnectFailed;
}

Ending JudgeStop(const EndFacts& facts) {
  switch (facts.stop) {
    case Stop::kCancelled:
    case Stop::kNoSockets:
      return {FetchOutcome::kInterrupted};
    case Stop::kGuard:
      return {FetchOutcome::kAddressRefused};
    case Stop::kSecondContact:
    case Stop::kHttp1Only:
      return {FetchOutcome::kConnectionLost};
    case Stop::kNoIpv6:
      return {FetchOutcome::kConnectFailed};
    case Stop::kConnectTime:
      return {facts.connected ? FetchOutcome::kTimeout : NoConnection(facts)};
    case Stop::kHeadTime:
      return {FetchOutcome::kTimeout};
    case Stop::kTotalTime:
    case Stop::kTooSlow:
      if (!facts.head_complete) return {FetchOutcome::kTimeout};
      return {FetchOutcome::kResponse, Truncation::kTime};
    case Stop::kHeadSize:
      return {FetchOutcome::kHeadTooLarge};
    case Stop::kNotHttp:
      return {FetchOutcome::kBadResponse};
    case Stop::kUnwanted:
      return {FetchOutcome::kUnwanted};
    case Stop::kLength:
      return {FetchOutcome::kResponse, Truncation::kLength};
    case Stop::kPool:
      // It is the head that has no room.
      if (!facts.head_complete) return {FetchOutcome::kHeadTooLarge};
      return {FetchOutcome::kResponse, Truncation::kPool};
    case Stop::kNone:
    case Stop::kBadRequest:
      break;
  }
  return {FetchOutcome::kInternalError};
}

// After the final head: what has come is kept, whatever ended it.
Ending JudgeBody(const EndFacts& facts) {
  // Not the connection but the body's own form is broken.
  const bool broken =
      facts.code == CURLE_BAD_CONTENT_ENCODING || Says(facts.message, "chunk");
  if (facts.code == CURLE_OPERATION_TIMEDOUT) {
    return {FetchOutcome::kResponse, Truncation::kTime};
  }
  return {FetchOutcome::kResponse,
          broken ? Truncation::kUnspecified : Truncation::kDisconnect};
}

FetchOutcome JudgeHeadless(const EndFacts& facts) {
  switch (facts.code) {
    case CURLE_COULDNT_CONNECT:
      if (IsOurShortage(facts.os_error)) return FetchOutcome::kInterrupted;
      return NoConnection(facts);
    case CURLE_PROXY:
      return NoConnection(facts);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_URL_MALFORMAT:
      return FetchOutcome::kConnectFailed;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return FetchOutcome::kTlsFailed;
    case CURLE_OPERATION_TIMEDOUT:
      return facts.connected ? FetchOutcome::kTimeout
                             : FetchOutcome::kConnectFailed;
    case CURLE_OK:  // an end inside the head
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
      if (!facts.connected) return NoConnection(facts);
      return Says(facts.message, "Too large response headers")
                 ? FetchOutcome::kHeadTooLarge
                 : FetchOutcome::kConnectionLost;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return FetchOutcome::kBadResponse;
    // libcurl's word for a line of a head beyond its own bound.
    case CURLE_OUT_OF_MEMORY:
      return facts.connected ? FetchOutcome::kHeadTooLarge
                             : FetchOutcome::kInternalError;
    default:
      return FetchOutcome::kInternalError;
  }
}

}  // namespace

bool IsOurShortage(int os_error) {
  // EADDRNOTAVAIL: no port is free for another connection (connect(2)).
  return os_error == EMFILE || os_error == ENFILE || os_error == ENOBUFS ||
         os_error == ENOMEM || os_error == EADDRNOTAVAIL;
}

std::string_view StopName(Stop stop) {
  const auto index = static_cast<size_t>(stop);
  NEPHILA_CHECK(index < kStopNames.size());
  return kStopNames[index];
}

Ending Judge(const EndFacts& facts) {
  if (facts.stop != Stop::kNone) return JudgeStop(facts);
  if (!facts.head_complete) return {JudgeHeadless(facts)};
  if (facts.code == CURLE_OK) return {FetchOutcome::kResponse};
  return JudgeBody(facts);
}

}  // namespace nephila::fetch
