// A zstd frame for each record, as .warc.zst asks for (RFC 8878; the frames of
// the WARC are self-contained, and no dictionary is used).
#include <zstd.h>

#include <array>

#include "base/check.h"
#include "store/compressor.h"

namespace nephila::store {
namespace {

constexpr size_t kStageBytes = size_t{16} * 1024;

class ZstdCompressor final : public Compressor {
 public:
  explicit ZstdCompressor(int level)
      : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    NEPHILA_CHECK(context_ != nullptr);
    Set(ZSTD_c_compressionLevel, level);
    Set(ZSTD_c_checksumFlag, 1);
  }

  // With its size known zstd picks tables that fit a small record.
  void Begin(uint64_t total_bytes, std::string* out) override {
    const size_t reset =
        ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
    const size_t pledge =
        ZSTD_CCtx_setPledgedSrcSize(context_.get(), total_bytes);
    NEPHILA_CHECK(ZSTD_isError(reset) == 0U && ZSTD_isError(pledge) == 0U);
    out_ = out;
  }

  // zstd sees by itself what does not shrink and keeps it in raw blocks, at
  // the speed of a scan.
  void Add(std::string_view bytes, Effort /*effort*/) override {
    Run(bytes, ZSTD_e_continue);
  }

  void End() override {
    Run({}, ZSTD_e_end);
    out_ = nullptr;
  }

 private:
  void Set(ZSTD_cParameter parameter, int value) {
    const size_t result =
        ZSTD_CCtx_setParameter(context_.get(), parameter, value);
    NEPHILA_CHECK(ZSTD_isError(result) == 0U);
  }

  void Run(std::string_view bytes, ZSTD_EndDirective directive) {
    NEPHILA_CHECK(out_ != nullptr);
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer output{stage_.data(), stage_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      NEPHILA_CHECK(ZSTD_isError(left) == 0U);
      out_->append(stage_.data(), output.pos);
    } while (directive == ZSTD_e_end ? left != 0 : input.pos < input.size);
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::string* out_ = nullptr;
  std::array<char, kStageBytes> stage_;
};

}  // namespace

std::unique_ptr<Compressor> internal::MakeZstd(int level) {
  return std::make_unique<ZstdCompressor>(level);
}

}  // namespace nephila::store
