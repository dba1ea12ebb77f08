// The decoders behind ContentDecoder, one for each coding. Each is made once
// and begun again for every payload, without new memory in the usual case.
//
//   gzip, deflate  ISA-L: a page of 21 KB in half of zlib's time, and unlike
//                  libdeflate, which is a sixth faster still, it is a stream,
//                  so damaged and cut bodies give what they hold, and a bomb
//                  is stopped on the way (docs/performance.md).
//   br, zstd       the libraries of their authors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace nephila::coding {

enum class Coding : uint8_t { kGzip, kDeflate, kBrotli, kZstd };
inline constexpr int kCodings = 4;

// What decoders give out at once.
inline constexpr size_t kDecodedPieceBytes = size_t{32} << 10;

// Takes decoded pieces; false: no more is wanted.
class PieceTaker {
 public:
  virtual ~PieceTaker() = default;
  virtual bool Take(std::string_view piece) = 0;
};

enum class DecodeStep : uint8_t {
  kMore,     // in the middle
  kEnd,      // at an end; more may follow (members of gzip, frames of zstd)
  kBroken,   // not in this coding, or damaged
  kStopped,  // the taker wants no more
};

class CodingDecoder {
 public:
  virtual ~CodingDecoder() = default;
  CodingDecoder(const CodingDecoder&) = delete;
  CodingDecoder& operator=(const CodingDecoder&) = delete;

  // A new payload.
  virtual void Begin() = 0;
  // Decodes all of `piece`, unless it breaks or is stopped. What stands behind
  // the end and does not go on in the same coding is left out.
  virtual DecodeStep Decode(std::string_view piece, PieceTaker& taker) = 0;
  // The payload is over: gives back what is too large to be kept for the next.
  // Before Decode comes Begin.
  virtual void End() = 0;
  virtual size_t memory_bytes() const = 0;

 protected:
  CodingDecoder() = default;
};

std::unique_ptr<CodingDecoder> MakeInflateDecoder(Coding coding);
std::unique_ptr<CodingDecoder> MakeBrotliDecoder();
std::unique_ptr<CodingDecoder> MakeZstdDecoder();

}  // namespace nephila::coding
