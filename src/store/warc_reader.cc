#include "store/warc_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/arc_record.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

// Most line ends that are taken for the end of a record: some tools write one
// CRLF more, or one less.
constexpr size_t kMostEndBytes = 8;

bool IsLineEnd(char c) { return c == '\r' || c == '\n'; }

}  // namespace

Result<std::unique_ptr<WarcReader>> WarcReader::Open(
    FileSystem& fs, const std::string& path, const ReaderOptions& options) {
  NEPHILA_TRY(auto members, MemberReader::Open(fs, path, options.member));
  std::unique_ptr<WarcReader> reader(
      new WarcReader(std::move(members), options));
  NEPHILA_RETURN_IF_ERROR(reader->DetectArc());
  return reader;
}

// The first record tells, wherever reading begins.
Status WarcReader::DetectArc() {
  std::string start;
  MemberStep step = MemberStep::kBytes;
  while (step == MemberStep::kBytes && start.size() < kArcStart.size()) {
    NEPHILA_TRY(step, members_->Read(&start));
  }
  arc_ = start.starts_with(kArcStart);
  Seek(0);
  return {};
}

uint64_t WarcReader::Here() const {
  return plain() ? members_->offset() + buffer_offset_ + position_
                 : members_->offset();
}

Result<MemberStep> WarcReader::Fill() {
  if (position_ > 0) {
    buffer_.erase(0, position_);
    buffer_offset_ += position_;
    position_ = 0;
  }
  return members_->Read(&buffer_);
}

ReadState WarcReader::Damage(ReadState state, uint64_t offset,
                             std::string what) {
  damage_state_ = state;
  damage_offset_ = offset;
  damage_ = std::move(what);
  in_record_ = false;
  return state;
}

// A member that ends too early is as broken as one that cannot be read; of a
// file that is not compressed the end of the member is that of the file.
ReadState WarcReader::DamageOf(MemberStep step, std::string_view where) {
  uint64_t offset = in_record_ ? offset_ : Here();
  switch (step) {
    case MemberStep::kTorn:
      return Damage(ReadState::kTorn, offset, members_->problem());
    case MemberStep::kBroken:
      return Damage(ReadState::kBroken, offset, members_->problem());
    case MemberStep::kBytes:
    case MemberStep::kEnd:
    case MemberStep::kFileEnd:
      break;
  }
  if (plain()) {
    return Damage(ReadState::kTorn, offset,
                  fmt::format("the file ends in the {}", where));
  }
  return Damage(ReadState::kBroken, offset,
                fmt::format("{} cut short: its member ends before", where));
}

void WarcReader::Seek(uint64_t offset) {
  members_->Seek(offset);
  buffer_.clear();
  position_ = 0;
  buffer_offset_ = 0;
  place_ = Place::kMemberStart;
  in_record_ = false;
  leading_ends_ = 0;
  records_in_member_ = 0;
  missing_end_bytes_ = 0;
  damage_state_ = ReadState::kEnd;
}

Result<ReadState> WarcReader::NextMember() {
  while (true) {
    NEPHILA_TRY(MemberStep step, Fill());
    // Tools that cut an archive in the wrong place leave the end of a record
    // in the member of the next.
    while (leading_ends_ < kMostEndBytes && !rest().empty() &&
           IsLineEnd(rest()[0])) {
      Consume(1);
      ++leading_ends_;
    }
    if (!rest().empty()) return BeginRecord();
    if (step == MemberStep::kBytes) continue;
    if (step == MemberStep::kFileEnd) {
      place_ = Place::kDone;
      return ReadState::kEnd;
    }
    if (step != MemberStep::kEnd) return DamageOf(step, "member");
    if (plain()) {
      place_ = Place::kDone;
      return ReadState::kEnd;
    }
    // Without a byte in it: a skippable frame, a gzip member that ends a file.
    Seek(members_->position());
  }
}

