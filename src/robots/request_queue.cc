#include "robots/request_queue.h"

#include <algorithm>
#include <utility>

namespace nephila::robots {
namespace {

using item::Admission;

// Read from the queue at once.
constexpr size_t kReadAtOnce = 64;

std::string Encode(const QueuedRequest& request) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U64(request.key);
  writer.Varint(request.fetch);
  writer.Varint(request.budget);
  writer.Varint(request.host_start);
  writer.Varint(request.host_size);
  writer.Varint(request.pld_size);
  writer.Varint(request.host.not_before);
  writer.Varint(request.host.failures);
  writer.Varint(request.host.overloads);
  writer.Raw(request.origin);
  // No URL holds it. Requests of older jobs end before it.
  writer.U8(0);
  writer.Varint(request.host.authority_not_before);
  writer.Varint(request.host_crawl_delay);
  writer.U8(request.is_host_known ? 1 : 0);
  writer.Raw(request.target);
  return bytes;
}

// Checksums stand before this: the bytes are those of Encode.
QueuedRequest Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  QueuedRequest request;
  const auto key = reader.U64();
  request.key = key.has_value() ? *key : 0;
  const auto next = [&reader] {
    const auto number = reader.Varint();
    return number.has_value() ? *number : 0;
  };
  request.fetch = next();
  request.budget = next();
  request.host_start = static_cast<uint32_t>(next());
  request.host_size = static_cast<uint32_t>(next());
  request.pld_size = static_cast<uint32_t>(next());
  request.host.not_before = next();
  request.host.failures = static_cast<uint32_t>(next());
  request.host.overloads = static_cast<uint32_t>(next());
  const std::string_view rest = bytes.substr(reader.position());
  const size_t end = rest.find('\0');
  request.origin = rest.substr(0, end);
  if (end == std::string_view::npos) {
    request.is_host_known = request.fetch > 0 || request.host != HostNote();
    return request;
  }
  reader = ByteReader(rest.substr(end + 1));
  request.host.authority_not_before = next();
  request.host_crawl_delay = next();
  const auto flags = reader.U8();
  request.is_host_known = flags.has_value() && *flags != 0;
  request.target = rest.substr(end + 1 + reader.position());
  return request;
}

}  // namespace

RequestQueue::RequestQueue(disk_queue::QueueSet& queues, uint64_t queue,
                           uint64_t max_ahead, size_t max_early)
    : queues_(queues),
      queue_(queue),
      max_ahead_(std::max<uint64_t>(max_ahead, 1)),
      max_early_(std::min(max_early, kMostEarlyEnds)),
      mark_(queues.NextRead(queue)) {}

Status RequestQueue::Append(const QueuedRequest& request) {
  NEPHILA_TRY(const uint64_t ordinal, queues_.Append(queue_, Encode(request)));
  static_cast<void>(ordinal);
  return {};
}

void RequestQueue::MoveMark() {
  const uint64_t mark = open_ordinals_.empty() ? queues_.NextRead(queue_)
                                               : open_ordinals_.begin()->first;
  if (mark == mark_) return;
  mark_ = mark;
  queues_.Release(queue_, mark_);
  ended_.erase(ended_.begin(), ended_.lower_bound(mark_));
}

void RequestQueue::TakeIn(uint64_t ordinal, std::string_view bytes) {
  const QueuedRequest request = Decode(bytes);
  if (ended_.erase(ordinal) > 0) return;
  const auto open = open_.find(request.key);
  if (open != open_.end()) {
    // Appended again; or requested twice, if too many ends had to be
    // remembered: then the first counts.
    if (open->second.ordinal == ordinal) {
      open_ordinals_.emplace(ordinal, request.key);
    }
    return;
  }
  const auto early = early_.find(request.key);
  // A later fetch than the one that made us ask.
  if (early != early_.end() && early->second > request.fetch) return;
  open_.emplace(request.key, Open{ordinal, std::string(bytes)});
  open_bytes_ += bytes.size();
  open_ordinals_.emplace(ordinal, request.key);
  offered_.push_back(request.key);
}

Status RequestQueue::MoveOldest() {
  // While nearly all of them are open, none of them is worth an append.
  const uint64_t few = max_ahead_ - std::max<uint64_t>(max_ahead_ / 16, 1);
  while (!open_ordinals_.empty() && open_ordinals_.size() <= few &&
         queues_.NextRead(queue_) - mark_ >= max_ahead_) {
    Open& oldest = open_.at(open_ordinals_.begin()->second);
    NEPHILA_TRY(oldest.ordinal, queues_.Append(queue_, oldest.bytes));
    open_ordinals_.erase(open_ordinals_.begin());
    MoveMark();
  }
  return {};
}

