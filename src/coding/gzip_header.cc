#include "coding/gzip_header.h"

#include <isa-l/crc.h>

namespace nephila::coding {
namespace {

// RFC 1952 s2.3.1.
constexpr uint8_t kHasCheck = 0x02;
constexpr uint8_t kHasExtra = 0x04;
constexpr uint8_t kHasName = 0x08;
constexpr uint8_t kHasComment = 0x10;
constexpr uint8_t kReserved = 0xe0;
constexpr size_t kFixedBytes = 10;

}  // namespace

GzipHeader::State GzipHeader::Add(std::string_view* piece) {
  State state = part_ == Part::kEnd ? State::kDone : State::kMore;
  while (state == State::kMore && !piece->empty()) {
    state = AddByte(static_cast<uint8_t>(piece->front()));
    piece->remove_prefix(1);
  }
  return state;
}

GzipHeader::State GzipHeader::AddByte(uint8_t byte) {
  if (part_ == Part::kCheck) {
    value_ = static_cast<uint16_t>(value_ | byte << (8 * at_++));
    if (at_ < 2) return State::kMore;
    // The two lower bytes.
    if (value_ != static_cast<uint16_t>(crc_)) return State::kDamaged;
    return GoTo(Part::kEnd);
  }
  crc_ = crc32_gzip_refl(crc_, &byte, 1);
  switch (part_) {
    case Part::kFixed:
      return AddFixed(byte);
    case Part::kExtraSize:
      extra_ = static_cast<uint16_t>(extra_ | byte << (8 * at_++));
      if (at_ < 2) return State::kMore;
      return GoTo(extra_ > 0 ? Part::kExtra : Part::kName);
    case Part::kExtra:
      return ++at_ < extra_ ? State::kMore : GoTo(Part::kName);
    case Part::kName:
      return byte != 0 ? State::kMore : GoTo(Part::kComment);
    case Part::kComment:
      return byte != 0 ? State::kMore : GoTo(Part::kCheck);
    case Part::kCheck:
    case Part::kEnd:
      break;
  }
  return State::kDone;
}

// Magic, method, flags; then time, level and system, which say nothing here.
GzipHeader::State GzipHeader::AddFixed(uint8_t byte) {
  constexpr uint8_t kBegin[] = {0x1f, 0x8b, 8};
  if (at_ < sizeof(kBegin) && byte != kBegin[at_]) return State::kUnknown;
  if (at_ == sizeof(kBegin)) {
    flags_ = byte;
    if ((flags_ & kReserved) != 0) return State::kUnknown;
  }
  return ++at_ < kFixedBytes ? State::kMore : GoTo(Part::kExtraSize);
}

GzipHeader::State GzipHeader::GoTo(Part part) {
  at_ = 0;
  part_ = part;
  if (part_ == Part::kExtraSize && (flags_ & kHasExtra) == 0) {
    part_ = Part::kName;
  }
  if (part_ == Part::kName && (flags_ & kHasName) == 0) part_ = Part::kComment;
  if (part_ == Part::kComment && (flags_ & kHasComment) == 0) {
    part_ = Part::kCheck;
  }
  if (part_ == Part::kCheck && (flags_ & kHasCheck) == 0) part_ = Part::kEnd;
  return part_ == Part::kEnd ? State::kDone : State::kMore;
}

}  // namespace nephila::coding
