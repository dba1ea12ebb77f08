// LongRules: rules of the log that were matched lately, ready to be matched
// again, since URLs of a host come in company.
//   In: places in the log and paths   Out: allowed or not
//   Threads: one. Cost: a read for rules that are not in memory; memory is
//   bounded, up to one set of rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "robots/matcher.h"
#include "robots/robots_record.h"
#include "robots/rules.h"
#include "robots/rules_log.h"

namespace nephila::robots {

class LongRules {
 public:
  // `log` outlives this.
  LongRules(RulesLog& log, uint64_t memory_bytes)
      : log_(log), memory_bytes_(memory_bytes) {}

  // Errors as of RulesLog::Read; kCorruption also for bytes that are no rules.
  Result<bool> Allows(uint64_t key, const RulesPlace& place,
                      std::string_view path);

 private:
  struct Loaded {
    Loaded(const RulesPlace& at, std::unique_ptr<const std::string> text,
           const Rules& rules)
        : place(at), bytes(std::move(text)), matcher(rules) {}

    const RulesPlace place;
    const std::unique_ptr<const std::string> bytes;  // of the matcher's views
    Matcher matcher;
  };

  Result<std::unique_ptr<Loaded>> Load(uint64_t key, const RulesPlace& place);

  RulesLog& log_;
  const uint64_t memory_bytes_;
  uint64_t used_bytes_ = 0;
  std::list<std::unique_ptr<Loaded>> loaded_;  // the latest first
};

}  // namespace nephila::robots
