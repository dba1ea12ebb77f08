#include "fetch/judge.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;

TEST(Judge, EveryStopHasANameAndAnOutcome) {
  std::set<std::string_view> names;
  for (uint8_t i = 0; i < kStops; ++i) {
    const auto stop = static_cast<Stop>(i);
    EXPECT_TRUE(names.insert(StopName(stop)).second);
    const Ending ending = Judge({.stop = stop, .head_complete = true});
    EXPECT_EQ(ending.outcome == FetchOutcome::kInternalError,
              stop == Stop::kBadRequest)
        << StopName(stop);
  }
}

TEST(Judge, OnlyResponsesAreTruncated) {
  for (int code = 0; code < CURL_LAST; ++code) {
    for (const bool head : {false, true}) {
      for (uint8_t stop = 0; stop < kStops; ++stop) {
        const Ending ending = Judge({.code = static_cast<CURLcode>(code),
                                     .stop = static_cast<Stop>(stop),
                                     .connected = true,
                                     .head_complete = head});
        if (ending.outcome != FetchOutcome::kResponse) {
          EXPECT_EQ(ending.truncation, Truncation::kNone);
        }
      }
    }
  }
}

TEST(Judge, WhatCameBeforeAnErrorIsKept) {
  for (int code = 1; code < CURL_LAST; ++code) {
    const Ending ending =
        Judge({.code = static_cast<CURLcode>(code), .head_complete = true});
    EXPECT_EQ(ending.outcome, FetchOutcome::kResponse);
    EXPECT_NE(ending.truncation, Truncation::kNone);
  }
}

TEST(Judge, TellsFaultsOfTheServerFromThoseOfTheProxy) {
  EXPECT_EQ(Judge({.code = CURLE_COULDNT_CONNECT}).outcome,
            FetchOutcome::kConnectFailed);
  EXPECT_EQ(Judge({.code = CURLE_COULDNT_CONNECT, .by_proxy = true}).outcome,
            FetchOutcome::kProxyFailed);
  EXPECT_EQ(
      Judge(
          {.code = CURLE_PROXY, .by_proxy = true, .proxy_blames_server = true})
          .outcome,
      FetchOutcome::kConnectFailed);
  EXPECT_EQ(Judge({.code = CURLE_RECV_ERROR, .connected = true}).outcome,
            FetchOutcome::kConnectionLost);
}

TEST(Judge, WhatWeLackIsNotTheServersFault) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL}) {
    EXPECT_EQ(Judge({.code = CURLE_COULDNT_CONNECT, .os_error = error}).outcome,
              FetchOutcome::kInterrupted);
  }
  for (const int error : {0, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH}) {
    EXPECT_EQ(Judge({.code = CURLE_COULDNT_CONNECT, .os_error = error}).outcome,
              FetchOutcome::kConnectFailed);
  }
}

TEST(Judge, TellsBrokenChunksFromALostConnection) {
  const auto truncation = [](std::string_view message) {
    return Judge({.code = CURLE_RECV_ERROR,
                  .connected = true,
                  .head_complete = true,
                  .message = message})
        .truncation;
  };
  EXPECT_EQ(truncation("Illegal or missing hexadecimal sequence in "
                       "chunked-encoding"),
            Truncation::kUnspecified);
  EXPECT_EQ(truncation("Recv failure: Connection reset by peer"),
            Truncation::kDisconnect);
}

}  // namespace
}  // namespace nephila::fetch
