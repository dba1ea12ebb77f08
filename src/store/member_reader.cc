#include "store/member_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "store/member_codecs.h"
#include "store/warc_record.h"

namespace nephila::store {
namespace {

// Of compressed bytes that a candidate for a member may take before it has
// given the first bytes of a record: a gzip header with a name and extra
// fields, and the tables of the first block.
constexpr size_t kTrialBytes = 1024;
// "WARC/1.1" and a line end, and what may stand before.
constexpr size_t kStartBytes = 64;
// In front of it: the end of the record before, cut off in the wrong place.
constexpr size_t kLeadingEnds = 4;

class PlainReader final : public MemberReader {
 public:
  PlainReader(std::unique_ptr<File> file, const MemberOptions& options)
      : MemberReader(std::move(file), options) {}
  ArchiveCodec codec() const override { return ArchiveCodec::kPlain; }

 protected:
  void Begin() override {}
  MemberStep Decode(std::string_view in, std::string* out) override {
    out->append(in);
    Advance(in.size());
    return MemberStep::kBytes;
  }
  bool EndsWithFile() const override { return true; }
  std::string_view magic() const override { return "WARC/"; }
};

bool IsSkippable(std::string_view start) {
  return start.size() >= 4 && (start[0] & 0xf0) == 0x50 &&
         start.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::string_view ArchiveCodecName(ArchiveCodec codec) {
  constexpr std::array<std::string_view, 3> kNames = {"plain", "gzip", "zstd"};
  return kNames[static_cast<size_t>(codec)];
}

MemberReader::MemberReader(std::unique_ptr<File> file,
                           const MemberOptions& options)
    : options_(options), file_(std::move(file)) {}

Result<std::unique_ptr<MemberReader>> MemberReader::Open(
    FileSystem& fs, const std::string& path, const MemberOptions& options) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kRead));
  file->Advise(0, 0, Advice::kSequential);
  std::string start(4, '\0');
  NEPHILA_TRY(size_t got,
              file->Read(0, std::as_writable_bytes(std::span(start))));
  start.resize(got);
  // Of a file cut in its first bytes these tell too.
  auto begins = [&start](std::string_view magic) {
    size_t size = std::min(start.size(), magic.size());
    return size > 0 && start.substr(0, size) == magic.substr(0, size);
  };
  if (begins("\x1f\x8b")) return OpenGzip(std::move(file), options);
  if (begins(kZstdMagic) || IsSkippable(start)) {
    return OpenZstd(std::move(file), options);
  }
  if (start == "\x04\x22\x4d\x18") {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            path + ": compressed by lz4, which no standard of "
                                   "archives knows; decompress it first"});
  }
  // Damaged at its very beginning, the name is all that tells.
  if (!begins("WARC") && !begins("file")) {
    std::string_view name = path;
    if (name.ends_with(".open")) name.remove_suffix(5);
    if (name.ends_with(".gz")) return OpenGzip(std::move(file), options);
    if (name.ends_with(".zst")) return OpenZstd(std::move(file), options);
  }
  return std::unique_ptr<MemberReader>(
      std::make_unique<PlainReader>(std::move(file), options));
}

void MemberReader::Seek(uint64_t offset) {
  start_ = position_ = offset;
  last_ = MemberStep::kBytes;
  begun_ = false;
  problem_.clear();
}

Result<std::string_view> MemberReader::Window() {
  if (position_ < window_offset_ ||
      position_ >= window_offset_ + window_.size()) {
    window_.resize(options_.buffer_bytes);
    window_offset_ = position_;
    auto got =
        file_->Read(position_, std::as_writable_bytes(std::span(window_)));
    window_.resize(got ? *got : 0);
    if (!got) return Unexpected(std::move(got).error());
  }
  return std::string_view(window_).substr(
      static_cast<size_t>(position_ - window_offset_));
}

MemberStep MemberReader::Broken(std::string_view problem) {
  problem_ = problem;
  return MemberStep::kBroken;
}

Result<MemberStep> MemberReader::Read(std::string* out) {
  if (last_ != MemberStep::kBytes) return last_;
  size_t before = out->size();
  while (out->size() == before) {
    NEPHILA_TRY(std::string_view in, Window());
    if (in.empty() && position_ == start_) {
      last_ = MemberStep::kFileEnd;
      return last_;
    }
    if (!begun_) {
      begun_ = true;
      Begin();
    }
    // At the end of the file too: a decoder may hold back bytes.
    MemberStep step = Decode(in, out);
    if (step == MemberStep::kBytes && in.empty() && out->size() == before) {
      step = EndsWithFile() ? MemberStep::kEnd : MemberStep::kTorn;
    }
    if (step == MemberStep::kBytes) continue;
    if (step == MemberStep::kTorn) {
      problem_ = fmt::format("the file ends in the {} member",
                             ArchiveCodecName(codec()));
    }
    last_ = step;
    // Bytes that came with the end are given out first.
    return out->size() > before ? MemberStep::kBytes : step;
  }
  return MemberStep::kBytes;
}

Result<bool> MemberReader::StartsRecord(uint64_t offset) {
  Seek(offset);
  std::string start;
  while (start.size() < kStartBytes && position_ - start_ < kTrialBytes) {
    NEPHILA_TRY(std::string_view in, Window());
    if (in.empty()) break;
    if (!begun_) {
      begun_ = true;
      Begin();
    }
    size_t most = codec() == ArchiveCodec::kPlain ? kStartBytes : kTrialBytes;
    auto left = static_cast<size_t>(most - (position_ - start_));
    MemberStep step = Decode(in.substr(0, std::min(left, in.size())), &start);
    if (step != MemberStep::kBytes) break;
  }
  size_t ends = std::min(start.find_first_not_of("\r\n"), start.size());
  if (ends > kLeadingEnds || ends == start.size()) return false;
  auto header =
      FindWarcHeader(std::string_view(start).substr(ends), 0, kLongestHeader);
  return header.has_value() || header.error() == HeaderError::kIncomplete;
}

Result<uint64_t> MemberReader::FindMember(uint64_t from) {
  std::string_view mark = magic();
  size_t round = std::max(options_.buffer_bytes, kTrialBytes);
  std::string text;
  uint64_t at = from;
  while (true) {
    // Each round overlaps the one before it by less than a mark.
    text.resize(round);
    NEPHILA_TRY(size_t got,
                file_->Read(at, std::as_writable_bytes(std::span(text))));
    text.resize(got);
    for (size_t i = text.find(mark); i != std::string::npos;
         i = text.find(mark, i + 1)) {
      NEPHILA_TRY(bool starts, StartsRecord(at + i));
      if (starts) {
        Seek(at + i);
        return at + i;
      }
    }
    if (got < round) {
      Seek(at + got);
      return at + got;
    }
    at += got - (mark.size() - 1);
  }
}

}  // namespace nephila::store
