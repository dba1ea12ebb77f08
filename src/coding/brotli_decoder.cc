#include <brotli/decode.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "coding/decoders.h"

namespace nephila::coding {
namespace {

// Brotli's decoder cannot be begun again, only made again. This keeps the
// blocks that the last one gave back for the next.
class BlockCache {
 public:
  BlockCache() { blocks_.reserve(kMostBlocks); }
  ~BlockCache() {
    for (Header* block : blocks_) std::free(block);
  }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  static void* Take(void* self, size_t bytes) {
    return static_cast<BlockCache*>(self)->TakeBlock(bytes);
  }
  static void Give(void* self, void* block) {
    if (block == nullptr) return;
    static_cast<BlockCache*>(self)->GiveBlock(static_cast<Header*>(block) - 1);
  }

  // Kept and in use.
  size_t memory_bytes() const { return kept_bytes_ + taken_bytes_; }

 private:
  struct alignas(std::max_align_t) Header {
    size_t bytes;
  };
  static constexpr size_t kMostBlocks = 16;
  // Windows of large pages are not kept: 16 MiB a thread would be for nothing.
  static constexpr size_t kMostBytes = size_t{1} << 20;

  void* TakeBlock(size_t bytes) {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      Header* block = blocks_[i];
      if (block->bytes < bytes || block->bytes / 2 > bytes) continue;
      blocks_[i] = blocks_.back();
      blocks_.pop_back();
      kept_bytes_ -= block->bytes;
      taken_bytes_ += block->bytes;
      return block + 1;
    }
    auto* block = static_cast<Header*>(std::malloc(sizeof(Header) + bytes));
    if (block == nullptr) return nullptr;
    block->bytes = bytes;
    taken_bytes_ += bytes;
    return block + 1;
  }

  void GiveBlock(Header* block) {
    taken_bytes_ -= block->bytes;
    if (blocks_.size() == kMostBlocks ||
        kept_bytes_ + block->bytes > kMostBytes) {
      std::free(block);
      return;
    }
    kept_bytes_ += block->bytes;
    blocks_.push_back(block);
  }

  std::vector<Header*> blocks_;
  size_t kept_bytes_ = 0;
  size_t taken_bytes_ = 0;
};

// RFC 7932. Large windows, which it does not have, are refused by the library
// unless they are asked for.
class BrotliDecoder final : public CodingDecoder {
 public:
  ~BrotliDecoder() override { BrotliDecoder::End(); }

  void Begin() override {
    End();
    ended_ = false;
    state_ = BrotliDecoderCreateInstance(&BlockCache::Take, &BlockCache::Give,
                                         &cache_);
    NEPHILA_CHECK(state_ != nullptr);
  }

  DecodeStep Decode(std::string_view piece, PieceTaker& taker) override {
    if (ended_) return DecodeStep::kEnd;
    size_t left = piece.size();
    const auto* in = reinterpret_cast<const uint8_t*>(piece.data());
    std::array<uint8_t, kDecodedPieceBytes> buffer;
    while (true) {
      size_t room = buffer.size();
      uint8_t* out = buffer.data();
      const BrotliDecoderResult result = BrotliDecoderDecompressStream(
          state_, &left, &in, &room, &out, nullptr);
      const size_t got = buffer.size() - room;
      if (got > 0 &&
          !taker.Take({reinterpret_cast<const char*>(buffer.data()), got})) {
        return DecodeStep::kStopped;
      }
      if (result == BROTLI_DECODER_RESULT_SUCCESS) {
        ended_ = true;
        return DecodeStep::kEnd;
      }
      if (result == BROTLI_DECODER_RESULT_ERROR) return DecodeStep::kBroken;
      if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
        return DecodeStep::kMore;
      }
    }
  }

  void End() override {
    if (state_ != nullptr) BrotliDecoderDestroyInstance(state_);
    state_ = nullptr;
  }
  size_t memory_bytes() const override {
    return sizeof(*this) + cache_.memory_bytes();
  }

 private:
  BlockCache cache_;
  ::BrotliDecoderState* state_ = nullptr;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<CodingDecoder> MakeBrotliDecoder() {
  return std::make_unique<BrotliDecoder>();
}

}  // namespace nephila::coding