Result<ReadState> WarcReader::Next() {
  if (in_record_) {
    NEPHILA_TRY(ReadState state, Finish());
    if (state != ReadState::kRecord) return state;
  }
  if (damage_state_ != ReadState::kEnd) return damage_state_;
  in_record_ = false;
  if (place_ == Place::kDone) return ReadState::kEnd;
  if (place_ == Place::kMemberStart) return NextMember();
  return BeginRecord();
}

Result<ReadState> WarcReader::BeginRecord() {
  offset_ = Here();
  offset_in_member_ = plain() ? 0 : buffer_offset_ + position_;
  ++records_in_member_;
  in_record_ = true;
  place_ = Place::kBlock;
  proper_end_ = false;
  piece_ = 0;
  return ReadHeader();
}

Result<ReadState> WarcReader::ReadHeader() {
  size_t seen = 0;
  while (true) {
    auto length = arc_
                      ? FindArcHeader(rest(), options_.max_header_bytes)
                      : FindWarcHeader(rest(), seen, options_.max_header_bytes);
    if (length) return TakeHeader(*length);
    if (length.error() != HeaderError::kIncomplete) {
      return Damage(ReadState::kBroken, offset_,
                    std::string(HeaderErrorText(length.error())));
    }
    seen = rest().size();
    NEPHILA_TRY(MemberStep step, Fill());
    if (step != MemberStep::kBytes) return DamageOf(step, "header");
  }
}

ReadState WarcReader::TakeHeader(size_t length) {
  std::string_view text = rest().substr(0, length);
  auto parsed =
      arc_ ? ParseArcHeader(text, &header_)
           : ParseWarcHeader(text, options_.max_header_bytes, &header_);
  if (!parsed) {
    return Damage(ReadState::kBroken, offset_,
                  std::string(HeaderErrorText(parsed.error())));
  }
  auto block = header_.content_length();
  if (!block) {
    return Damage(ReadState::kBroken, offset_,
                  header_.Find("Content-Length") == nullptr
                      ? "no Content-Length"
                      : "a Content-Length that is no number");
  }
  Consume(length);
  block_length_ = block_left_ = *block;
  return ReadState::kRecord;
}

Result<std::string_view> WarcReader::ReadBlock() {
  if (!in_record_) return std::string_view();
  Consume(std::exchange(piece_, 0));
  if (block_left_ == 0) return std::string_view();
  if (rest().empty()) {
    NEPHILA_TRY(MemberStep step, Fill());
    if (step != MemberStep::kBytes) {
      DamageOf(step, "block");
      return std::string_view();
    }
  }
  piece_ = static_cast<size_t>(std::min<uint64_t>(block_left_, rest().size()));
  block_left_ -= piece_;
  return rest().substr(0, piece_);
}

Result<bool> WarcReader::BlockFits() {
  uint64_t left = block_left_ + piece_;
  if (!plain() || left <= rest().size()) return true;
  NEPHILA_TRY(uint64_t size, FileSize());
  uint64_t here = Here();
  return here <= size && left <= size - here;
}

Result<ReadState> WarcReader::Finish() {
  if (damage_state_ != ReadState::kEnd) return damage_state_;
  NEPHILA_CHECK(in_record_);
  if (place_ != Place::kBlock) return ReadState::kRecord;
  NEPHILA_TRY(bool fits, BlockFits());
  if (!fits) return DamageOf(MemberStep::kEnd, "block");
  while (true) {
    NEPHILA_TRY(std::string_view piece, ReadBlock());
    if (piece.empty()) break;
  }
  if (damage_state_ != ReadState::kEnd) return damage_state_;
  return FinishEnd();
}

