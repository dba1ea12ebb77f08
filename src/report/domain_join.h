// DomainJoin: what is known of each domain beside what was fetched of it. Both
// sides are in the order of the domains' keys: the records of `budget` and the
// sums of crawl.log.
//   In: sums by key, ascending.   Out: bins of in-degrees, the top domains.
//   Threads: one.   Memory: some hundred KB.   Cost: one pass over both.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "budget/assignment.h"
#include "drum/scan.h"
#include "item/budget_function.h"
#include "report/figures.h"
#include "report/log_figures.h"
#include "report/sum_table.h"

namespace nephila::report {

// The rows with the most of something, in order; equal ones by key.
template <typename Row>
class TopRows {
 public:
  TopRows(size_t most, uint64_t (*score)(const Row&))
      : most_(most), score_(score) {}

  void Add(const Row& row) {
    if (score_(row) == 0) return;
    const auto comes_before = [this](const Row& a, const Row& b) {
      if (score_(a) != score_(b)) return score_(a) > score_(b);
      return a.key < b.key;
    };
    if (rows_.size() >= most_ &&
        (most_ == 0 || comes_before(rows_.back(), row))) {
      return;
    }
    rows_.insert(std::ranges::upper_bound(rows_, row, comes_before), row);
    if (rows_.size() > most_) rows_.pop_back();
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  const size_t most_;
  uint64_t (*const score_)(const Row&);
  std::vector<Row> rows_;
};

class DomainJoin {
 public:
  // Either may be null: without budgets there are no records. Both outlive
  // this.
  DomainJoin(drum::Scan* scan, const item::BudgetFunction* function,
             size_t top);

  Status Take(uint64_t key, const Sums& sums);
  // Records behind the last key that was taken.
  Status Finish();
  void Fill(Figures* figures) const;

 private:
  struct Bin {
    uint64_t domains = 0;
    uint64_t visited = 0;
    uint64_t pages = 0;
    SizeHistogram sizes;
  };

  // The record at the scan, which moves on.
  Result<budget::PldRecord> NextRecord();
  void Note(uint64_t key, uint64_t in_degree, const Sums& sums);

  drum::Scan* const scan_;
  const item::BudgetFunction* const function_;
  std::array<Bin, 65> bins_;  // 0, then a doubling each
  TopRows<DomainRow> by_degree_;
  TopRows<DomainRow> by_pages_;
  uint64_t known_ = 0;
  uint64_t visited_ = 0;
};

}  // namespace nephila::report
