#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "store/member_codecs.h"

namespace nephila::store {
namespace {

constexpr uint32_t kDictionaryMagic = 0x184D2A5D;

class ZstdReader final : public MemberReader {
 public:
  ZstdReader(std::unique_ptr<File> file, const MemberOptions& options)
      : MemberReader(std::move(file), options), context_(ZSTD_createDCtx()) {
    NEPHILA_CHECK(context_ != nullptr);  // else there is no memory
    size_t code = ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax,
                                         options.max_window_log);
    NEPHILA_CHECK(ZSTD_isError(code) == 0);
  }
  ~ZstdReader() override { ZSTD_freeDCtx(context_); }

  ArchiveCodec codec() const override { return ArchiveCodec::kZstd; }

  // False if libzstd does not take it.
  bool SetDictionary(std::string_view dictionary) {
    return ZSTD_isError(ZSTD_DCtx_loadDictionary(context_, dictionary.data(),
                                                 dictionary.size())) == 0;
  }

 protected:
  void Begin() override {
    size_t code = ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    NEPHILA_CHECK(ZSTD_isError(code) == 0);
  }

  MemberStep Decode(std::string_view in, std::string* out) override {
    size_t before = out->size();
    out->resize(before + options_.buffer_bytes);
    ZSTD_inBuffer source{in.data(), in.size(), 0};
    ZSTD_outBuffer target{out->data() + before, options_.buffer_bytes, 0};
    size_t code = ZSTD_decompressStream(context_, &target, &source);
    // After an error the positions need not tell what was written and read.
    if (ZSTD_isError(code) != 0) {
      out->resize(before);
      return Broken(ZSTD_getErrorName(code));
    }
    out->resize(before + target.pos);
    Advance(source.pos);
    return code == 0 ? MemberStep::kEnd : MemberStep::kBytes;
  }

  std::string_view magic() const override { return kZstdMagic; }

 private:
  ZSTD_DCtx* context_;
};

// A dictionary may be a zstd frame itself.
Result<std::string> Unpack(const std::string& path, std::string packed,
                           size_t max_bytes) {
  if (!packed.starts_with(kZstdMagic)) return packed;
  auto refuse = [&path](std::string_view why) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              fmt::format("{}: dictionary at offset 0: {}", path, why)});
  };
  unsigned long long size =
      ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return refuse("no zstd frame");
  size_t room = size == ZSTD_CONTENTSIZE_UNKNOWN
                    ? max_bytes
                    : static_cast<size_t>(std::min<uint64_t>(size, max_bytes));
  std::string plain(room, '\0');
  size_t code =
      ZSTD_decompress(plain.data(), room, packed.data(), packed.size());
  if (ZSTD_isError(code) != 0) return refuse(ZSTD_getErrorName(code));
  plain.resize(code);
  return plain;
}

// The dictionary in front of the records; empty if there is none.
Result<std::string> ReadDictionary(File& file, size_t max_bytes) {
  std::string head(8, '\0');
  NEPHILA_TRY(size_t got,
              file.Read(0, std::as_writable_bytes(std::span(head))));
  head.resize(got);
  ByteReader reader{std::string_view(head)};
  auto magic = reader.U32();
  auto size = reader.U32();
  if (!magic || !size || *magic != kDictionaryMagic) return std::string();
  if (*size > max_bytes) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              fmt::format("{}: a dictionary of {} bytes, more than {}",
                          file.path(), *size, max_bytes)});
  }
  std::string packed(*size, '\0');
  NEPHILA_RETURN_IF_ERROR(
      file.ReadExact(8, std::as_writable_bytes(std::span(packed))));
  return Unpack(file.path(), std::move(packed), max_bytes);
}

}  // namespace

Result<std::unique_ptr<MemberReader>> OpenZstd(std::unique_ptr<File> file,
                                               const MemberOptions& options) {
  NEPHILA_TRY(std::string dictionary,
              ReadDictionary(*file, options.max_dictionary_bytes));
  std::string path = file->path();
  auto reader = std::make_unique<ZstdReader>(std::move(file), options);
  if (!dictionary.empty() && !reader->SetDictionary(dictionary)) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            path + ": its dictionary cannot be used"});
  }
  return std::unique_ptr<MemberReader>(std::move(reader));
}

}  // namespace nephila::store
