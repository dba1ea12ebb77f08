// gzip by libdeflate: smaller than zlib at every speed, but it wants the whole
// record in one piece, so its memory is that of the largest record.
#include <libdeflate.h>

#include "base/check.h"
#include "store/compressor.h"
#include "store/gzip_compressor.h"

namespace nephila::store {
namespace {

class LibdeflateCompressor final : public GzipCompressor {
 public:
  explicit LibdeflateCompressor(int level)
      : compressor_(libdeflate_alloc_compressor(level),
                    &libdeflate_free_compressor) {
    NEPHILA_CHECK(compressor_ != nullptr);
  }

 private:
  void BeginBlocks(uint64_t /*total_bytes*/) override { input_.clear(); }

  void AddToBlocks(std::string_view bytes, std::string* /*out*/) override {
    input_ += bytes;
  }

  // The library ends its output with a last block, behind which nothing may
  // follow: what came before the stored bytes is stored too.
  void FlushBlocks(std::string* out) override {
    AppendStored(input_, out);
    input_.clear();
  }

  void EndBlocks(std::string* out) override {
    const size_t bound =
        libdeflate_deflate_compress_bound(compressor_.get(), input_.size());
    if (output_.size() < bound) output_.resize(bound);
    const size_t size = libdeflate_deflate_compress(
        compressor_.get(), input_.data(), input_.size(), output_.data(), bound);
    NEPHILA_CHECK(size > 0);
    out->append(output_, 0, size);
  }

  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)>
      compressor_;
  std::string input_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Compressor> internal::MakeLibdeflate(int level) {
  return std::make_unique<LibdeflateCompressor>(level);
}

}  // namespace nephila::store
