// FetchResult: how a request ended, with every byte that was sent and came.
//
// It owns what it holds, the blocks of the body in the pool included, so it may
// travel to another thread; Clear keeps the memory of its texts, unless they
// were large.
//   Threads: one at a time.   Memory: the head and request, and the body's
//   blocks, which count against the pool until they are let go; so does a head
//   of more than kFreeHeadBytes (transfer.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "fetch/body_pool.h"
#include "item/fetch_outcome.h"
#include "item/fetched_page.h"
#include "net/ip_address.h"

namespace nephila::fetch {

// Since the beginning of the transfer; zero where it did not get there.
struct FetchTimings {
  std::chrono::nanoseconds connect{};     // TCP stands; zero if it was reused
  std::chrono::nanoseconds tls{};         // TLS stands
  std::chrono::nanoseconds request{};     // the request was handed to it
  std::chrono::nanoseconds first_byte{};  // the first line of the answer
  std::chrono::nanoseconds total{};
};

struct FetchResult {
  uint64_t id = 0;
  item::FetchKind kind = item::FetchKind::kPage;
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  item::Truncation truncation = item::Truncation::kNone;
  std::string url;
  int status = 0;  // of the final head; 0: none came

  // The request as it was sent, or would have been; over HTTP/2 as HTTP/1.1
  // would have it.
  std::string request;
  // The final head with its empty line, as received; over HTTP/2 as HTTP/1.1
  // would have it.
  std::string head;
  // As transferred: content coding and chunks are kept.
  Body body;
  item::TransferCoding transfer_coding = item::TransferCoding::kRemoved;

  WallTime begin{};
  MonoTime begin_mono{};
  MonoTime end_mono{};
  FetchTimings timings;
  // When the server has heard of us: the connection stood, or, if it was kept,
  // the answer began. Where neither came about, but something was sent, the
  // end. Zero: it has not.
  MonoTime contact{};
  bool reused = false;  // an earlier request's connection
  bool kept = false;    // left open for a later one
  // As the kernel has it, behind a proxy as it was told; none if there was no
  // connection.
  net::IpAddress address;
  std::string address_text;
  uint16_t port = 0;

  // What WARC-Protocol lists, constants: "h2", "tls/1.3".
  std::array<std::string_view, 2> protocols;
  size_t protocol_count = 0;
  std::string cipher_suite;
  // What is wrong with the server's certificate, "" if nothing is or nobody
  // looked. With `fetch.tls_errors = accept` a page can come all the same.
  std::string certificate_error;

  uint64_t bytes_in = 0;  // heads and body, without TLS and framing
  uint64_t bytes_out = 0;
  // What went wrong, for people; may hold bytes of the server.
  std::string error;

  void Clear();
};

// The result as `store` takes it, which has to outlive the page.
item::FetchedPage AsPage(const FetchResult& result);

}  // namespace nephila::fetch
