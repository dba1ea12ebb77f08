// GzipHeader: the header of a member of gzip (RFC 1952 s2.3), read over.
//
// ISA-L reads headers too, but takes reserved flags, which mean that what
// follows is something unknown, and goes wrong where a header with a check of
// its own comes in pieces.
//   In: bytes in pieces   Out: where the deflate stream begins
//   Threads: one per object.   Memory: none of the names and comments.
//   Cost: linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nephila::coding {

class GzipHeader {
 public:
  enum class State : uint8_t {
    kMore,
    kDone,
    kUnknown,  // no gzip, or of a kind that is not known
    kDamaged,  // the check of the header fails
  };

  // A new header.
  void Begin() { *this = GzipHeader(); }
  // Takes what belongs to the header off *piece.
  State Add(std::string_view* piece);

 private:
  enum class Part : uint8_t {
    kFixed,
    kExtraSize,
    kExtra,
    kName,
    kComment,
    kCheck,
    kEnd,
  };

  State AddByte(uint8_t byte);
  State AddFixed(uint8_t byte);
  // To the first part from `part` on that the flags say is there.
  State GoTo(Part part);

  Part part_ = Part::kFixed;
  uint8_t flags_ = 0;
  size_t at_ = 0;       // in the part
  uint16_t value_ = 0;  // of its two bytes
  uint16_t extra_ = 0;
  uint32_t crc_ = 0;  // of all before the check
};

}  // namespace nephila::coding
