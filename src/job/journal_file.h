// The files of a journal: their names, heads and frames.
//   Disk: docs/formats/journal.md.   Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

inline constexpr uint64_t kJournalVersion = 2;
// A head is at most so long, in any version.
inline constexpr uint32_t kMostJournalHeadBytes = 4096;

std::string JournalFileName(uint64_t first);
// The inverse; nothing for other names.
std::optional<uint64_t> JournalFileFirst(std::string_view name);
// First entries of the files in `dir`, ascending.
Result<std::vector<uint64_t>> ListJournal(FileSystem& fs,
                                          const std::string& dir);

// The frame that a file begins with.
std::string JournalHead(uint64_t first, uint64_t salt);
uint64_t JournalHeadSalt(uint64_t first);
struct JournalHeadFields {
  uint64_t version = 0;
  uint64_t salt = 0;
};
// Of the payload; nothing if it is no head.
std::optional<JournalHeadFields> ReadJournalHead(std::string_view payload);

// Of the frame of an entry: it is good under one number of one journal.
uint64_t JournalEntrySalt(uint64_t salt, uint64_t number);

}  // namespace nephila::job
