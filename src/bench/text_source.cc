// MakeTextSource of link_stream.h.

#include <zstd.h>

#include <memory>
#include <utility>

#include "base/file.h"
#include "base/real_file_system.h"
#include "bench/link_stream.h"
#include "bench/link_text.h"

namespace nephila::bench {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

class TextSource : public LinkSource {
 public:
  TextSource(std::unique_ptr<FileSystem> fs, std::unique_ptr<File> file,
             bool packed)
      : fs_(std::move(fs)),
        file_(std::move(file)),
        context_(packed ? ZSTD_createDCtx() : nullptr, &ZSTD_freeDCtx),
        raw_(kChunk) {}

  bool Next(std::string_view* link) override {
    do {
      if (!ReadLine()) return false;
    } while (line_.empty());
    if (repetition_ == 0) {
      *link = line_;
      return true;
    }
    TagPlaces places = FindTagPlaces(line_);
    tagged_.assign(line_, 0, places.host_end);
    tagged_ += '-';
    tagged_ += Base36(repetition_);
    tagged_.append(line_, places.host_end);
    *link = tagged_;
    return true;
  }

  Status status() const override { return status_; }

 private:
  // The next line into line_, from the beginning again behind the last.
  bool ReadLine() {
    if (at_end_) {
      at_end_ = false;
      offset_ = 0;
      ++repetition_;
    }
    line_.clear();
    while (true) {
      size_t end = text_.find('\n', position_);
      line_.append(text_, position_, end - position_);
      if (end != std::string::npos) {
        position_ = end + 1;
        break;
      }
      if (!Fill()) return false;
      if (text_.empty()) {
        at_end_ = true;
        break;
      }
    }
    found_ = found_ || !line_.empty();
    if (at_end_ && !found_) return Fail(file_->path() + ": no line in it");
    return true;
  }

  // The next piece of the file into text_; nothing at its end.
  bool Fill() {
    text_.clear();
    position_ = 0;
    while (text_.empty()) {
      auto got = file_->Read(offset_, raw_);
      if (!got) return Fail(got.error().message);
      if (*got == 0) return true;
      file_->Advise(offset_, *got, Advice::kDontNeed);
      offset_ += *got;
      if (!Unpack(*got)) return false;
    }
    return true;
  }

  bool Unpack(size_t size) {
    if (context_ == nullptr) {
      text_.assign(reinterpret_cast<const char*>(raw_.data()), size);
      return true;
    }
    ZSTD_inBuffer input{raw_.data(), size, 0};
    bool full = false;  // then there may be more where it came from
    while (input.pos < input.size || full) {
      size_t had = text_.size();
      text_.resize(had + kChunk);
      ZSTD_outBuffer output{text_.data() + had, kChunk, 0};
      size_t left = ZSTD_decompressStream(context_.get(), &output, &input);
      text_.resize(had + output.pos);
      full = output.pos == output.size;
      if (ZSTD_isError(left) != 0U) {
        return Fail(file_->path() + ": not a whole zstd file");
      }
    }
    return true;
  }

  bool Fail(std::string message) {
    status_ = Unexpected(Error{ErrorCode::kCorruption, std::move(message)});
    return false;
  }

  std::unique_ptr<FileSystem> fs_;
  std::unique_ptr<File> file_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
  std::vector<std::byte> raw_;
  uint64_t offset_ = 0;
  std::string text_;
  size_t position_ = 0;
  std::string line_;
  std::string tagged_;
  uint64_t repetition_ = 0;
  bool at_end_ = false;
  bool found_ = false;
  Status status_;
};

}  // namespace

Result<std::unique_ptr<LinkSource>> MakeTextSource(const std::string& path) {
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(std::unique_ptr<File> file, fs->Open(path, OpenMode::kRead));
  return std::unique_ptr<LinkSource>(std::make_unique<TextSource>(
      std::move(fs), std::move(file), path.ends_with(".zst")));
}

}  // namespace nephila::bench
