// CheckRules: whether every record of RobotsCache is one, and its rules are
// whole, inline or in the log of long rules.
//
//   In: the folder of the stage that no process works on, its commit.
//   Out: counts, a Damage for each thing that is wrong.
//   Not seen: rules of the log that no record names any more.
//   Threads: one.   Memory: the blocks of a scan, and one set of rules.
//   Cost: a scan of the cache; a read for each long set of rules.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/damage.h"
#include "base/file.h"

namespace nephila::robots {

struct RulesCounts {
  uint64_t records = 0;
  uint64_t in_log = 0;
  // Whose file was forgotten: they are asked for again (rules_log.h).
  uint64_t forgotten = 0;
};

// `fs` is one that may be opened for writing and stays as it is
// (base/frozen_file_system.h). Paths of the log go to *named.
RulesCounts CheckRules(FileSystem& fs, const std::string& dir,
                       std::string_view commit, const DamageSink& sink,
                       std::set<std::string>* named);

}  // namespace nephila::robots
