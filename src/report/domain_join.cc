#include "report/domain_join.h"

#include <bit>

namespace nephila::report {

DomainJoin::DomainJoin(drum::Scan* scan, const item::BudgetFunction* function,
                       size_t top)
    : scan_(scan),
      function_(function),
      by_degree_(top, [](const DomainRow& row) { return row.in_degree; }),
      by_pages_(top, [](const DomainRow& row) { return row.pages; }) {}

Result<budget::PldRecord> DomainJoin::NextRecord() {
  const auto record = budget::ReadPldRecord(scan_->value());
  if (!record) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "the store of domains holds what is no record"});
  }
  NEPHILA_RETURN_IF_ERROR(scan_->Next());
  return *record;
}

Status DomainJoin::Take(uint64_t key, const Sums& sums) {
  while (scan_ != nullptr && !scan_->AtEnd() && scan_->key() < key) {
    const uint64_t other = scan_->key();
    NEPHILA_TRY(const budget::PldRecord record, NextRecord());
    Note(other, record.in_degree, {});
  }
  uint64_t in_degree = 0;
  if (scan_ != nullptr && !scan_->AtEnd() && scan_->key() == key) {
    NEPHILA_TRY(const budget::PldRecord record, NextRecord());
    in_degree = record.in_degree;
  }
  Note(key, in_degree, sums);
  return {};
}

Status DomainJoin::Finish() {
  while (scan_ != nullptr && !scan_->AtEnd()) {
    const uint64_t key = scan_->key();
    NEPHILA_TRY(const budget::PldRecord record, NextRecord());
    Note(key, record.in_degree, {});
  }
  return {};
}

void DomainJoin::Note(uint64_t key, uint64_t in_degree, const Sums& sums) {
  ++known_;
  Bin& bin = bins_.at(static_cast<size_t>(std::bit_width(in_degree)));
  ++bin.domains;
  bin.pages += sums.pages;
  if (sums.pages > 0) {
    ++visited_;
    ++bin.visited;
    bin.sizes.Add(sums.pages);
  }
  DomainRow row;
  row.key = key;
  row.in_degree = in_degree;
  row.pages = sums.pages;
  row.bytes = sums.bytes;
  if (function_ != nullptr) row.budget = function_->Budget(in_degree);
  by_degree_.Add(row);
  by_pages_.Add(row);
}

void DomainJoin::Fill(Figures* figures) const {
  figures->known_domains = known_;
  figures->domains = visited_;
  figures->top_by_degree = by_degree_.rows();
  figures->top_by_pages = by_pages_.rows();
  for (size_t i = 0; i < bins_.size(); ++i) {
    const Bin& bin = bins_.at(i);
    if (bin.domains == 0) continue;
    DegreeBin one;
    one.from = i == 0 ? 0 : uint64_t{1} << (i - 1);
    one.to = i == 0 ? 0 : one.from + (one.from - 1);
    one.domains = bin.domains;
    one.visited = bin.visited;
    one.pages = bin.pages;
    one.median_pages = bin.sizes.Quantile(0.5);
    figures->degrees.push_back(one);
  }
}

}  // namespace nephila::report
