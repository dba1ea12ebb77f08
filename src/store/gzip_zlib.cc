// gzip by zlib: what others compare with.
#include <zlib.h>

#include <array>
#include <limits>

#include "base/check.h"
#include "store/compressor.h"
#include "store/gzip_compressor.h"

namespace nephila::store {
namespace {

constexpr size_t kStageBytes = size_t{16} * 1024;
constexpr int kRawWindowBits = -15;  // no header: GzipCompressor writes it
constexpr int kMemoryLevel = 8;

class ZlibCompressor final : public GzipCompressor {
 public:
  explicit ZlibCompressor(int level) {
    const int result = deflateInit2(&stream_, level, Z_DEFLATED, kRawWindowBits,
                                    kMemoryLevel, Z_DEFAULT_STRATEGY);
    NEPHILA_CHECK(result == Z_OK);
  }
  ~ZlibCompressor() override { deflateEnd(&stream_); }

 private:
  void BeginBlocks(uint64_t /*total_bytes*/) override {
    const int result = deflateReset(&stream_);
    NEPHILA_CHECK(result == Z_OK);
  }

  void AddToBlocks(std::string_view bytes, std::string* out) override {
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      Run(part, Z_NO_FLUSH, out);
      bytes.remove_prefix(part.size());
    }
  }
  void FlushBlocks(std::string* out) override { Run({}, Z_SYNC_FLUSH, out); }
  void EndBlocks(std::string* out) override { Run({}, Z_FINISH, out); }

  void Run(std::string_view bytes, int flush, std::string* out) {
    // Without ZLIB_CONST next_in is not const, though never written.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = stage_.data();
      stream_.avail_out = static_cast<uInt>(stage_.size());
      const int result = deflate(&stream_, flush);
      NEPHILA_CHECK(result != Z_STREAM_ERROR);
      out->append(reinterpret_cast<const char*>(stage_.data()),
                  stage_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::array<Bytef, kStageBytes> stage_;
};

}  // namespace

std::unique_ptr<Compressor> internal::MakeZlib(int level) {
  return std::make_unique<ZlibCompressor>(level);
}

}  // namespace nephila::store
