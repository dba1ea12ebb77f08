// MemberReader: an archive file as its members, decoded.
//
// A member is what can be read without what stands before it: a gzip member
// (RFC 1952), a zstd frame (RFC 8878), or, of a file that is not compressed,
// all from a place to the end. Archives have a member for each record, and an
// index names its offset. The first frame of a .warc.zst may hold a dictionary
// for the others (skippable, magic 0x184D2A5D; itself compressed or not).
//   In: a file   Out: decoded bytes, a piece at a time, and where members end
//   Threads: one.   Memory: two buffers, a decoder and its window (32 KiB, or
//   by Options), whatever the file says.   Cost: that of the decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace nephila::store {

enum class ArchiveCodec : uint8_t { kPlain, kGzip, kZstd };
std::string_view ArchiveCodecName(ArchiveCodec codec);

enum class MemberStep : uint8_t {
  kBytes,    // some were added
  kEnd,      // the member is whole and has ended
  kFileEnd,  // there is no member: the file ends where it would begin
  kTorn,     // the file ends in the member
  kBroken,   // the member cannot be decoded, or its checksum does not fit
};

struct MemberOptions {
  // Of compressed bytes read at once, and of decoded bytes added at once.
  size_t buffer_bytes = size_t{64} << 10;
  // zstd: a frame that wants a larger window is refused. 27 is what zstd's own
  // command line takes; smaller frames need less.
  int max_window_log = 27;
  size_t max_dictionary_bytes = size_t{16} << 20;
};

class MemberReader {
 public:
  virtual ~MemberReader() = default;
  MemberReader(const MemberReader&) = delete;
  MemberReader& operator=(const MemberReader&) = delete;

  // Looks at the first bytes to tell the codec. What is none of ours but known
  // (lz4) is kUnsupported.
  static Result<std::unique_ptr<MemberReader>> Open(
      FileSystem& fs, const std::string& path, const MemberOptions& options);

  // The member at `offset` is the next to be read.
  void Seek(uint64_t offset);
  // Adds the next decoded bytes to *out. After anything but kBytes the same
  // again until Seek. An error is one of the disk.
  Result<MemberStep> Read(std::string* out);

  // Of the member in hand.
  uint64_t offset() const { return start_; }
  // Where it ends, after kEnd; else how far it was read.
  uint64_t position() const { return position_; }
  // What is wrong, after kTorn and kBroken.
  const std::string& problem() const { return problem_; }

  // The first place from `from` on where a member begins that decodes to
  // something starting as a record does; the file's size if there is none.
  // Looks at each byte once, and tries at most kTrialBytes at a candidate.
  Result<uint64_t> FindMember(uint64_t from);

  virtual ArchiveCodec codec() const = 0;
  File& file() { return *file_; }

 protected:
  MemberReader(std::unique_ptr<File> file, const MemberOptions& options);

  // Of the compressed file from position_ on; empty at its end.
  Result<std::string_view> Window();
  // Fresh for a new member.
  virtual void Begin() = 0;
  // Decodes some of `in` into *out. Advance() says how much was used.
  virtual MemberStep Decode(std::string_view in, std::string* out) = 0;
  // Whether the file may end here though the decoder has not said so.
  virtual bool EndsWithFile() const { return false; }
  // A member begins like this.
  virtual std::string_view magic() const = 0;

  void Advance(size_t bytes) { position_ += bytes; }
  MemberStep Broken(std::string_view problem);
  const MemberOptions options_;

 private:
  Result<bool> StartsRecord(uint64_t offset);

  std::unique_ptr<File> file_;
  std::string window_;
  uint64_t window_offset_ = 0;
  uint64_t start_ = 0;
  uint64_t position_ = 0;
  MemberStep last_ = MemberStep::kBytes;
  bool begun_ = false;
  std::string problem_;
};

}  // namespace nephila::store
