#include "fetch/fetch_result.h"

namespace nephila::fetch {
namespace {

// Results are used again and again: none may keep what one server sent.
void ClearText(std::string* text) {
  constexpr size_t kMostKept = 8192;
  if (text->capacity() > kMostKept) {
    std::string().swap(*text);
  } else {
    text->clear();
  }
}

}  // namespace

void FetchResult::Clear() {
  id = 0;
  kind = item::FetchKind::kPage;
  outcome = item::FetchOutcome::kInternalError;
  truncation = item::Truncation::kNone;
  ClearText(&url);
  status = 0;
  ClearText(&request);
  ClearText(&head);
  body.Clear();
  transfer_coding = item::TransferCoding::kRemoved;
  begin = {};
  begin_mono = end_mono = contact = {};
  timings = {};
  reused = kept = false;
  address = {};
  address_text.clear();
  port = 0;
  protocols = {};
  protocol_count = 0;
  cipher_suite.clear();
  certificate_error.clear();
  bytes_in = bytes_out = 0;
  ClearText(&error);
}

item::FetchedPage AsPage(const FetchResult& result) {
  item::FetchedPage page;
  page.kind = result.kind;
  page.outcome = result.outcome;
  page.url = result.url;
  page.begin = result.begin;
  page.duration = result.timings.total;
  page.ip_address = result.address_text;
  page.request = result.request;
  page.response_head = result.head;
  page.body = result.body.pieces();
  page.transfer_coding = result.transfer_coding;
  page.truncation = result.truncation;
  page.protocols = std::span(result.protocols).first(result.protocol_count);
  page.cipher_suite = result.cipher_suite;
  return page;
}

}  // namespace nephila::fetch
