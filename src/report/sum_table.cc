#include "report/sum_table.h"

#include <algorithm>
#include <optional>

namespace nephila::report {
namespace {

// Of a key in the table: its node, its bucket, and what sorting needs of it.
constexpr size_t kTableBytes = 128;

}  // namespace

void Sums::Add(const Sums& other) {
  pages += other.pages;
  bytes += other.bytes;
  failures += other.failures;
  millis += other.millis;
}

SumTable::SumTable(FileSystem& fs, const std::string& scratch,
                   std::string_view name, uint64_t memory_bytes)
    : most_(std::max<size_t>(memory_bytes / kTableBytes, 1)),
      runs_(fs, scratch, name) {}

Status SumTable::Add(uint64_t key, const Sums& sums) {
  table_[key].Add(sums);
  return table_.size() < most_ ? Status() : runs_.Add(TakeSorted());
}

std::vector<SumTable::Row> SumTable::TakeSorted() {
  std::vector<Row> rows;
  rows.reserve(table_.size());
  for (const auto& [key, sums] : table_) rows.push_back({key, sums});
  table_.clear();
  std::ranges::sort(rows, {}, &Row::key);
  return rows;
}

Status SumTable::Merge(
    const std::function<Status(uint64_t key, const Sums&)>& take) {
  if (runs_.size() > 0) return MergeRuns(take);
  for (const Row& row : TakeSorted()) {
    NEPHILA_RETURN_IF_ERROR(take(row.key, row.sums));
  }
  return {};
}

Status SumTable::MergeRuns(
    const std::function<Status(uint64_t key, const Sums&)>& take) {
  if (!table_.empty()) NEPHILA_RETURN_IF_ERROR(runs_.Add(TakeSorted()));
  std::optional<Row> sum;
  const auto less = [](const Row& a, const Row& b) { return a.key < b.key; };
  const auto add = [&](const Row& row) -> Status {
    if (sum && sum->key == row.key) {
      sum->sums.Add(row.sums);
      return {};
    }
    if (sum) NEPHILA_RETURN_IF_ERROR(take(sum->key, sum->sums));
    sum = row;
    return {};
  };
  NEPHILA_RETURN_IF_ERROR(runs_.Merge(less, add));
  return sum ? take(sum->key, sum->sums) : Status();
}

}  // namespace nephila::report
