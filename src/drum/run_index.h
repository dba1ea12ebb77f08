// The index of a run: its last block, and what an open run keeps in memory.
//
//   "NRUN", u8 version, u8 value kind, u16 0, u32 value bytes, u32 blocks,
//   u64 records, u64 tombstones, then for each block, ascending:
//   u64 first key, u32 page, u16 pages, u16 records
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "drum/value.h"

namespace nephila::drum {

struct RunIndexEntry {
  uint64_t first_key = 0;
  uint32_t page = 0;  // offset / kPageBytes
  uint16_t pages = 0;
  uint16_t count = 0;  // of records
};
static_assert(sizeof(RunIndexEntry) == 16);

struct RunIndex {
  ValueFormat format;
  uint64_t records = 0;
  uint64_t tombstones = 0;
  std::vector<RunIndexEntry> entries;
};

std::string FormatRunIndex(const RunIndex& index);

// What is wrong with it, if anything: parsed from any bytes, the index has
// ascending keys and blocks of a possible size that lie within the first
// `file_pages` pages, and its entries add up to its records. kUnsupported for a
// later version.
Result<RunIndex> ParseRunIndex(std::string_view payload, uint64_t file_pages);

}  // namespace nephila::drum
