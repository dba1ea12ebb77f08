#include "base/codec.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"

namespace nephila {
namespace {

constexpr std::array<std::string_view, kCodecs> kNames = {"none", "lz4",
                                                          "zstd"};
constexpr int kZstdLevel = 1;

Unexpected<Error> Corrupt(std::string message) {
  return Unexpected(Error{ErrorCode::kCorruption, std::move(message)});
}

Unexpected<Error> DoesNotFit(Codec codec) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            "no room for what " + std::string(CodecName(codec)) + " makes"});
}

// lz4 counts in int.
bool FitsInt(size_t size) {
  return size <= static_cast<size_t>(std::numeric_limits<int>::max());
}

Result<size_t> CompressLz4(std::string_view in, char* out, size_t capacity,
                           char* state) {
  if (in.size() > LZ4_MAX_INPUT_SIZE) return DoesNotFit(Codec::kLz4);
  const size_t room = std::min<size_t>(capacity, LZ4_COMPRESSBOUND(in.size()));
  constexpr int kAcceleration = 1;
  const int bytes = LZ4_compress_fast_extState(
      state, in.data(), out, static_cast<int>(in.size()),
      static_cast<int>(room), kAcceleration);
  if (bytes <= 0) return DoesNotFit(Codec::kLz4);
  return static_cast<size_t>(bytes);
}

Status DecompressLz4(std::string_view in, char* out, size_t exact_size) {
  if (!FitsInt(in.size()) || !FitsInt(exact_size)) {
    return Corrupt("more than lz4 can hold");
  }
  // lz4 wants a place to write to even if there is nothing to write.
  char nothing = 0;
  const int bytes = LZ4_decompress_safe(
      in.data(), exact_size == 0 ? &nothing : out, static_cast<int>(in.size()),
      static_cast<int>(exact_size));
  if (bytes < 0) return Corrupt("not lz4");
  if (static_cast<size_t>(bytes) != exact_size) {
    return Corrupt("lz4 gives " + std::to_string(bytes) + " bytes, not " +
                   std::to_string(exact_size));
  }
  return {};
}

}  // namespace

std::string_view CodecName(Codec codec) {
  return kNames[static_cast<size_t>(codec)];
}

Result<Codec> ParseCodec(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Codec>(i);
  }
  std::string message = std::string(name) + ": no such codec; there are";
  for (std::string_view known : kNames) message.append(" ").append(known);
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

std::optional<Codec> CodecFromByte(uint8_t byte) {
  if (byte >= kCodecs) return std::nullopt;
  return static_cast<Codec>(byte);
}

Compressor::Compressor() = default;
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

size_t Compressor::Bound(size_t size) const {
  const size_t lz4 = size <= LZ4_MAX_INPUT_SIZE ? LZ4_COMPRESSBOUND(size) : 0;
  return std::max({size, lz4, ZSTD_compressBound(size)});
}

Result<size_t> Compressor::Compress(Codec codec, std::string_view in, char* out,
                                    size_t capacity) {
  switch (codec) {
    case Codec::kNone:
      if (in.size() > capacity) return DoesNotFit(codec);
      if (!in.empty()) std::memcpy(out, in.data(), in.size());
      return in.size();
    case Codec::kLz4:
      if (lz4_ == nullptr) {
        // On the stack it would be 16 KiB of somebody's thread.
        lz4_ = std::make_unique<char[]>(static_cast<size_t>(LZ4_sizeofState()));
      }
      return CompressLz4(in, out, capacity, lz4_.get());
    case Codec::kZstd:
      break;
  }
  if (zstd_ == nullptr) {
    zstd_.reset(ZSTD_createCCtx());
    NEPHILA_CHECK(zstd_ != nullptr);
  }
  const size_t bytes = ZSTD_compressCCtx(zstd_.get(), out, capacity, in.data(),
                                         in.size(), kZstdLevel);
  if (ZSTD_isError(bytes) != 0) return DoesNotFit(codec);
  return bytes;
}

size_t Compressor::memory_bytes() const {
  return ZSTD_sizeof_CCtx(zstd_.get()) + scratch_.capacity() +
         (lz4_ == nullptr ? 0 : static_cast<size_t>(LZ4_sizeofState()));
}

Decompressor::Decompressor() = default;
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

Status Decompressor::Decompress(Codec codec, std::string_view in, char* out,
                                size_t exact_size) {
  switch (codec) {
    case Codec::kNone:
      if (in.size() != exact_size) {
        return Corrupt(std::to_string(in.size()) + " bytes, not " +
                       std::to_string(exact_size));
      }
      if (!in.empty()) std::memcpy(out, in.data(), in.size());
      return {};
    case Codec::kLz4:
      return DecompressLz4(in, out, exact_size);
    case Codec::kZstd:
      break;
  }
  if (zstd_ == nullptr) {
    zstd_.reset(ZSTD_createDCtx());
    NEPHILA_CHECK(zstd_ != nullptr);
  }
  const size_t bytes =
      ZSTD_decompressDCtx(zstd_.get(), out, exact_size, in.data(), in.size());
  if (ZSTD_isError(bytes) != 0) {
    return Corrupt(std::string("zstd: ") + ZSTD_getErrorName(bytes));
  }
  if (bytes != exact_size) {
    return Corrupt("zstd gives " + std::to_string(bytes) + " bytes, not " +
                   std::to_string(exact_size));
  }
  return {};
}

size_t Decompressor::memory_bytes() const {
  return ZSTD_sizeof_DCtx(zstd_.get());
}

}  // namespace nephila
