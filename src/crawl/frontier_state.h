// FrontierState: what a manifest has of the frontier beside its stages: how far
// it is in the journal, and what is between two stages
// (docs/formats/frontier.md).
//   In: the part `frontier` of a manifest, hostile   Out: the same, read
//   Threads: a value   Cost: linear in the bytes
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "crawl/ended_attempts.h"
#include "crawl/place_window.h"

namespace nephila::crawl {

inline constexpr uint8_t kFrontierStateVersion = 4;
// With places that ended in place of those that are open, and with walks.
inline constexpr uint8_t kOldFrontierStateVersion = 3;

// Of the queues of the frontier: URLs that may be fetched.
inline constexpr uint64_t kReadyQueue = 0;
// And those that failed for good (frontier_retry.cc). Beyond those of all times
// (due_slot.h).
inline constexpr uint64_t kFailedQueue = uint64_t{1} << 62;

// Of `budget`, on its way to `robots`, or back there from the ready queue.
struct ToRobots {
  std::string record;
  uint64_t budget = 0;
};

struct FrontierState {
  uint64_t next_entry = 1;
  bool begun = false;  // that entry, of which so many links and edges are taken
  uint64_t links = 0;
  uint64_t edges = 0;
  PlaceWindow places;  // of the ready queue
  EndedAttempts ended_attempts;
  std::vector<ToRobots> to_robots;
  // Of version 3: redirects that were followed from a robots.txt whose fetch
  // has not ended, by origin.
  std::map<std::string, std::vector<std::string>, std::less<>> walks;

  // Up to the scope, which follows. False if the bytes are none, or of another
  // version. REQUIRES: it is new.
  bool Read(ByteReader& reader);

 private:
  bool ReadWalks(ByteReader& reader);
};

}  // namespace nephila::crawl