Result<size_t> RequestQueue::ReadMore(size_t max) {
  if (queues_.Unread(queue_) == 0 || open_.size() >= max_ahead_ ||
      open_bytes_ >= max_ahead_ * kRequestBytes) {
    return size_t{0};
  }
  NEPHILA_RETURN_IF_ERROR(MoveOldest());
  const uint64_t ahead = queues_.NextRead(queue_) - mark_;
  if (ahead >= max_ahead_) return size_t{0};
  const size_t wanted =
      std::min<uint64_t>({max_ahead_ - ahead, max_ahead_ - open_.size(),
                          uint64_t{max}, uint64_t{kReadAtOnce}});
  auto read = queues_.ReadAhead(queue_, wanted,
                                [this](const disk_queue::Record& record) {
                                  TakeIn(record.ordinal, record.bytes);
                                });
  MoveMark();
  return read;
}

Result<size_t> RequestQueue::Take(const Sink& sink, size_t max) {
  size_t taken = 0;
  while (taken < max) {
    if (offered_.empty()) {
      NEPHILA_TRY(const size_t read, ReadMore(max - taken));
      if (read == 0) break;
      continue;
    }
    NEPHILA_TRY(const Admission admission,
                sink(Decode(open_.at(offered_.front()).bytes)));
    if (admission == Admission::kFull) break;
    offered_.pop_front();
    ++taken;
  }
  return taken;
}

void RequestQueue::RememberEarly(uint64_t key, uint64_t fetch) {
  const bool is_new = early_.insert_or_assign(key, fetch).second;
  if (is_new) early_order_.push_back(key);
  if (early_order_.size() <= max_early_) return;
  early_.erase(early_order_.front());
  early_order_.pop_front();
}

void RequestQueue::Ended(uint64_t key, uint64_t fetch) {
  const auto found = open_.find(key);
  if (found == open_.end()) {
    RememberEarly(key, fetch);
    return;
  }
  const uint64_t ordinal = found->second.ordinal;
  std::erase(offered_, key);
  open_bytes_ -= found->second.bytes.size();
  open_.erase(found);
  // One that was appended again and not read there yet.
  if (open_ordinals_.erase(ordinal) == 0) ended_.insert(ordinal);
  MoveMark();
}

void RequestQueue::Write(ByteWriter& writer) const {
  // Between the mark and what is read, all that is not open has ended; what
  // was not read again yet is known from before.
  const uint64_t read = queues_.NextRead(queue_);
  uint64_t count = ended_.size() + (read - mark_) - open_ordinals_.size();
  writer.Varint(mark_);
  writer.Varint(count);
  for (uint64_t ordinal = mark_; ordinal < read; ++ordinal) {
    if (!open_ordinals_.contains(ordinal)) writer.Varint(ordinal - mark_);
  }
  for (const uint64_t ordinal : ended_) writer.Varint(ordinal - mark_);
  writer.Varint(early_order_.size());
  for (const uint64_t key : early_order_) {
    writer.U64(key);
    writer.Varint(early_.at(key));
  }
}

std::optional<RequestMarks> ReadRequestMarks(ByteReader& reader) {
  RequestMarks marks;
  const auto mark = reader.Varint();
  const auto count = reader.Varint();
  if (!mark.has_value() || !count.has_value()) return std::nullopt;
  marks.mark = *mark;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto ordinal = reader.Varint();
    if (!ordinal.has_value()) return std::nullopt;
    marks.ended.push_back(*mark + *ordinal);
  }
  const auto early = reader.Varint();
  if (!early.has_value() || *early > RequestQueue::kMostEarlyEnds) {
    return std::nullopt;
  }
  for (uint64_t i = 0; i < *early; ++i) {
    const auto key = reader.U64();
    const auto fetch = reader.Varint();
    if (!key.has_value() || !fetch.has_value()) return std::nullopt;
    marks.early.emplace_back(*key, *fetch);
  }
  return marks;
}

bool RequestQueue::Read(ByteReader& reader) {
  const auto marks = ReadRequestMarks(reader);
  if (!marks || marks->mark != mark_) return false;
  ended_.insert(marks->ended.begin(), marks->ended.end());
  for (const auto& [key, fetch] : marks->early) RememberEarly(key, fetch);
  return true;
}

}  // namespace nephila::robots
