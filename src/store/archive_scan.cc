#include "store/archive_scan.h"

#include <fmt/core.h>

#include <optional>
#include <utility>
#include <vector>

#include "store/archive_index.h"
#include "store/warc_reader.h"

namespace nephila::store {
namespace {

bool EndsUnit(RecordType type) {
  return type != RecordType::kRequest && type != RecordType::kResponse &&
         type != RecordType::kRevisit;
}

class Scan {
 public:
  Scan(WarcReader& reader, std::string filename, uint64_t limit)
      : reader_(reader), filename_(std::move(filename)), limit_(limit) {}

  Result<ArchiveScan> Run() {
    for (;;) {
      if (!in_unit_ && result_.end >= limit_) return std::move(result_);
      NEPHILA_TRY(const ReadState state, reader_.Next());
      if (state == ReadState::kEnd) break;
      if (state != ReadState::kRecord) return Damaged();
      NEPHILA_TRY(const bool whole, TakeRecord());
      if (!whole) return Damaged();
    }
    if (!pending_.empty() || in_unit_) {
      result_.damage = reader_.path() + ": the last fetch is not whole";
    }
    return std::move(result_);
  }

 private:
  ArchiveScan Damaged() {
    result_.damage = fmt::format("{}: at byte {}: {}", reader_.path(),
                                 reader_.damage_offset(), reader_.damage());
    return std::move(result_);
  }

  // Whether it is whole.
  Result<bool> TakeRecord() {
    const RecordType type = reader_.header().type();
    ReadState state = ReadState::kEnd;
    NEPHILA_TRY(std::optional<CdxjLine> line,
                IndexRecord(reader_, filename_, &state));
    if (state != ReadState::kRecord) return false;
    if (type == RecordType::kWarcinfo && result_.warcinfo_id.empty()) {
      result_.warcinfo_id = reader_.header().record_id();
    }
    if (line) pending_.push_back(*std::move(line));
    in_unit_ = !EndsUnit(type);
    if (in_unit_) return true;
    if (reader_.end() > limit_ && type != RecordType::kWarcinfo) return true;
    for (const CdxjLine& whole : pending_) result_.index.Add(whole);
    pending_.clear();
    result_.end = reader_.end();
    return true;
  }

  WarcReader& reader_;
  const std::string filename_;
  const uint64_t limit_;
  ArchiveScan result_;
  std::vector<CdxjLine> pending_;  // of the unit that is being read
  bool in_unit_ = false;
};

}  // namespace

Result<ArchiveScan> ScanArchive(FileSystem& fs, const std::string& path,
                                const std::string& filename, uint64_t limit) {
  NEPHILA_TRY(auto reader, WarcReader::Open(fs, path));
  return Scan(*reader, filename, limit).Run();
}

Result<bool> EnsureIndex(FileSystem& fs, const std::string& archive_path,
                         const std::string& index_path) {
  const std::string filename(BaseName(archive_path));
  NEPHILA_TRY(const ArchiveScan scan, ScanArchive(fs, archive_path, filename));
  if (!scan.damage.empty()) {
    return Unexpected(Error{ErrorCode::kCorruption, scan.damage});
  }
  NEPHILA_TRY(const bool matches, scan.index.Matches(fs, index_path));
  if (matches) return false;
  NEPHILA_RETURN_IF_ERROR(scan.index.Publish(fs, index_path));
  return true;
}

}  // namespace nephila::store
