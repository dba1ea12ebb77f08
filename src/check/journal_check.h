// CheckJournal: every entry of a job's journal, from the oldest that is there:
// numbers without a gap, frames, what they say; and what of it has to be found
// elsewhere: a record in the archive, a line in crawl.log.
//
//   In: the journal's folder, what the manifests cover.   Out: damages, and
//   the facts for the other checks.
//   Not seen: what a file holds behind the first entry of the next one.
//   Threads: one.   Memory: 64 bytes an entry; a journal keeps those since the
//   manifest before the last, whatever the size of the crawl.
//   Cost: one pass.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "check/findings.h"
#include "job/entry.h"

namespace nephila::check {

// An entry that names a record.
struct PlacedEntry {
  uint64_t number = 0;
  job::ArchivePlace place;
  uint64_t url_hash = 0;  // HashOf its record's URL
  uint64_t key = 0;       // the URL's
  uint32_t attempt = 0;
  uint16_t status = 0;
  bool is_robots = false;
};

struct JournalFacts {
  uint64_t first = 1;  // entry that is there
  uint64_t next = 1;   // behind the last
  bool whole = true;   // nothing of it is damaged
  WallTime first_when{};
  uint64_t seeds = 0;
  uint64_t pages = 0;
  uint64_t robots = 0;
  uint64_t commands = 0;
  uint64_t bytes = 0;
  std::vector<PlacedEntry> placed;  // by number
  // URLs of attempts that left no record.
  std::vector<uint64_t> failed;  // HashOf
};

struct JournalNeeds {
  uint64_t from = 1;     // the oldest entry that a manifest needs
  uint64_t covered = 0;  // the newest that a manifest covers
  uint64_t key_seed = 0;
};

uint64_t HashOf(std::string_view url);

JournalFacts CheckJournal(FileSystem& fs, const std::string& dir,
                          const JournalNeeds& needs, Findings* findings,
                          std::set<std::string>* named);

}  // namespace nephila::check
