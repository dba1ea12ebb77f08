#include "store/verify.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "store/archive_index.h"
#include "store/http_message.h"
#include "store/index_check.h"
#include "store/index_line.h"

namespace nephila::store {
namespace {

class Verifier {
 public:
  Verifier(FileSystem& fs, const std::string& path,
           const VerifyOptions& options, const FindingSink& sink)
      : fs_(fs),
        path_(path),
        options_(options),
        sink_(sink),
        checker_(options.check,
                 [this](const Finding& finding) { Report(finding); }),
        index_(options.check.max_ids) {}

  Result<VerifyReport> Run() {
    NEPHILA_TRY(auto reader, WarcReader::Open(fs_, path_, options_.reader));
    NEPHILA_TRY(report_.size, reader->FileSize());
    report_.is_arc = reader->is_arc();
    NEPHILA_TRY(report_.has_index, fs_.Exists(IndexPathOf(path_)));
    report_.has_index = report_.has_index && options_.index;
    while (true) {
      NEPHILA_TRY(ReadState state, reader->Next());
      if (state == ReadState::kEnd) break;
      if (state == ReadState::kRecord) {
        NEPHILA_TRY(bool fits, reader->BlockFits());
        NEPHILA_TRY(state, fits ? checker_.Check(*reader) : reader->Finish());
      }
      if (state == ReadState::kRecord) {
        TakeRecord(*reader);
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(TakeDamage(*reader, state));
    }
    checker_.Finish();
    report_.digests = checker_.digests();
    if (report_.has_index) NEPHILA_RETURN_IF_ERROR(CompareIndex());
    return std::move(report_);
  }

 private:
  void Report(const Finding& finding) {
    ++(finding.severity == Severity::kError ? report_.errors : report_.notes);
    sink_(finding);
  }

  void TakeRecord(const WarcReader& reader) {
    ++report_.records;
    if (reader.offset() != member_) member_records_ = 0;
    member_ = reader.offset();
    ++member_records_;
    if (reader.ends_member()) member_records_ = 0;
  }

  Status TakeDamage(WarcReader& reader, ReadState state) {
    DamagedRange range;
    range.begin = reader.damage_offset();
    range.torn = state == ReadState::kTorn;
    range.what = reader.damage();
    range.missing_end_bytes = reader.missing_end_bytes();
    if (range.begin == member_) range.records_inside = member_records_;
    NEPHILA_TRY(bool found, reader.Resync());
    range.end = found ? reader.next_offset() : report_.size;
    std::string_view where = found ? "in the middle" : "at the end";
    Report({Severity::kError, range.begin,
            fmt::format("{}; {} bytes {} of the file are {}", range.what,
                        range.end - range.begin, where,
                        range.torn && !found ? "torn" : "broken")});
    report_.damages.push_back(std::move(range));
    return {};
  }

  // A second, quick reading of the archive: the index is small beside it, and
  // both passes stay simple.
  Status CompareIndex() {
    auto counts = IndexArchive(fs_, path_, IndexedName(path_),
                               [this](const CdxjLine& line) -> Status {
                                 index_.AddRecord(line);
                                 return {};
                               });
    if (!counts) return Unexpected(std::move(counts).error());
    std::string index_path = IndexPathOf(path_);
    auto differences = index_.Compare(
        fs_, index_path, IndexedName(path_), [&](std::string what) {
          Report({Severity::kError, 0,
                  fmt::format("{}: {}", index_path, std::move(what))});
        });
    if (!differences) {
      // A line too long for any index is a difference, not a broken disk.
      if (differences.error().code != ErrorCode::kCorruption) {
        return Unexpected(std::move(differences).error());
      }
      Report({Severity::kError, 0, differences.error().message});
      report_.index_differences = 1;
      return {};
    }
    report_.index_differences = *differences;
    return {};
  }

  FileSystem& fs_;
  const std::string path_;
  const VerifyOptions options_;
  const FindingSink& sink_;
  VerifyReport report_;
  RecordChecker checker_;
  IndexChecker index_;
  uint64_t member_ = UINT64_MAX;  // of the record before
  uint64_t member_records_ = 0;   // in a member that goes on
};

}  // namespace

Result<VerifyReport> VerifyArchive(FileSystem& fs, const std::string& path,
                                   const VerifyOptions& options,
                                   const FindingSink& sink) {
  return Verifier(fs, path, options, sink).Run();
}

}  // namespace nephila::store
