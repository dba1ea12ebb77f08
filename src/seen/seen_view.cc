#include "seen/seen_view.h"

#include <utility>

#include "base/bytes.h"
#include "base/metrics.h"
#include "drum/drum.h"
#include "drum/waiting_scan.h"
#include "item/saved_totals.h"
#include "seen/seen.h"
#include "seen/seen_commit.h"

namespace nephila::seen {

Result<SeenView> SeenView::Open(FileSystem& fs, std::string dir,
                                std::string_view commit) {
  NEPHILA_TRY(const Commit parts, ReadCommit(commit));
  SeenView view;
  view.fs_ = &fs;
  view.dir_ = std::move(dir);
  view.generation_ = parts.generation;
  ByteReader reader(parts.state);
  StageAccount account(kStageName, kDropReasonNames);
  if (!item::RestoreTotals(reader, account)) {
    return item::DamagedCommit(kStageName);
  }
  view.let_through_ = account.Totals().out;
  const auto waiting = reader.Varint();
  if (!waiting.has_value()) return item::DamagedCommit(kStageName);
  for (uint64_t i = 0; i < *waiting; ++i) {
    const auto record = reader.Sized();
    if (!record.has_value()) return item::DamagedCommit(kStageName);
    view.new_.emplace_back(*record);
  }
  return view;
}

Result<bool> SeenView::IsKnown(url::UrlKey key) const {
  drum::ScanRange range;
  range.first = range.last = key.value;
  NEPHILA_TRY(const auto scan,
              drum::ScanCommit(*fs_, dir_, generation_, range));
  return !scan->AtEnd();
}

Result<uint64_t> SeenView::LinksInPass(url::UrlKey key) const {
  uint64_t links = 0;
  NEPHILA_RETURN_IF_ERROR(
      drum::FindTuples(*fs_, dir_, generation_, key.value,
                       [&links](std::string_view) { ++links; }));
  return links;
}

Result<uint64_t> SeenView::Bytes() const {
  return drum::WaitingBytes(*fs_, dir_, generation_);
}

Status SeenView::ForEachNew(const Sink& sink) const {
  for (const std::string& record : new_) {
    NEPHILA_TRY(const bool more, sink({record, true}));
    if (!more) break;
  }
  return {};
}

Status SeenView::ForEach(const Sink& sink) const {
  for (const std::string& record : new_) {
    NEPHILA_TRY(const bool more, sink({record, true}));
    if (!more) return {};
  }
  return drum::ScanWaiting(*fs_, dir_, generation_,
                           [&sink](std::string_view aux) -> Result<bool> {
                             return sink({aux, false});
                           });
}

}  // namespace nephila::seen
