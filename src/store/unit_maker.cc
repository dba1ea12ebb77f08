#include "store/unit_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "store/archive_name.h"
#include "store/header_lines.h"
#include "store/incompressible.h"

namespace nephila::store {
namespace {

using item::FetchedPage;

constexpr std::string_view kIdenticalPayload =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
constexpr std::string_view kNotModifiedProfile =
    "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
constexpr int kNotModifiedStatus = 304;

std::string Bracketed(std::string_view id) {
  return std::string("<").append(id).append(">");
}

// Everything that is not visible ASCII percent-encoded: a URI is one word
// without brackets.
std::string UriText(std::string_view url) {
  const auto is_plain = [](char c) {
    return c > ' ' && c < 0x7F && c != '<' && c != '>';
  };
  if (std::ranges::all_of(url, is_plain)) return std::string(url);
  std::string text;
  text.reserve(url.size());
  for (const char c : url) {
    if (is_plain(c)) {
      text += c;
    } else {
      text += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return text;
}

// "HTTP/1.1" for a version from 2 on, which begins a status line and ends a
// request line.
void AppendFirstLine(std::string_view line, std::string* out) {
  constexpr std::string_view kName = "HTTP/";
  const std::string_view trimmed = TrimSpace(line.substr(0, line.find('\n')));
  size_t at = 0;
  if (!line.starts_with(kName)) at = trimmed.rfind(' ') + 1;
  const std::string_view version =
      line.substr(at, line.find_first_of(" \r\n", at) - at);
  if (!version.starts_with("HTTP/2") && !version.starts_with("HTTP/3")) {
    out->append(line);
    return;
  }
  out->append(line.substr(0, at)).append("HTTP/1.1");
  out->append(line.substr(at + version.size()));
}

// A head as it is written: see unit_maker.h.
std::string HeadText(std::string_view head, bool chunks_undone) {
  constexpr std::string_view kTransfer = "Transfer-Encoding:";
  std::string text;
  text.reserve(head.size() + 16);
  bool first = true;
  bool ended = false;
  while (!head.empty() && !ended) {
    const size_t end = std::min(head.find('\n'), head.size() - 1) + 1;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end);
    // Nothing else: a line of blanks goes on with the one before it.
    ended = line == "\r\n" || line == "\n";
    if (first) {
      AppendFirstLine(line, &text);
    } else {
      if (chunks_undone &&
          EqualsIgnoreCase(line.substr(0, kTransfer.size()), kTransfer)) {
        text += "X-Crawl-";
      }
      text += line;
    }
    first = false;
  }
  // A head that was cut off: the body has to begin behind an empty line.
  if (!text.ends_with('\n')) text += "\r\n";
  if (!ended) text += "\r\n";
  return text;
}

bool IsCredential(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  for (const std::string_view one :
       {"Cookie", "Cookie2", "Authorization", "Proxy-Authorization"}) {
    if (EqualsIgnoreCase(TrimSpace(name), one)) return true;
  }
  return false;
}

// Appends the fields of a request, which begin with the end of the line before
// them, with the values of credentials replaced.
void AppendRedacted(std::string_view fields, std::string* out) {
  bool redacting = false;
  bool in_head = true;
  bool first = true;
  while (!fields.empty()) {
    const size_t end = std::min(fields.find('\n'), fields.size() - 1) + 1;
    const std::string_view line = fields.substr(0, end);
    fields.remove_prefix(end);
    if (!first && (line == "\r\n" || line == "\n")) in_head = false;
    first = false;
    // A folded line goes on with the field before it.
    const bool folded = line.starts_with(' ') || line.starts_with('\t');
    if (in_head && folded && redacting) continue;
    redacting = in_head && !folded && IsCredential(line);
    if (!redacting) {
      out->append(line);
      continue;
    }
    out->append(line.substr(0, line.find(':'))).append(": [redacted]");
    out->append(line.ends_with("\r\n") ? "\r\n" : "\n");
  }
}

void AppendField(std::string_view name, std::string_view value,
                 std::string* out) {
  if (value.empty()) return;
  out->append(name).append(": ");
  for (const char c : value) {
    *out += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  out->append("\r\n");
}

// A piece that says something about the body: the first large one.
std::string_view SampleOf(std::span<const std::string_view> body) {
  for (const std::string_view piece : body) {
    if (piece.size() >= kSampleBytes) return piece;
  }
  return body.empty() ? std::string_view() : body.front();
}

}  // namespace

const UnitMaker::Payload& UnitMaker::Begin(const FetchedPage& page) {
  page_ = &page;
  records_.clear();
  main_id_.clear();
  revisit_ = false;
  date_ = WarcDate(page.begin);
  target_ = UriText(page.url);
  head_.reset();
  head_text_.clear();
  request_text_.clear();
  if (page.kind != item::FetchKind::kDns) ReadHead();
  TakeDigests();
  return payload_;
}

void UnitMaker::ReadHead() {
  const bool undone = page_->transfer_coding == item::TransferCoding::kRemoved;
  head_text_ = HeadText(page_->response_head, undone);
  if (!page_->request.empty()) {
    const size_t end = page_->request.find('\n');
    AppendFirstLine(page_->request.substr(0, end), &request_text_);
    if (end != std::string_view::npos) {
      const std::string_view fields = page_->request.substr(end);
      if (redact_cookies_) {
        AppendRedacted(fields, &request_text_);
      } else {
        request_text_ += fields;
      }
    }
  }
  auto head = ParseHttpHead(head_text_, HttpKind::kResponse);
  if (head) head_ = *std::move(head);
}

void UnitMaker::TakeDigests() {
  digester_.Begin();
  payload_.bytes = 0;
  // Of what is no HTTP all is payload: no reader can tell where it begins.
  const bool opaque = page_->kind != item::FetchKind::kDns && !head_;
  if (opaque) {
    digester_.AddToBoth(head_text_);
    payload_.bytes = head_text_.size();
  } else {
    digester_.AddToBlock(head_text_);
  }
  if (!opaque && page_->transfer_coding == item::TransferCoding::kChunked) {
    ChunkedDecoder decoder;
    const ByteSink sink = [this](std::string_view piece) {
      digester_.AddToPayload(piece);
      payload_.bytes += piece.size();
    };
    for (const std::string_view piece : page_->body) {
      digester_.AddToBlock(piece);
      decoder.Feed(piece, sink);
    }
    // What is wrong with the coding stays as it came.
    static_cast<void>(decoder.Finish(sink));
  } else {
    for (const std::string_view piece : page_->body) {
      digester_.AddToBoth(piece);
      payload_.bytes += piece.size();
    }
  }
  const BlockDigester::Digests digests = digester_.End();
  block_digest_ = digests.block;
  payload_.digest = digests.payload;
  incompressible_ = LooksIncompressible(
      head_ ? head_->Get("Content-Type") : std::string_view(),
      head_ ? head_->Get("Content-Encoding") : std::string_view(),
      SampleOf(page_->body));
}

std::string UnitMaker::SmallDigest(std::string_view block) {
  digester_.Begin();
  digester_.AddToBoth(block);
  return digester_.End().block.Text();
}

WarcHeader UnitMaker::CommonHeader(std::string_view type,
                                   std::string_view id) const {
  WarcHeader header;
  header.Reset("1.1");
  header.Add("WARC-Type", type);
  header.Add("WARC-Record-ID", Bracketed(id));
  header.Add("WARC-Date", date_);
  header.Add("WARC-Target-URI", target_);
  return header;
}

void UnitMaker::AddConnection(WarcHeader* header) const {
  if (!page_->ip_address.empty()) {
    header->Add("WARC-IP-Address", page_->ip_address);
  }
  for (const std::string_view protocol : page_->protocols) {
    header->Add("WARC-Protocol", protocol);
  }
  if (!page_->cipher_suite.empty()) {
    header->Add("WARC-Cipher-Suite", page_->cipher_suite);
  }
}

bool UnitMaker::NotModified() const {
  return head_ && head_->status == kNotModifiedStatus &&
         page_->earlier.has_value();
}

NewRecord UnitMaker::Request(std::string_view id) {
  NewRecord record;
  record.header = CommonHeader("request", id);
  AddConnection(&record.header);
  record.header.Add("WARC-Concurrent-To", Bracketed(main_id_));
  record.header.Add("WARC-Block-Digest", SmallDigest(request_text_));
  record.header.Add("Content-Type", "application/http; msgtype=request");
  request_block_[0] = request_text_;
  record.block = request_block_;
  return record;
}

NewRecord UnitMaker::Revisit(const Original& original,
                             std::string_view profile) {
  revisit_ = true;
  NewRecord record;
  record.header = CommonHeader("revisit", main_id_);
  AddConnection(&record.header);
  record.header.Add("WARC-Profile", profile);
  if (!original.record_id.empty()) {
    record.header.Add("WARC-Refers-To", Bracketed(original.record_id));
  }
  record.header.Add("WARC-Refers-To-Target-URI", UriText(original.url));
  record.header.Add("WARC-Refers-To-Date", WarcDate(original.date));
  record.header.Add("WARC-Block-Digest", SmallDigest(head_text_));
  if (profile == kIdenticalPayload) {
    record.header.Add("WARC-Payload-Digest", payload_.digest.Text());
    // The payload is left out (ISO 28500:2017 s6.7.2).
    record.header.Add("WARC-Truncated", "length");
  }
  record.header.Add("Content-Type", "application/http; msgtype=response");
  head_block_[0] = head_text_;
  record.block = head_block_;
  record.http = head();
  return record;
}

NewRecord UnitMaker::Response(const std::optional<Original>& original) {
  if (NotModified()) {
    const item::EarlierCapture& earlier = *page_->earlier;
    return Revisit({std::string(earlier.record_id), std::string(earlier.url),
                    earlier.date},
                   kNotModifiedProfile);
  }
  if (original) return Revisit(*original, kIdenticalPayload);
  NewRecord record;
  record.header = CommonHeader("response", main_id_);
  AddConnection(&record.header);
  record.header.Add("WARC-Block-Digest", block_digest_.Text());
  record.header.Add("WARC-Payload-Digest", payload_.digest.Text());
  if (!page_->identified_type.empty()) {
    record.header.Add("WARC-Identified-Payload-Type", page_->identified_type);
  }
  if (page_->truncation != item::Truncation::kNone) {
    record.header.Add("WARC-Truncated",
                      item::TruncationName(page_->truncation));
  }
  record.header.Add("Content-Type", "application/http; msgtype=response");
  main_block_.assign(1, head_text_);
  main_block_.insert(main_block_.end(), page_->body.begin(), page_->body.end());
  record.block = main_block_;
  if (incompressible_) record.store_from = 1;
  record.http = head();
  return record;
}

NewRecord UnitMaker::Resource() {
  NewRecord record;
  record.header = CommonHeader("resource", main_id_);
  AddConnection(&record.header);
  record.header.Add("WARC-Block-Digest", block_digest_.Text());
  record.header.Add("WARC-Payload-Digest", payload_.digest.Text());
  record.header.Add("Content-Type", "text/dns");
  record.block = page_->body;
  return record;
}

// Names as Heritrix and Common Crawl have them.
NewRecord UnitMaker::MetadataRecord(std::string_view id) {
  const auto millis =
      std::chrono::floor<std::chrono::milliseconds>(page_->duration);
  metadata_.clear();
  AppendField("fetchTimeMs", std::to_string(millis.count()), &metadata_);
  AppendField("via", page_->via, &metadata_);
  AppendField("hopsFromSeed", page_->hop_path, &metadata_);
  AppendField("sourceTag", page_->source_tag, &metadata_);
  if (page_->attempt > 1) {
    AppendField("attempt", std::to_string(page_->attempt), &metadata_);
  }
  if (page_->link_count) {
    AppendField("linkCount", std::to_string(*page_->link_count), &metadata_);
  }
  NewRecord record;
  record.header = CommonHeader("metadata", id);
  record.header.Add("WARC-Concurrent-To", Bracketed(main_id_));
  record.header.Add("WARC-Block-Digest", SmallDigest(metadata_));
  record.header.Add("Content-Type", "application/warc-fields");
  metadata_block_[0] = metadata_;
  record.block = metadata_block_;
  return record;
}

std::span<const NewRecord> UnitMaker::Records(
    WarcWriter& writer, const std::optional<Original>& original) {
  NEPHILA_CHECK(page_ != nullptr);
  records_.clear();
  if (page_->kind == item::FetchKind::kDns) {
    main_id_ = writer.NewRecordId();
    records_.push_back(Resource());
    return records_;
  }
  const std::string request_id = writer.NewRecordId();
  main_id_ = writer.NewRecordId();
  if (!request_text_.empty()) records_.push_back(Request(request_id));
  records_.push_back(Response(original));
  records_.push_back(MetadataRecord(writer.NewRecordId()));
  return records_;
}

}  // namespace nephila::store
