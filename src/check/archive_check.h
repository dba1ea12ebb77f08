// ArchiveCheck: the archive of a job: every record and index as `nephila warc
// verify` does, and across: each entry of the journal leads to a record of its
// URL, each record of a fetch has an entry or lies before the journal's
// beginning, crawl.log has a line for it, and no URL was archived twice.
//
// Twice is: two responses of one URL and one attempt, which are no redirects
// and no robots.txt; two redirects of one URL, attempt and hop path.
//   In: the archive's folder, the journal's facts.   Out: damages and counts.
//   Threads: one.   Memory: `memory_bytes`, then scratch files of 16 bytes a
//   page (base/pair_sorter.h); that of VerifyArchive for one file.
//   Cost: archives are read three times (records, index, units).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/pair_sorter.h"
#include "check/findings.h"
#include "check/journal_check.h"
#include "check/log_check.h"
#include "config/settings.h"
#include "store/archive_units.h"
#include "store/store.h"
#include "url/canonicalizer.h"

namespace nephila::check {

class ArchiveCheck {
 public:
  struct Parts {
    FileSystem& fs;
    std::string dir;                   // of the job's own: logs are there
    std::vector<std::string> folders;  // of archives
    std::string prefix;                // `store.prefix`
    std::string scratch;
    uint64_t memory_bytes = 0;
    // Of the newest manifest; empty without one.
    std::vector<store::StorePosition> positions;
    const JournalFacts& journal;
    url::Canonicalizer* canonicalizer = nullptr;  // null: keys are not known
  };

  ArchiveCheck(const Parts& parts, Findings* findings);

  void Run();
  // Paths that belong to the archive.
  const std::set<std::string>& files() const { return files_; }

 private:
  struct ArchiveFile {
    std::string path;
    uint64_t serial = 0;
    bool open = false;
    uint64_t size = 0;
  };
  struct Stream {
    size_t number = 0;
    std::vector<ArchiveFile> files;    // by serial
    store::StorePosition position;     // by the manifest
    std::vector<PlacedEntry> entries;  // in order; void ones left out
    size_t next_entry = 0;
    std::unique_ptr<LogCheck> log;
  };

  void ListStreams();
  void CheckStream(Stream* stream);
  void CheckFile(const Stream& stream, const ArchiveFile& file);
  void CheckIndex(const ArchiveFile& file, const std::string& index);
  void CheckSerials(const Stream& stream);
  void WalkUnits(Stream* stream, const ArchiveFile& file);
  void TakeEntries(Stream* stream);
  void MatchEntry(Stream* stream, const ArchiveFile& file,
                  const store::Unit& unit);
  // An entry whose place has been passed.
  void MissEntry(const Stream& stream, const PlacedEntry& entry,
                 const ArchiveFile* file, const store::Unit* unit);
  void CompareEntry(const PlacedEntry& entry, const ArchiveFile& file,
                    const store::Unit& unit);
  bool IsOf(const store::Unit& unit, const PlacedEntry& entry);
  void NoteForDuplicates(const ArchiveFile& file, const store::Unit& unit);
  void FindDuplicates();
  void CheckFailures();
  void EndParts();

  const Parts parts_;
  Findings& findings_;
  std::set<std::string> files_;
  std::vector<Stream> streams_;
  std::vector<std::string> paths_;  // by number, for duplicates
  PairSorter pages_;
  bool sorter_failed_ = false;
  bool is_damaged_ = false;  // an archive is: entries may miss their records
  uint64_t records_ = 0;
  uint64_t digests_ = 0;
  uint64_t bytes_ = 0;
  uint64_t fetches_ = 0;
  uint64_t names_ = 0;
  uint64_t indexes_ = 0;
  uint64_t matched_ = 0;  // entries with their record
  uint64_t void_ = 0;     // entries whose record a power loss took
};

}  // namespace nephila::check
