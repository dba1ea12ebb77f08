#include "store/archive_units.h"

#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "store/http_message.h"

namespace nephila::store {
namespace {

// More of a metadata record is not one of ours.
constexpr size_t kMostMetadata = size_t{1} << 20;

template <typename Number>
Number NumberOf(std::string_view text, Number otherwise) {
  Number number = otherwise;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : otherwise;
}

// Lines of "name: value".
void TakeFields(std::string_view text, Unit* unit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = TrimSpaces(line.substr(colon + 1));
    if (name == "attempt") unit->attempt = NumberOf<uint32_t>(value, 1);
    if (name == "hopsFromSeed") unit->hop_path = value;
    if (name == "fetchTimeMs") unit->fetch_ms = value;
  }
}

}  // namespace

Result<std::unique_ptr<UnitReader>> UnitReader::Open(FileSystem& fs,
                                                     const std::string& path) {
  NEPHILA_TRY(auto reader, WarcReader::Open(fs, path));
  return std::unique_ptr<UnitReader>(new UnitReader(std::move(reader)));
}

Result<bool> UnitReader::Next(Unit* unit) {
  *unit = {};
  bool begun = false;
  while (true) {
    NEPHILA_TRY(const ReadState state, reader_->Next());
    if (state == ReadState::kEnd) return begun;
    bool is_over = false;
    bool whole = false;
    if (state == ReadState::kRecord) {
      if (!begun) unit->offset = reader_->offset();
      begun = true;
      NEPHILA_TRY(whole, TakeRecord(unit, &is_over));
      if (whole) unit->end = reader_->end();
    }
    if (is_over) return true;
    if (whole) continue;
    NEPHILA_TRY([[maybe_unused]] const bool found, reader_->Resync());
    unit->kind = UnitKind::kPartial;
    if (begun) return true;
  }
}

Result<bool> UnitReader::TakeRecord(Unit* unit, bool* is_over) {
  const RecordType type = reader_->header().type();
  ReadState state = ReadState::kBroken;
  if (type == RecordType::kResponse || type == RecordType::kRevisit) {
    NEPHILA_TRY(state, TakeResponse(unit));
  } else if (type == RecordType::kMetadata) {
    NEPHILA_TRY(state, TakeMetadata(unit));
    *is_over = state == ReadState::kRecord;
    const bool has_response = !unit->url.empty();
    if (*is_over && has_response) unit->kind = UnitKind::kFetch;
  } else {
    const bool alone =
        type == RecordType::kWarcinfo || type == RecordType::kResource;
    if (alone) {
      unit->url = reader_->header().target_uri();
      unit->date = reader_->header().date();
    }
    if (type == RecordType::kWarcinfo) {
      NEPHILA_TRY(unit->info, ReadFields());
    }
    NEPHILA_TRY(state, reader_->Finish());
    if (alone && state == ReadState::kRecord) {
      *is_over = true;
      unit->kind =
          type == RecordType::kWarcinfo ? UnitKind::kInfo : UnitKind::kName;
    }
  }
  return state == ReadState::kRecord;
}

Result<ReadState> UnitReader::TakeResponse(Unit* unit) {
  const WarcHeader& header = reader_->header();
  unit->url = header.target_uri();
  unit->date = header.date();
  unit->revisit = header.type() == RecordType::kRevisit;
  unit->payload_digest = header.payload_digest();
  HttpBlock http(HttpKind::kResponse);
  uint64_t payload = 0;
  const auto take = [&](std::string_view piece) { payload += piece.size(); };
  while (true) {
    NEPHILA_TRY(const std::string_view piece, reader_->ReadBlock());
    if (piece.empty()) break;
    http.Feed(piece, take);
  }
  http.Finish(take);
  if (http.has_head()) {
    unit->status = http.head().status;
    unit->retry_after = http.head().Get("Retry-After");
  }
  if (!unit->revisit) unit->payload_bytes = payload;
  return reader_->Finish();
}

Result<std::string> UnitReader::ReadFields() {
  std::string block;
  while (block.size() < kMostMetadata) {
    NEPHILA_TRY(const std::string_view piece, reader_->ReadBlock());
    if (piece.empty()) break;
    block.append(piece);
  }
  return block;
}

Result<ReadState> UnitReader::TakeMetadata(Unit* unit) {
  NEPHILA_TRY(const std::string block, ReadFields());
  TakeFields(block, unit);
  return reader_->Finish();
}

}  // namespace nephila::store
