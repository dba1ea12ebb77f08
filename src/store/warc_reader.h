// WarcReader: an archive, record by record, in a bounded memory.
//
// Reads WARC 0.x, 1.0 and 1.1 and their WAT and WET relatives, and ARC 1.0 and
// 1.1 as records of the same form; not compressed, by gzip or by zstd
// (member_reader.h), with a member for each record, several records in a
// member, or all in one. A record's block comes in pieces.
//
// Where an archive is damaged the reader stops and says where and how:
//   kTorn    the file ends within a record: what a crash leaves behind
//   kBroken  anything else: bytes that are no record, a member that does not
//            decode, a block that its member does not hold as a whole
// and Resync goes on behind the damage.
//   In: a file   Out: headers, offsets, blocks   Threads: one.
//   Memory: the buffers of MemberReader and a header.   Cost: that of decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "store/member_reader.h"
#include "store/warc_record.h"

namespace nephila::store {

enum class ReadState : uint8_t { kRecord, kEnd, kTorn, kBroken };

struct ReaderOptions {
  size_t max_header_bytes = kLongestHeader;
  size_t max_damages = 10'000;  // of a file; more is no archive any more
  MemberOptions member = {};
};

class WarcReader {
 public:
  static Result<std::unique_ptr<WarcReader>> Open(
      FileSystem& fs, const std::string& path,
      const ReaderOptions& options = {});

  // Goes on to the next record, over what is left of the one in hand. After
  // kTorn and kBroken the same again, until Resync or Seek. An Error is one of
  // the disk.
  Result<ReadState> Next();

  // The record in hand, after kRecord.
  const WarcHeader& header() const { return header_; }
  // Where to find it: the offset of its member, or of itself in a file that is
  // not compressed.
  uint64_t offset() const { return offset_; }
  // Of its first byte in the decoded member: 0, unless it shares its member.
  uint64_t offset_in_member() const { return offset_in_member_; }
  uint64_t block_length() const { return block_length_; }

  // The next piece of the block, valid until the next call. Empty when it is
  // at its end, or damaged: Finish tells.
  Result<std::string_view> ReadBlock();

  // Of a file that is not compressed: whether it is long enough for the block,
  // without reading it. Lengths that lie would have an archive read to its end
  // for each record in it.
  Result<bool> BlockFits();

  // Reads what is left of the record. kRecord if it is whole; else the damage,
  // which Next would give too.
  Result<ReadState> Finish();
  // After Finish: where the record, or its member, ends in the file.
  uint64_t end() const { return end_; }
  uint64_t length() const { return end_ - offset_; }
  // After Finish: another record stands in the same member, before or behind
  // it; no index can name it. The member's checksum stands behind the last of
  // them: before it is read, damage can look like a record.
  bool shares_member() const { return shares_member_; }
  // After Finish: whether the file can be cut behind it.
  bool ends_member() const { return plain() || place_ != Place::kBetween; }
  // After Finish: whether exactly two CRLFs stood behind the block (two LFs in
  // what is no WARC).
  bool proper_end() const { return proper_end_; }

  // After Finish: of a file that is not compressed, the line ends behind the
  // block are not all there though the file goes on. Cut here, it would be
  // torn.
  bool lacks_end() const { return lacks_end_; }
  // After kTorn: not 0 if the block is whole and only so many bytes of the line
  // ends behind it are missing (in a file that is not compressed).
  size_t missing_end_bytes() const { return missing_end_bytes_; }
  // Where Next will look: after Resync, or Finish.
  uint64_t next_offset() const { return Here(); }

  // After kTorn and kBroken.
  uint64_t damage_offset() const { return damage_offset_; }
  const std::string& damage() const { return damage_; }

  // Goes to the next place behind the damage where a record begins. False if
  // there is none. REQUIRES: kTorn or kBroken was returned.
  Result<bool> Resync();
  // The next record is the one at `offset`, as an index has it.
  void Seek(uint64_t offset);

  ArchiveCodec codec() const { return members_->codec(); }
  bool is_arc() const { return arc_; }
  const std::string& path() const { return members_->file().path(); }
  Result<uint64_t> FileSize() { return members_->file().Size(); }

 private:
  enum class Place : uint8_t { kMemberStart, kBetween, kBlock, kDone };

  WarcReader(std::unique_ptr<MemberReader> members,
             const ReaderOptions& options)
      : options_(options), members_(std::move(members)) {}

  Status DetectArc();
  std::string_view rest() const {
    return std::string_view(buffer_).substr(position_);
  }
  void Consume(size_t bytes) { position_ += bytes; }
  bool plain() const { return codec() == ArchiveCodec::kPlain; }
  // Where the next decoded byte stands: exact where nothing is compressed.
  uint64_t Here() const;
  Result<MemberStep> Fill();
  Result<ReadState> BeginRecord();
  Result<ReadState> ReadHeader();
  ReadState TakeHeader(size_t length);
  Result<ReadState> FinishEnd();
  Result<bool> RecordFollows();
  Result<ReadState> NextMember();
  ReadState Damage(ReadState state, uint64_t offset, std::string what);
  ReadState DamageOf(MemberStep step, std::string_view where);

  const ReaderOptions options_;
  std::unique_ptr<MemberReader> members_;
  std::string buffer_;          // decoded
  size_t position_ = 0;         // of the next byte in it
  uint64_t buffer_offset_ = 0;  // of the buffer in the decoded member
  Place place_ = Place::kMemberStart;
  size_t leading_ends_ = 0;  // line ends in front of the member's first record
  uint64_t records_in_member_ = 0;
  bool arc_ = false;
  size_t resyncs_ = 0;

  WarcHeader header_;
  uint64_t offset_ = 0;
  uint64_t offset_in_member_ = 0;
  uint64_t block_length_ = 0;
  uint64_t block_left_ = 0;
  size_t piece_ = 0;  // given out by ReadBlock, to be consumed
  bool in_record_ = false;
  bool shares_member_ = false;
  bool proper_end_ = false;
  bool lacks_end_ = false;
  size_t missing_end_bytes_ = 0;
  uint64_t end_ = 0;

  ReadState damage_state_ = ReadState::kEnd;
  uint64_t damage_offset_ = 0;
  std::string damage_;
};

// What a scan found: how far the archive is whole.
struct ScanResult {
  uint64_t end = 0;      // behind the last whole record
  uint64_t records = 0;  // whole ones
  // kEnd if all is whole; else what stands at `end`.
  ReadState state = ReadState::kEnd;
  std::string damage;  // in words, with file and offset
};

// Reads whole records from `offset` on, the start of a record or the end of the
// file, to the first that is not whole. `visit`, if given, is called for each
// with the reader behind its end; an Error of it ends the scan. For crash
// recovery: cut the file at `end`. An offset behind the end of the file is
// kCorruption.
Result<ScanResult> ScanFrom(
    FileSystem& fs, const std::string& path, uint64_t offset,
    const std::function<Status(const WarcReader&)>& visit = nullptr,
    const ReaderOptions& options = {});

}  // namespace nephila::store
