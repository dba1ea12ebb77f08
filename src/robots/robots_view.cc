#include "robots/robots_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "drum/drum.h"
#include "drum/waiting_scan.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "robots/parking.h"
#include "robots/request_queue.h"
#include "robots/return_gate.h"
#include "robots/robots_stage.h"
#include "robots/stage_queues.h"
#include "robots/waiting_url.h"

namespace nephila::robots {
namespace {

constexpr std::string_view kStage = "robots";

}  // namespace

Result<RobotsView> RobotsView::Open(FileSystem& fs, const std::string& dir,
                                    std::string_view commit) {
  ByteReader reader(commit);
  NEPHILA_TRY(const uint8_t version, ReadVersion(reader));
  const auto cache_generation = reader.Varint();
  const auto queue_generation = reader.Varint();
  if (!cache_generation.has_value() || !queue_generation.has_value()) {
    return item::DamagedCommit(kStage);
  }
  NEPHILA_TRY(
      disk_queue::SetScan queues,
      disk_queue::SetScan::Open(fs, dir + "/queues", *queue_generation));
  RobotsView view(std::move(queues));
  view.fs_ = &fs;
  view.dir_ = dir;
  view.is_by_origin_ = version != kHostCommit;
  view.cache_generation_ = *cache_generation;
  view.frozen_ = std::make_unique<FrozenFileSystem>(fs);
  NEPHILA_TRY(view.log_, RulesLog::Open(*view.frozen_, dir + "/rules",
                                        RulesLog::kLeastBytes, reader));
  if (!view.ReadState(reader, version)) return item::DamagedCommit(kStage);
  return view;
}

bool RobotsView::ReadState(ByteReader& reader, uint8_t version) {
  StageAccount account(kStage, kDropReasonNames);
  ReturnGate gate;
  if (!item::RestoreTotals(reader, account) || !ReadRequestMarks(reader) ||
      !gate.Read(reader)) {
    return false;
  }
  for (size_t i = 0; i < CountsOf(version); ++i) {
    if (!reader.Varint().has_value()) return false;
  }
  const auto decided = reader.Varint();
  if (!decided.has_value()) return false;
  for (uint64_t i = 0; i < *decided; ++i) {
    const auto answer = reader.Sized();
    const auto url = reader.Sized();
    if (!answer.has_value() || !url.has_value()) return false;
    // What is denied is dropped with the next step.
    const auto read = ReadAnswer(*answer);
    if (!read) return false;
    if (read->state != UrlState::kDenied &&
        read->state != UrlState::kTooManyPorts) {
      decided_.emplace_back(*url);
    }
  }
  return reader.AtEnd();
}

uint64_t RobotsView::KeyOf(const Origin& origin, uint32_t pld_size,
                           uint64_t seed) const {
  return is_by_origin_ ? OriginKey(origin, pld_size, seed)
                       : HostKeyOf(origin, pld_size, seed);
}

Result<std::optional<SiteView>> RobotsView::Site(const Origin& origin,
                                                 uint32_t pld_size,
                                                 uint64_t seed) const {
  const uint64_t key = KeyOf(origin, pld_size, seed);
  const std::string cache = dir_ + "/cache";
  drum::ScanRange range;
  range.first = range.last = key;
  NEPHILA_TRY(const auto scan,
              drum::ScanCommit(*fs_, cache, cache_generation_, range));
  if (scan->AtEnd()) return std::optional<SiteView>();
  SiteView site;
  site.bytes = scan->value();
  auto host = ReadHostRecord(site.bytes);
  if (!host) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            cache + ": the record of a site makes no sense"});
  }
  const RobotsRecord* const record = host->Find(OwnFileOf(origin));
  if (record == nullptr) return std::optional<SiteView>();
  site.record = *record;
  if (record->kind == RulesKind::kInline) site.rules = record->rules;
  if (record->kind == RulesKind::kLog) {
    auto rules = log_->Read(key, record->place);
    if (rules.has_value()) {
      site.rules = *std::move(rules);
    } else if (rules.error().code != ErrorCode::kNotFound) {
      return Unexpected(std::move(rules).error());
    }
  }
  return std::optional<SiteView>(std::move(site));
}

Result<RobotsView::Pending> RobotsView::PendingOf(const Origin& origin,
                                                  uint32_t pld_size,
                                                  uint64_t seed) const {
  const uint64_t key = KeyOf(origin, pld_size, seed);
  Pending pending;
  NEPHILA_RETURN_IF_ERROR(drum::FindTuples(*fs_, dir_ + "/cache",
                                           cache_generation_, key,
                                           [&pending](std::string_view value) {
                                             if (IsUrlValue(value))
                                               ++pending.urls;
                                             if (IsEndValue(value))
                                               pending.has_end = true;
                                           }));
  return pending;
}

uint64_t RobotsView::waiting() const { return queues_.Records(kWaitingQueue); }

uint64_t RobotsView::requests() const { return queues_.Records(kRequestQueue); }

uint64_t RobotsView::parked() const {
  uint64_t parked = 0;
  for (const auto& queue : queues_.Queues()) {
    if (IsParkingQueue(queue.id)) parked += queue.records();
  }
  return parked;
}

Result<uint64_t> RobotsView::Bytes() const {
  NEPHILA_TRY(uint64_t bytes,
              drum::WaitingBytes(*fs_, dir_ + "/cache", cache_generation_));
  for (const auto& queue : queues_.Queues()) bytes += queue.bytes;
  return bytes;
}

Result<bool> RobotsView::Give(std::string_view bytes, HeldUrl* url,
                              const Sink& sink) const {
  const auto waiting = DecodeWaiting(bytes);
  if (!waiting) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            dir_ + ": a URL that waits makes no sense"});
  }
  if (IsWalk(waiting->record)) return true;
  url->record = waiting->record;
  url->budget = waiting->budget;
  NEPHILA_TRY(const bool more, sink(*url));
  ++url->ahead;
  return more;
}

Result<bool> RobotsView::ScanQueue(uint64_t queue, HeldUrl url,
                                   const Sink& sink) const {
  const auto scan = queues_.Scan(queue);
  disk_queue::Record record;
  while (true) {
    NEPHILA_TRY(const bool is_there, scan->Next(record));
    if (!is_there) return true;
    NEPHILA_TRY(const bool more, Give(record.bytes, &url, sink));
    if (!more) return false;
  }
}

Status RobotsView::ForEach(const Sink& sink) const {
  HeldUrl url;
  url.where = Where::kDecided;
  for (const std::string& decided : decided_) {
    NEPHILA_TRY(const bool more, Give(decided, &url, sink));
    if (!more) return {};
  }
  url = {};
  url.where = Where::kWaiting;
  NEPHILA_TRY(bool more, ScanQueue(kWaitingQueue, url, sink));
  if (!more) return {};
  std::vector<std::pair<WallTime, uint64_t>> parking;
  for (const auto& queue : queues_.Queues()) {
    if (IsParkingQueue(queue.id)) {
      parking.emplace_back(ParkingDue(queue.id), queue.id);
    }
  }
  std::sort(parking.begin(), parking.end());
  url.where = Where::kParked;
  for (const auto& [due, queue] : parking) {
    url.due = due;
    NEPHILA_TRY(more, ScanQueue(queue, url, sink));
    if (!more) return {};
  }
  url = {};
  return drum::ScanWaiting(*fs_, dir_ + "/cache", cache_generation_,
                           [&](std::string_view aux) -> Result<bool> {
                             // Ends of fetches, delays and notes have none.
                             if (aux.empty()) return true;
                             return Give(aux, &url, sink);
                           });
}

}  // namespace nephila::robots
