#include "store/record_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "store/digest_check.h"
#include "store/header_lines.h"
#include "store/http_message.h"

namespace nephila::store {
namespace {

bool IsArc(const WarcHeader& header) { return header.version() == "ARC/1"; }
// The drafts had other rules.
bool IsDraft(const WarcHeader& header) {
  return header.version().starts_with("0.");
}

bool NeedsTarget(RecordType type) {
  return type == RecordType::kResponse || type == RecordType::kResource ||
         type == RecordType::kRequest || type == RecordType::kRevisit ||
         type == RecordType::kConversion || type == RecordType::kContinuation;
}

// Of a revisit the payload is elsewhere, of a segment in several records.
bool HoldsItsPayload(const WarcHeader& header) {
  return header.type() != RecordType::kRevisit &&
         header.Find("WARC-Segment-Number") == nullptr;
}

bool IsHttp(const WarcHeader& header) {
  return header.content_type() == "application/http" &&
         (header.type() == RecordType::kResponse ||
          header.type() == RecordType::kRequest);
}

std::string_view Unbracketed(std::string_view id) {
  if (id.size() >= 2 && id.front() == '<' && id.back() == '>') {
    return id.substr(1, id.size() - 2);
  }
  return id;
}

}  // namespace

void RecordChecker::Error(uint64_t offset, std::string what) {
  sink_({Severity::kError, offset, std::move(what)});
}

void RecordChecker::Note(uint64_t offset, std::string what) {
  sink_({Severity::kNote, offset, std::move(what)});
}

void RecordChecker::CheckFields(const WarcReader& reader) {
  const WarcHeader& header = reader.header();
  uint64_t offset = reader.offset();
  if (header.malformed_lines() > 0) {
    Error(offset, fmt::format("{} lines of the header are no fields",
                              header.malformed_lines()));
  }
  if (header.version() != "1.0" && header.version() != "1.1" &&
      !IsDraft(header)) {
    Note(offset, "of a version unknown here: WARC/" + header.version());
  }
  for (std::string_view name :
       {"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length"}) {
    size_t count = header.Count(name);
    if (count == 0) Error(offset, fmt::format("no {}", name));
    if (count > 1) Error(offset, fmt::format("more than one {}", name));
  }
  if (header.Find("WARC-Date") != nullptr && !TimestampOf(header.date())) {
    Severity severity = IsDraft(header) ? Severity::kNote : Severity::kError;
    sink_({severity, offset,
           fmt::format("WARC-Date is no date: {}", header.date())});
  }
  if (NeedsTarget(header.type()) && header.target_uri().empty()) {
    Error(offset, fmt::format("a {} without WARC-Target-URI",
                              RecordTypeName(header.type())));
  }
  if (header.Get("WARC-Target-URI") != header.target_uri()) {
    Note(offset, "WARC-Target-URI stands in angle brackets");
  }
  if (reader.block_length() > 0 && header.content_type().empty() &&
      header.type() != RecordType::kContinuation) {
    Note(offset, "a block without Content-Type");
  }
  if (header.type() == RecordType::kRevisit) CheckRevisit(reader);
}

void RecordChecker::CheckRevisit(const WarcReader& reader) {
  const WarcHeader& header = reader.header();
  if (header.Get("WARC-Profile").empty()) {
    Error(reader.offset(), "a revisit without WARC-Profile");
  }
  // Without them replay finds no original (ISO 28500:2017 s6.7).
  if (header.Get("WARC-Refers-To-Target-URI").empty() ||
      header.Get("WARC-Refers-To-Date").empty()) {
    Note(reader.offset(),
         "a revisit that does not name the URI and date of its original");
  }
  std::string_view date = header.Get("WARC-Refers-To-Date");
  if (!date.empty() && !TimestampOf(date)) {
    Error(reader.offset(),
          fmt::format("WARC-Refers-To-Date is no date: {}", date));
  }
  if (!header.record_id().empty() &&
      header.GetUri("WARC-Refers-To") == header.record_id()) {
    Error(reader.offset(), "a revisit that refers to itself");
  }
}

void RecordChecker::CheckIds(const WarcReader& reader) {
  std::string_view id = reader.header().record_id();
  if (id.empty()) return;
  if (id.find(':') == std::string_view::npos) {
    Note(reader.offset(), fmt::format("WARC-Record-ID is no URI: {}", id));
  }
  uint64_t hash = id_hash_(id);
  if (ids_.contains(hash)) {
    Error(reader.offset(),
          fmt::format("WARC-Record-ID was there before: {}", id));
    return;
  }
  open_.erase(hash);
  if (ids_.size() >= options_.max_ids) {
    if (!std::exchange(full_, true)) {
      Note(reader.offset(), fmt::format("ids of more than {} records are not "
                                        "remembered: later ones that come "
                                        "twice are not found",
                                        options_.max_ids));
    }
    return;
  }
  ids_.insert(hash);
}

void RecordChecker::TakeReferences(const WarcReader& reader) {
  for (const WarcField& field : reader.header().fields()) {
    if (!EqualsIgnoreCase(field.name, "WARC-Concurrent-To")) continue;
    std::string_view id = Unbracketed(field.value);
    if (id == reader.header().record_id()) {
      Error(reader.offset(), "a record concurrent to itself");
    }
    uint64_t hash = id_hash_(id);
    if (full_ || ids_.contains(hash)) continue;
    if (open_.size() < options_.max_ids) open_.emplace(hash, reader.offset());
  }
}

Result<ReadState> RecordChecker::CheckDigests(WarcReader& reader) {
  const WarcHeader& header = reader.header();
  DigestCheck block(header.block_digest());
  DigestCheck payload(HoldsItsPayload(header) ? header.payload_digest() : "");
  DigestCheck raw(HoldsItsPayload(header) ? header.payload_digest() : "");
  bool is_http = IsHttp(header);
  HttpBlock http(header.type() == RecordType::kRequest ? HttpKind::kRequest
                                                       : HttpKind::kResponse);
  http.set_raw_sink([&](std::string_view piece) { raw.Add(piece); });
  auto take = [&](std::string_view piece) { payload.Add(piece); };
  while (true) {
    NEPHILA_TRY(std::string_view piece, reader.ReadBlock());
    if (piece.empty()) break;
    block.Add(piece);
    is_http ? http.Feed(piece, take) : take(piece);
  }
  if (is_http) http.Finish(take);
  NEPHILA_TRY(ReadState state, reader.Finish());
  if (state != ReadState::kRecord) return state;

  uint64_t offset = reader.offset();
  if (is_http && !http.has_head() && reader.block_length() > 0) {
    Note(offset, "the block does not begin with a head of HTTP");
  }
  if (block.known()) {
    ++digests_;
    if (!block.Matches()) Error(offset, "WARC-Block-Digest does not fit");
  } else if (!header.block_digest().empty()) {
    Note(offset, "WARC-Block-Digest cannot be read");
  }
  if (payload.known()) {
    ++digests_;
    bool fits = payload.Matches();
    if (!fits && is_http && raw.Matches()) {
      Note(offset, "WARC-Payload-Digest is over the chunked bytes");
    } else if (!fits) {
      Error(offset, "WARC-Payload-Digest does not fit");
    }
  } else if (HoldsItsPayload(header) && !header.payload_digest().empty()) {
    Note(offset, "WARC-Payload-Digest cannot be read");
  }
  return state;
}

Result<ReadState> RecordChecker::Check(WarcReader& reader) {
  NEPHILA_TRY(ReadState state, CheckDigests(reader));
  if (state != ReadState::kRecord || IsArc(reader.header())) return state;
  CheckFields(reader);
  CheckIds(reader);
  TakeReferences(reader);
  if (!reader.proper_end()) {
    Note(reader.offset(), "the record does not end with two CRLFs");
  }
  if (reader.shares_member()) {
    Note(reader.offset(), "the record shares its member with others");
  }
  return state;
}

void RecordChecker::Finish() {
  if (full_) return;
  std::vector<uint64_t> offsets;
  offsets.reserve(open_.size());
  for (const auto& [hash, offset] : open_) offsets.push_back(offset);
  std::sort(offsets.begin(), offsets.end());
  for (uint64_t offset : offsets) {
    Note(offset, "WARC-Concurrent-To names a record that is not in this file");
  }
}

}  // namespace nephila::store
