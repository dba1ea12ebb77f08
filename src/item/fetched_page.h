// FetchedPage: a finished attempt, as `fetch` hands it to `store`: what was
// sent, what came back, and what is known about it.
//
// All views belong to the caller and must live until the call they are given to
// has returned; nothing is copied. The body is as it came over the wire except
// that chunks may be undone (`transfer_coding`): content codings are kept, for
// an archive keeps what the server sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "item/fetch_outcome.h"

namespace nephila::item {

enum class FetchKind : uint8_t {
  kPage,
  kRobots,
  kDns,  // url is "dns:host", the body the answer in the form of RFC 4027
};

// Why a body is not whole (ISO 28500:2017 s5.13).
enum class Truncation : uint8_t {
  kNone,
  kLength,
  kTime,
  kDisconnect,
  kUnspecified,
  kPool,  // it was slow, and the memory for bodies was used up
};

// As WARC-Truncated has it; "" for kNone.
std::string_view TruncationName(Truncation truncation);

enum class TransferCoding : uint8_t {
  kRemoved,  // the body is the payload
  kChunked,  // the body holds the chunks as they came (RFC 9112 s7.1)
};

// An earlier capture of the same URL, for a server that says "not modified".
struct EarlierCapture {
  std::string_view record_id;  // "urn:uuid:..."
  std::string_view url;
  WallTime date;
};

struct FetchedPage {
  FetchKind kind = FetchKind::kPage;
  FetchOutcome outcome = FetchOutcome::kInternalError;
  std::string_view url;
  // How we came to it: the page with the link, the kinds of the hops since the
  // seed as Heritrix has them ("LLR"), and the seed or its label.
  std::string_view via;
  std::string_view hop_path;
  std::string_view source_tag;

  WallTime begin{};  // of the request
  std::chrono::nanoseconds duration{};
  uint32_t attempt = 1;
  uint32_t thread = 0;
  // The address that was contacted, as text; for kDns the DNS server's.
  std::string_view ip_address;

  // With kResponse: the request as sent, the head of the response with its
  // empty line, and the body in its pieces.
  std::string_view request;
  std::string_view response_head;
  std::span<const std::string_view> body;
  TransferCoding transfer_coding = TransferCoding::kRemoved;
  Truncation truncation = Truncation::kNone;
  // As WARC-Protocol names them: "h2", "http/1.1", "tls/1.3".
  std::span<const std::string_view> protocols;
  std::string_view cipher_suite;
  // The media type that the bytes say, if they were asked.
  std::string_view identified_type;
  // With a 304: what the server was asked about.
  std::optional<EarlierCapture> earlier;
  // If they were counted before this is stored.
  std::optional<uint32_t> link_count;
  // Words for crawl.log.
  std::span<const std::string_view> annotations;
};

}  // namespace nephila::item
