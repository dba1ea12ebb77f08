#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "store/archive_index.h"
#include "store/cdxj_merge.h"
#include "store/verify.h"

namespace nephila::store {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

// Appends [begin, end) of one file to another.
Status Copy(File& from, uint64_t begin, uint64_t end, File& to,
            uint64_t* to_offset) {
  std::string buffer;
  while (begin < end) {
    buffer.resize(
        static_cast<size_t>(std::min<uint64_t>(end - begin, kCopyBytes)));
    NEPHILA_RETURN_IF_ERROR(
        from.ReadExact(begin, std::as_writable_bytes(std::span(buffer))));
    NEPHILA_RETURN_IF_ERROR(
        to.Write(*to_offset, std::as_bytes(std::span(buffer))));
    begin += buffer.size();
    *to_offset += buffer.size();
  }
  return {};
}

class Repair {
 public:
  Repair(FileSystem& fs, const std::string& path, const VerifyOptions& options,
         const std::function<void(std::string)>& say)
      : fs_(fs), path_(path), options_(options), say_(say) {}

  Status Run() {
    bool moved = false;
    // What is cut may leave a record without the line ends behind it, which are
    // then added: a second round.
    for (int round = 0; round < 2; ++round) {
      NEPHILA_TRY(report_,
                  VerifyArchive(fs_, path_, options_, [](const Finding&) {}));
      if (report_.damages.empty()) break;
      NEPHILA_TRY(bool mended, MendFraming());
      if (!mended) return {};  // refused: left alone
      moved = true;
    }
    if (!moved && report_.has_index && report_.index_differences == 0) {
      return {};
    }
    return MendIndex();
  }

 private:
  void Say(std::string what) {
    say_(fmt::format("{}: {}", path_, std::move(what)));
  }

  // Whether the archive was changed.
  Result<bool> MendFraming() {
    for (const DamagedRange& range : report_.damages) {
      if (range.records_inside == 0) continue;
      Say(fmt::format(
          "not repaired: the broken member at offset {} holds {} whole records "
          "that would be cut with it; copy them out first (nephila warc cat)",
          range.begin, range.records_inside));
      return false;
    }
    const DamagedRange& last = report_.damages.back();
    bool tail_only = report_.damages.size() == 1 && last.end == report_.size;
    if (tail_only && last.missing_end_bytes > 0) {
      NEPHILA_RETURN_IF_ERROR(AddEnd(last.missing_end_bytes));
      return true;
    }
    if (report_.records == 0) {
      Say("not repaired: there is no whole record in it; is it an archive?");
      return false;
    }
    if (report_.is_arc) {
      Say("not repaired: an ARC, in which what is whole behind damage cannot "
          "be told from it");
      return false;
    }
    NEPHILA_RETURN_IF_ERROR(SaveDamages());
    NEPHILA_RETURN_IF_ERROR(tail_only ? CutTail(last.begin) : CopyWhole());
    return true;
  }

  Status AddEnd(size_t missing) {
    NEPHILA_TRY(auto file, fs_.Open(path_, OpenMode::kReadWrite));
    std::string_view end = kRecordEnd.substr(kRecordEnd.size() - missing);
    NEPHILA_RETURN_IF_ERROR(
        file->Write(report_.size, std::as_bytes(std::span(end))));
    NEPHILA_RETURN_IF_ERROR(file->Sync());
    Say(fmt::format("added the {} bytes that were missing at its end",
                    missing));
    return {};
  }

  // Nothing is taken away before it is safe elsewhere.
  Status SaveDamages() {
    std::string cut = path_ + ".cut";
    for (int i = 2;; ++i) {
      NEPHILA_TRY(bool exists, fs_.Exists(cut));
      if (!exists) break;
      cut = fmt::format("{}.cut{}", path_, i);
    }
    NEPHILA_TRY(auto from, fs_.Open(path_, OpenMode::kRead));
    NEPHILA_TRY(auto aside, AsideFile::Create(fs_, cut));
    uint64_t offset = 0;
    for (const DamagedRange& range : report_.damages) {
      NEPHILA_RETURN_IF_ERROR(
          Copy(*from, range.begin, range.end, aside->file(), &offset));
    }
    NEPHILA_RETURN_IF_ERROR(aside->Commit());
    for (const DamagedRange& range : report_.damages) {
      Say(fmt::format("bytes {} to {} ({}) saved in {}", range.begin, range.end,
                      range.what, cut));
    }
    return {};
  }

  Status CutTail(uint64_t end) {
    NEPHILA_TRY(auto file, fs_.Open(path_, OpenMode::kReadWrite));
    NEPHILA_RETURN_IF_ERROR(file->Truncate(end));
    NEPHILA_RETURN_IF_ERROR(file->Sync());
    Say(fmt::format("cut at {}, behind its last whole record", end));
    return {};
  }

  Status CopyWhole() {
    NEPHILA_TRY(auto from, fs_.Open(path_, OpenMode::kRead));
    NEPHILA_TRY(auto aside, AsideFile::Create(fs_, path_));
    uint64_t done = 0;
    uint64_t offset = 0;
    for (const DamagedRange& range : report_.damages) {
      NEPHILA_RETURN_IF_ERROR(
          Copy(*from, done, range.begin, aside->file(), &offset));
      done = range.end;
    }
    NEPHILA_RETURN_IF_ERROR(
        Copy(*from, done, report_.size, aside->file(), &offset));
    NEPHILA_RETURN_IF_ERROR(aside->Commit());
    Say(fmt::format("written anew without {} damaged places: {} of {} bytes",
                    report_.damages.size(), offset, report_.size));
    return {};
  }

  Status MendIndex() {
    NEPHILA_TRY(const IndexCounts counts, RebuildIndex(fs_, path_));
    Say(fmt::format("index {} made again with {} lines", IndexPathOf(path_),
                    counts.lines));
    return {};
  }

  FileSystem& fs_;
  const std::string path_;
  const VerifyOptions options_;
  const std::function<void(std::string)>& say_;
  VerifyReport report_;
};

}  // namespace

Status RepairArchive(FileSystem& fs, const std::string& path,
                     const VerifyOptions& options,
                     const std::function<void(std::string)>& say) {
  return Repair(fs, path, options, say).Run();
}

Result<IndexCounts> RebuildIndex(FileSystem& fs, const std::string& path) {
  CdxjSorter sorter(fs, IndexPathOf(path));
  NEPHILA_TRY(
      const IndexCounts counts,
      IndexArchive(fs, path, IndexedName(path), [&](const CdxjLine& line) {
        return sorter.Add(FormatCdxj(line));
      }));
  NEPHILA_RETURN_IF_ERROR(sorter.Finish());
  return counts;
}

}  // namespace nephila::store
