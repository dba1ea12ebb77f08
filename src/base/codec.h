// Codec, Compressor, Decompressor: blocks made smaller, and whole again.
//
// One call a block, no streams: a block is decoded only if its size is known
// from elsewhere, and anything that does not come out as exactly that many
// bytes is kCorruption. Hostile input costs no more than those bytes. zstd is
// at level 1 and without its own checksum, as every block of ours has one.
//
// Threads: one per object. What zstd needs (see memory_bytes) is made when the
// codec is first used and kept, as making it costs more than a small block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// From zstd.h, which stays behind codec.cc.
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace nephila {

// The values are on disk.
enum class Codec : uint8_t { kNone = 0, kLz4 = 1, kZstd = 2 };
inline constexpr size_t kCodecs = 3;

std::string_view CodecName(Codec codec);
// By its name, as in settings: kInvalidArgument, with all names, for others.
Result<Codec> ParseCodec(std::string_view name);
std::optional<Codec> CodecFromByte(uint8_t byte);

class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  // The most that `size` bytes become, by whichever codec.
  size_t Bound(size_t size) const;
  // The bytes put at `out`. With a capacity of Bound(in.size()) it fails only
  // for inputs near 2 GiB (lz4); else kInvalidArgument if they do not fit.
  Result<size_t> Compress(Codec codec, std::string_view in, char* out,
                          size_t capacity);
  // Room for a caller that has its input in pieces. What is in it stays until
  // the next caller; count it in as it keeps its capacity.
  std::string& scratch() { return scratch_; }

  // Of the context and the scratch.
  size_t memory_bytes() const;

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> zstd_;
  std::unique_ptr<char[]> lz4_;  // its hash table
  std::string scratch_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Fills the `exact_size` bytes at `out`, or kCorruption; then they are
  // anything.
  Status Decompress(Codec codec, std::string_view in, char* out,
                    size_t exact_size);

  size_t memory_bytes() const;

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> zstd_;
};

}  // namespace nephila
