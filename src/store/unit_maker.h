// UnitMaker: the WARC records of one fetch: request, response (or revisit) and
// metadata, or a resource for an answer of the DNS.
//
// Request and metadata name the response by WARC-Concurrent-To, and the
// metadata is the last, always: by it a restart knows a whole unit. Block and
// payload digest are taken in one pass; the payload is the body with chunks
// undone and content codings kept (ISO 28500:2017 s5.9). Heads of HTTP/2 and 3
// are written as HTTP/1.1, as readers expect, and WARC-Protocol says what was
// spoken. Where the fetcher has undone chunks, Transfer-Encoding is renamed
// X-Crawl-Transfer-Encoding, as Common Crawl does, for the body that follows
// has none.
//
// Credentials in requests can be redacted; digests are of what is written. A
// response is never altered so, for its digest vouches for the server's bytes.
//
// Bytes from the web cannot make fields of their own: controls in values are
// replaced, and a target URI's are escaped. Threads: one; parts are reused.
// Memory: heads; bodies are not copied. Cost: linear in the page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "item/fetched_page.h"
#include "store/digest.h"
#include "store/http_message.h"
#include "store/warc_writer.h"

namespace nephila::store {

// A record that a revisit refers to.
struct Original {
  bool operator==(const Original&) const = default;
  std::string record_id;  // "urn:uuid:..."
  std::string url;
  WallTime date{};
  // Where its unit is.
  uint32_t stream = 0;
  Position begin{};
  uint64_t bytes = 0;
};

class UnitMaker {
 public:
  // `redact_cookies`: as the setting store.redact_cookies says.
  explicit UnitMaker(DigestKind digest, bool redact_cookies = false)
      : digester_(digest), redact_cookies_(redact_cookies) {}

  // What has to be known before it is decided whether a page is a revisit.
  struct Payload {
    Digest digest;
    uint64_t bytes = 0;
  };
  // Takes up a page and reads it once. Records and views refer to it and to
  // this until the next Begin. REQUIRES: outcome kResponse or kDnsAnswer.
  const Payload& Begin(const item::FetchedPage& page);

  // The head of the response; null for the DNS and for what is no HTTP.
  const HttpHead* head() const { return head_ ? &*head_ : nullptr; }
  // After Records: of the response, revisit or resource.
  const std::string& record_id() const { return main_id_; }
  // After Records: whether it is a revisit, for either reason.
  bool revisit() const { return revisit_; }

  // The records, ready for the writer, which also gives their ids. `original`,
  // if there is one, has the same payload. Call once per Begin.
  std::span<const NewRecord> Records(WarcWriter& writer,
                                     const std::optional<Original>& original);

 private:
  void ReadHead();
  void TakeDigests();
  std::string SmallDigest(std::string_view block);
  WarcHeader CommonHeader(std::string_view type, std::string_view id) const;
  void AddConnection(WarcHeader* header) const;
  NewRecord Request(std::string_view id);
  NewRecord Response(const std::optional<Original>& original);
  NewRecord Revisit(const Original& original, std::string_view profile);
  NewRecord Resource();
  NewRecord MetadataRecord(std::string_view id);
  bool NotModified() const;

  BlockDigester digester_;
  const bool redact_cookies_;
  const item::FetchedPage* page_ = nullptr;
  std::string date_;
  std::string target_;
  std::string request_text_;
  std::string head_text_;  // of the response, as it is written
  std::optional<HttpHead> head_;
  std::string metadata_;
  Payload payload_;
  Digest block_digest_;
  bool incompressible_ = false;
  bool revisit_ = false;
  std::string main_id_;
  std::vector<std::string_view> main_block_;
  std::string_view request_block_[1];
  std::string_view head_block_[1];
  std::string_view metadata_block_[1];
  std::vector<NewRecord> records_;
};

}  // namespace nephila::store
