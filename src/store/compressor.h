// Compressor: one gzip member (RFC 1952) or one zstd frame for each record.
//
// In: the bytes of a record in pieces of any size. Out: what a reader can
// unpack from its first byte on without what stands before it, which is what
// lets an index point at a record. Members carry no time and no name, so equal
// bytes give equal archives.
//
// Bytes that would not shrink (an image, a body that came compressed) are added
// with Effort::kStore: deflate's stored blocks hold them as they are, at the
// price of a copy and a checksum, and the member is as valid as any other.
//
// State is kept from member to member, and memory does not grow with a record
// (libdeflate's does: it wants all of its input at once). Threads: one.
// Cost: `nephila bench store`, docs/performance.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nephila::store {

enum class CompressorKind : uint8_t { kIsal, kLibdeflate, kZlib, kZstd };

enum class Effort : uint8_t {
  kCompress,
  kStore,  // all that follows in the member is stored too
};

class Compressor {
 public:
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Begins a member of exactly `total_bytes`, which is appended to `out`. Until
  // End the caller may take what is there and clear it. A member that was begun
  // and not ended is forgotten.
  virtual void Begin(uint64_t total_bytes, std::string* out) = 0;
  // REQUIRES: Begin, and no End since.
  virtual void Add(std::string_view bytes, Effort effort) = 0;
  virtual void End() = 0;

 protected:
  Compressor() = default;
};

// The level that the measurements chose (docs/adr/0013).
int DefaultLevel(CompressorKind kind);
// The levels that the library has.
int LowestLevel(CompressorKind kind);
int HighestLevel(CompressorKind kind);

// REQUIRES: a level between lowest and highest.
std::unique_ptr<Compressor> MakeCompressor(CompressorKind kind, int level);

namespace internal {

// One file each, so that each library is behind one of ours.
std::unique_ptr<Compressor> MakeIsal(int level);
std::unique_ptr<Compressor> MakeLibdeflate(int level);
std::unique_ptr<Compressor> MakeZlib(int level);
std::unique_ptr<Compressor> MakeZstd(int level);

}  // namespace internal
}  // namespace nephila::store
