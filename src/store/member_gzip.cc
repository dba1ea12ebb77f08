#include <zlib.h>

#include <utility>

#include "base/check.h"
#include "store/member_codecs.h"

namespace nephila::store {
namespace {

// Not a ContentDecoder: records are found by the offsets at which members
// begin, so a step here ends with the last byte of one, and damage is named.
class GzipReader final : public MemberReader {
 public:
  GzipReader(std::unique_ptr<File> file, const MemberOptions& options)
      : MemberReader(std::move(file), options) {
    // The largest window, and nothing but a gzip header.
    constexpr int kGzipOnly = MAX_WBITS + 16;
    // It fails for want of memory alone.
    NEPHILA_CHECK(inflateInit2(&stream_, kGzipOnly) == Z_OK);
  }
  ~GzipReader() override { inflateEnd(&stream_); }

  ArchiveCodec codec() const override { return ArchiveCodec::kGzip; }

 protected:
  void Begin() override { NEPHILA_CHECK(inflateReset(&stream_) == Z_OK); }

  MemberStep Decode(std::string_view in, std::string* out) override {
    size_t before = out->size();
    out->resize(before + options_.buffer_bytes);
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // not written
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    stream_.avail_out = static_cast<uInt>(options_.buffer_bytes);
    int code = inflate(&stream_, Z_NO_FLUSH);
    out->resize(out->size() - stream_.avail_out);
    Advance(in.size() - stream_.avail_in);
    switch (code) {
      case Z_OK:
      case Z_BUF_ERROR:
        return MemberStep::kBytes;
      case Z_STREAM_END:
        return MemberStep::kEnd;
      default:
        return Broken(position() - offset() < 2 ? "no gzip member begins here"
                      : stream_.msg != nullptr  ? stream_.msg
                                                : "not to be inflated");
    }
  }

  std::string_view magic() const override { return "\x1f\x8b\x08"; }

 private:
  z_stream stream_{};
};

}  // namespace

Result<std::unique_ptr<MemberReader>> OpenGzip(std::unique_ptr<File> file,
                                               const MemberOptions& options) {
  return std::unique_ptr<MemberReader>(
      std::make_unique<GzipReader>(std::move(file), options));
}

}  // namespace nephila::store
