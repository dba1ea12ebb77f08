// PassThrough: the stage `budget` of a crawl that has no budgets, such as that
// of some sites: URLs go straight on, without pass or queue.
//   In, out: the same URLs, each with the one budget of all
//   Drop, disk, held: nothing   Threads: one   Cost: two additions
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/metrics.h"
#include "budget/budget.h"
#include "item/saved_totals.h"

namespace nephila::budget {

class PassThrough {
 public:
  explicit PassThrough(uint64_t budget) : budget_(budget) {}

  void Pass(std::string_view record, const BudgetSink& sink) {
    account_.In();
    sink({record, budget_});
    account_.Out();
  }

  // The counters, for the manifest; false if the bytes are none.
  std::string Save() const {
    std::string bytes;
    ByteWriter writer(bytes);
    item::WriteTotals(account_.Totals(), writer);
    return bytes;
  }
  // REQUIRES: nothing has passed yet.
  bool Restore(std::string_view bytes) {
    ByteReader reader(bytes);
    return item::RestoreTotals(reader, account_);
  }

  const StageAccount& account() const { return account_; }

 private:
  const uint64_t budget_;
  StageAccount account_{"budget", {}};
};

}  // namespace nephila::budget