// The line ends behind the block, and whether the member goes on.
Result<ReadState> WarcReader::FinishEnd() {
  std::string ends;
  MemberStep step = MemberStep::kBytes;
  while (true) {
    if (rest().empty()) {
      NEPHILA_TRY(step, Fill());
      if (step != MemberStep::kBytes) break;
    }
    if (!IsLineEnd(rest()[0]) || ends.size() == kMostEndBytes) break;
    ends += rest()[0];
    Consume(1);
  }
  if (step == MemberStep::kTorn || step == MemberStep::kBroken) {
    return DamageOf(step, "record");
  }
  proper_end_ = ends == kRecordEnd || (arc_ && ends == "\n");
  bool ended = step != MemberStep::kBytes;
  lacks_end_ = plain() && !arc_ && ends.size() < kRecordEnd.size() &&
               kRecordEnd.starts_with(ends);
  if (ended && lacks_end_) {
    missing_end_bytes_ = kRecordEnd.size() - ends.size();
    return DamageOf(step, "end of the record");
  }
  if (ended && !plain()) {
    end_ = members_->position();
    shares_member_ = records_in_member_ > 1;
    Seek(end_);
    in_record_ = true;
  } else if (ended) {
    end_ = Here();
    shares_member_ = false;
    place_ = Place::kDone;
  } else {
    NEPHILA_TRY(bool another, RecordFollows());
    if (!another) return damage_state_;
    shares_member_ = !plain();
    end_ = plain() ? Here() : members_->position();
    place_ = Place::kBetween;
  }
  return ReadState::kRecord;
}

// In a compressed member: bytes that are no record come from a length that
// lies, or from damage that its checksum will show, so this record cannot be
// trusted either. Where nothing is compressed the next record will tell.
Result<bool> WarcReader::RecordFollows() {
  constexpr std::string_view kStart = "WARC/";
  if (plain() || arc_) return true;
  while (rest().size() < kStart.size()) {
    NEPHILA_TRY(MemberStep step, Fill());
    if (step != MemberStep::kBytes) break;
  }
  if (rest().starts_with(kStart)) return true;
  // The member's own complaint is the better one.
  MemberStep step = MemberStep::kBytes;
  while (step == MemberStep::kBytes) {
    Consume(rest().size());
    NEPHILA_TRY(step, Fill());
  }
  if (step == MemberStep::kEnd) {
    Damage(ReadState::kBroken, offset_,
           "bytes behind the record that are no record");
  } else {
    DamageOf(step, "record");
  }
  return false;
}

Result<bool> WarcReader::Resync() {
  NEPHILA_CHECK(damage_state_ != ReadState::kEnd);
  // Each search may look at max_header_bytes in vain.
  if (++resyncs_ > options_.max_damages) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            fmt::format("{}: damaged in more than {} places",
                                        path(), options_.max_damages)});
  }
  // A torn record may be one whose length lies: look from its beginning.
  // Behind bytes that were no record none can begin before them.
  uint64_t from = damage_offset_ + 1;
  NEPHILA_TRY(uint64_t found, members_->FindMember(from));
  NEPHILA_TRY(uint64_t size, FileSize());
  Seek(found);
  if (found >= size) place_ = Place::kDone;
  return found < size;
}

Result<ScanResult> ScanFrom(
    FileSystem& fs, const std::string& path, uint64_t offset,
    const std::function<Status(const WarcReader&)>& visit,
    const ReaderOptions& options) {
  NEPHILA_TRY(auto reader, WarcReader::Open(fs, path, options));
  NEPHILA_TRY(uint64_t size, reader->FileSize());
  if (offset > size) {
    return Unexpected(Error{
        ErrorCode::kCorruption,
        fmt::format("{}: ends at {}, before offset {}", path, size, offset)});
  }
  ScanResult result;
  result.end = offset;
  reader->Seek(offset);
  while (true) {
    NEPHILA_TRY(result.state, reader->Next());
    if (result.state == ReadState::kRecord) {
      NEPHILA_TRY(result.state, reader->Finish());
    }
    if (result.state != ReadState::kRecord) break;
    if (reader->lacks_end()) {
      result.state = ReadState::kBroken;
      result.damage = fmt::format("{}: offset {}: the record has no end", path,
                                  reader->offset());
      return result;
    }
    if (visit) NEPHILA_RETURN_IF_ERROR(visit(*reader));
    // Records that share a member are there when all of it is.
    if (reader->ends_member()) result.end = reader->end();
    ++result.records;
  }
  if (result.state == ReadState::kEnd) {
    result.end = size;
  } else {
    result.damage = fmt::format("{}: offset {}: {}", path,
                                reader->damage_offset(), reader->damage());
  }
  return result;
}

}  // namespace nephila::store
