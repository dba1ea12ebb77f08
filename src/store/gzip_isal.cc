// gzip by ISA-L: the fastest deflate on x86-64 and arm64, four levels.
#include <isa-l/igzip_lib.h>

#include <array>
#include <limits>
#include <vector>

#include "base/check.h"
#include "store/compressor.h"
#include "store/gzip_compressor.h"

namespace nephila::store {
namespace {

// Larger than what most pages become, small enough for the fast cache.
constexpr size_t kStageBytes = size_t{16} * 1024;

// A code of its own is not worth its making for a record as short as a request
// or metadata: level 0 has one code for all, made for web text.
constexpr uint64_t kFewBytes = 1536;

size_t LevelBufferBytes(int level) {
  switch (level) {
    case 1:
      return ISAL_DEF_LVL1_DEFAULT;
    case 2:
      return ISAL_DEF_LVL2_DEFAULT;
    case 3:
      return ISAL_DEF_LVL3_DEFAULT;
    default:
      return ISAL_DEF_LVL0_DEFAULT;
  }
}

class IsalCompressor final : public GzipCompressor {
 public:
  explicit IsalCompressor(int level)
      : level_(static_cast<uint32_t>(level)),
        level_buffer_(LevelBufferBytes(level)) {
    isal_deflate_init(&stream_);
    stream_.level_buf = level_buffer_.data();
    stream_.level_buf_size = static_cast<uint32_t>(level_buffer_.size());
    stream_.gzip_flag = IGZIP_DEFLATE;
  }

 private:
  void BeginBlocks(uint64_t total_bytes) override {
    stream_.level = total_bytes < kFewBytes ? 0 : level_;
    isal_deflate_reset(&stream_);
    stream_.flush = NO_FLUSH;
    stream_.end_of_stream = 0;
  }

  void AddToBlocks(std::string_view bytes, std::string* out) override {
    constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      Run(part, out);
      bytes.remove_prefix(part.size());
    }
  }

  void FlushBlocks(std::string* out) override {
    stream_.flush = SYNC_FLUSH;
    Run({}, out);
  }

  void EndBlocks(std::string* out) override {
    stream_.end_of_stream = 1;
    Run({}, out);
  }

  void Run(std::string_view bytes, std::string* out) {
    // ISA-L reads what next_in points to and never writes it.
    stream_.next_in =
        reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uint32_t>(bytes.size());
    do {
      stream_.next_out = stage_.data();
      stream_.avail_out = static_cast<uint32_t>(stage_.size());
      const int result = isal_deflate(&stream_);
      NEPHILA_CHECK(result == COMP_OK);
      out->append(reinterpret_cast<const char*>(stage_.data()),
                  stage_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    NEPHILA_CHECK(stream_.avail_in == 0);
  }

  const uint32_t level_;
  std::vector<uint8_t> level_buffer_;
  isal_zstream stream_;
  std::array<uint8_t, kStageBytes> stage_;
};

}  // namespace

std::unique_ptr<Compressor> internal::MakeIsal(int level) {
  return std::make_unique<IsalCompressor>(level);
}

}  // namespace nephila::store
