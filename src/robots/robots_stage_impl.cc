#include "robots/robots_stage_impl.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/check.h"
#include "base/random.h"
#include "drum/stage_access.h"
#include "item/url_record.h"
#include "robots/parking.h"
#include "robots/policy.h"
#include "robots/rules.h"
#include "robots/stage_queues.h"

namespace nephila::robots {
namespace {

using item::Admission;

// Read from a queue at once.
constexpr size_t kReadAtOnce = 256;
// So few URLs in Q_R can be looked at for each fetch that ends, when there is
// nothing else to do; of more, so many for each that ended.
constexpr uint64_t kFewWaiting = 1024;
constexpr uint64_t kLookedAtForAnEnd = 4;
// Turns through Q_R before a URL is parked: one for its fetch, and some for
// redirects that are followed at once. Then it is parked for a second, and
// twice as long each time, up to 17 minutes.
constexpr uint64_t kTurnsThroughQueue = 4;
constexpr uint64_t kMostDoublings = 10;

Unexpected<Error> Invalid(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

WaitingUrl MustDecode(std::string_view bytes) {
  const auto url = DecodeWaiting(bytes);
  // Checksums stand before this: the bytes are those of EncodeWaiting.
  NEPHILA_CHECK(url.has_value());
  return *url;
}

}  // namespace

// The views of a result end with the call, and queues can fail where a Drum's
// receiver cannot: so answers are noted here and acted on behind.
class RobotsStage::Impl::AnswerReceiver final : public drum::Receiver {
 public:
  explicit AnswerReceiver(std::deque<Decided>& decided) : decided_(decided) {}
  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      const auto answer = ReadAnswer(result.value);
      NEPHILA_CHECK(answer.has_value());
      decided_.push_back({*answer, std::string(result.aux)});
    }
  }

 private:
  std::deque<Decided>& decided_;
};

uint64_t RobotsStage::Impl::RecordKey(const Origin& origin,
                                      uint32_t pld_size) const {
  return is_by_origin_ ? OriginKey(origin, pld_size, options_.seed)
                       : HostKeyOf(origin, pld_size, options_.seed);
}

void RobotsStage::Impl::SetKeys(Place& place) const {
  place.key = RecordKey(place.origin, place.pld_size);
  uint64_t state = place.key ^ place.file;
  const bool is_alone = is_by_origin_ && !IsTarget(place.file);
  place.request = is_alone ? place.key : NextSplitMix(state);
}

Result<RobotsStage::Impl::Place, std::string_view> RobotsStage::Impl::PlaceOf(
    std::string_view record) const {
  if (const auto walk = DecodeWalk(record)) return PlaceOf({}, walk->url);
  NEPHILA_TRY(const item::UrlRecord read_record, item::ReadUrl(record));
  // A redirect that is followed is for the rules of where it leads.
  const item::UrlRecord read = item::Asked(read_record);
  Place place;
  NEPHILA_TRY(place.origin, OriginOf(read));
  place.pld_size = read.pld_size;
  place.file = OwnFileOf(place.origin);
  SetKeys(place);
  place.path = PathOf(read);
  return place;
}

Result<RobotsStage::Impl::Place, std::string_view> RobotsStage::Impl::PlaceOf(
    std::string_view origin, std::string_view target) const {
  Place place;
  if (target.empty()) {
    NEPHILA_TRY(place.origin, ReadOrigin(origin));
    place.file = OwnFileOf(place.origin);
  } else {
    NEPHILA_TRY(Target read, TargetOf(target, options_.seed));
    place.origin = std::move(read.origin);
    place.file = read.file;
    place.target = read.url;
  }
  place.pld_size = PldSizeOf(place.origin, *options_.suffixes);
  SetKeys(place);
  return place;
}

uint64_t RobotsStage::Impl::InCache() const {
  return static_cast<uint64_t>(account_.Totals().held) + counts_[kWalks] -
         parked_ - queues_->Kept(kWaitingQueue) - queues_->Kept(kWalkQueue) -
         decided_.size();
}

Result<Admission> RobotsStage::Impl::Check(const Place& place,
                                           const WaitingUrl& url,
                                           uint64_t distrusted) {
  const std::string value = IsWalk(url.record)
                                ? WalkValue(place.file, distrusted)
                                : UrlValue(place.file, place.path, distrusted);
  const std::string aux = EncodeWaiting(url);
  drum::Tuple tuple;
  tuple.operation = drum::Operation::kCheckUpdate;
  tuple.key = place.key;
  tuple.value = value;
  tuple.aux = aux;
  return drum::AddTo(*cache_, tuple);
}

Result<Admission> RobotsStage::Impl::Add(std::string_view record,
                                         uint64_t budget) {
  const auto place = PlaceOf(record);
  if (!place.has_value()) {
    return Invalid("robots: no record of a web page: " +
                   std::string(place.error()));
  }
  NEPHILA_TRY(const Admission admission, Check(*place, {budget, 0, record}, 0));
  if (admission == Admission::kTaken) {
    account_.In();
    account_.Hold(1);
  }
  return admission;
}

bool RobotsStage::Impl::Drop(DropReason reason) {
  account_.Drop(reason);
  account_.Hold(-1);
  return true;
}

Result<bool> RobotsStage::Impl::HandOn(const UrlAnswer& answer,
                                       const WaitingUrl& url,
                                       const ReadySink& sink) {
  ReadyUrl ready;
  ready.record = url.record;
  ready.budget = url.budget;
  ready.crawl_delay =
      std::chrono::milliseconds(static_cast<int64_t>(answer.crawl_delay));
  ready.not_before = TimeOf(answer.host.not_before);
  ready.overloads = answer.host.overloads;
  ready.authority_not_before = TimeOf(answer.host.authority_not_before);
  ready.failures = answer.host.failures;
  ready.checked = TimeOf(answer.asked);
  NEPHILA_TRY(const Admission admission, sink(ready));
  if (admission == Admission::kFull) return false;
  account_.Out();
  account_.Hold(-1);
  return true;
}

Result<bool> RobotsStage::Impl::Match(const UrlAnswer& answer,
                                      const WaitingUrl& url,
                                      const ReadySink& sink) {
  const auto place = PlaceOf(url.record);
  NEPHILA_CHECK(place.has_value());
  const auto allowed =
      long_rules_->Allows(place->key, answer.place, place->path);
  if (allowed.has_value()) {
    if (!*allowed) return Drop(DropReason::kDenied);
    return HandOn(answer, url, sink);
  }
  if (allowed.error().code == ErrorCode::kStopped) {
    return Unexpected(allowed.error());
  }
  // A part of the disk that cannot be read costs a fetch, not the crawl: the
  // record forgets these rules.
  NEPHILA_TRY(const Admission admission, Check(*place, url, answer.fetch));
  if (admission == Admission::kFull) return false;
  ++counts_[kDamagedRules];
  return true;
}

Status RobotsStage::Impl::Ask(const UrlAnswer& answer, const WaitingUrl& url) {
  const auto place = PlaceOf(url.record);
  NEPHILA_CHECK(place.has_value());
  QueuedRequest request;
  request.key = place->request;
  request.fetch = answer.fetch;
  request.budget = url.budget;
  request.host_start = place->origin.host_start;
  request.host_size = place->origin.host_size;
  request.pld_size = place->pld_size;
  request.host = answer.host;
  request.origin = place->origin.text;
  request.target = place->target;
  request.host_crawl_delay = answer.host_crawl_delay;
  request.is_host_known =
      answer.is_host_known || answer.host != HostNote() || answer.fetch > 0;
  return requests_->Append(request);
}

Result<bool> RobotsStage::Impl::WaitForFetch(const UrlAnswer& answer,
                                             const WaitingUrl& url) {
  const WaitingUrl again{url.budget, url.cycles + 1, url.record};
  if (answer.is_walking && url.cycles >= kTurnsThroughQueue) {
    // What it waits for may be no fetch in Q_D but a walk that is not due.
    const uint64_t doublings =
        std::min(url.cycles - kTurnsThroughQueue, kMostDoublings);
    NEPHILA_RETURN_IF_ERROR(
        ParkUntil(context_.clock.WallNow() +
                      std::chrono::seconds(int64_t{1} << doublings),
                  again));
    return true;
  }
  NEPHILA_TRY(const uint64_t ordinal,
              queues_->Append(kWaitingQueue, EncodeWaiting(again)));
  gate_.Note(ordinal + 1, requests_->tail());
  return true;
}

bool RobotsStage::Impl::IsTriedTooOften(const UrlAnswer& answer) const {
  const auto most =
      static_cast<uint64_t>(options_.settings.unreachable_attempts);
  return most > 0 && answer.tries >= most;
}

Result<bool> RobotsStage::Impl::Park(const UrlAnswer& answer,
                                     const WaitingUrl& url) {
  if (answer.state == UrlState::kUnreachable && IsTriedTooOften(answer)) {
    return Drop(DropReason::kUnreachable);
  }
  NEPHILA_RETURN_IF_ERROR(
      ParkUntil(TimeOf(answer.until), {url.budget, 0, url.record}));
  return true;
}

Status RobotsStage::Impl::ParkUntil(WallTime until, const WaitingUrl& url) {
  const uint64_t queue = ParkingQueue(until, context_.clock.WallNow());
  NEPHILA_TRY(const uint64_t ordinal,
              queues_->Append(queue, EncodeWaiting(url)));
  static_cast<void>(ordinal);
  parking_.emplace(ParkingDue(queue), queue);
  ++parked_;
  ++counts_[kParkings];
  return {};
}

Result<bool> RobotsStage::Impl::Decide(Decided& decided,
                                       const ReadySink& sink) {
  UrlAnswer& answer = decided.answer;
  const WaitingUrl url = MustDecode(decided.url);
  const bool waits =
      answer.state == UrlState::kUnknown || answer.state == UrlState::kExpired;
  if (answer.ask) {
    NEPHILA_RETURN_IF_ERROR(Ask(answer, url));
    // The rest may have to be tried again.
    answer.ask = false;
    if (!waits) ++counts_[kRefreshes];
  }
  if (IsWalk(url.record)) return DecideWalk(answer, url);
  switch (answer.state) {
    case UrlState::kExpired: {
      // Where passes take longer than the wait for a retry, nobody sees a
      // record that says unreachable.
      if (url.cycles > 0 && IsTriedTooOften(answer)) {
        return Drop(DropReason::kUnreachable);
      }
      WaitingUrl again = url;
      // What it waited for brought nothing and is to be tried again: as if it
      // had been parked until now.
      if (answer.tries > 0 && !answer.is_walking) again.cycles = 0;
      NEPHILA_TRY(const bool done, WaitForFetch(answer, again));
      ++counts_[kOutdated];
      return done;
    }
    case UrlState::kUnknown:
      return WaitForFetch(answer, url);
    case UrlState::kUnreachable:
    case UrlState::kDelayed:
      return Park(answer, url);
    case UrlState::kAllowed:
      return HandOn(answer, url, sink);
    case UrlState::kDenied:
      return Drop(DropReason::kDenied);
    case UrlState::kInLog:
      return Match(answer, url, sink);
    case UrlState::kTooManyPorts:
      return Drop(DropReason::kTooManyPorts);
    case UrlState::kRedirected:  // only of a walk
      break;
  }
  return true;
}

Result<size_t> RobotsStage::Impl::DecideAll(const ReadySink& sink,
                                            size_t max_urls) {
  size_t done = 0;
  while (done < max_urls && !decided_.empty()) {
    NEPHILA_TRY(const bool moved, Decide(decided_.front(), sink));
    if (!moved) break;
    decided_.pop_front();
    ++done;
  }
  return done;
}

Result<bool> RobotsStage::Impl::AddChange(uint64_t key,
                                          std::string_view value) {
  drum::Tuple tuple;
  tuple.operation = drum::Operation::kUpdate;
  tuple.key = key;
  tuple.value = value;
  Status added = cache_->Add(tuple);
  if (added) return true;
  if (added.error().code == ErrorCode::kBusy) return false;
  return Unexpected(std::move(added).error());
}

Status RobotsStage::Impl::Change(uint64_t key, std::string_view value) {
  if (queues_->Kept(kChangesQueue) == 0) {
    NEPHILA_TRY(const bool added, AddChange(key, value));
    if (added) return {};
  }
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U64(key);
  writer.Raw(value);
  NEPHILA_TRY(const uint64_t ordinal, queues_->Append(kChangesQueue, bytes));
  static_cast<void>(ordinal);
  return {};
}

Status RobotsStage::Impl::DrainChanges() {
  while (queues_->Kept(kChangesQueue) > 0) {
    if (changing_.empty()) {
      NEPHILA_TRY(const size_t read,
                  queues_->ReadAhead(kChangesQueue, kReadAtOnce,
                                     [this](const disk_queue::Record& record) {
                                       changing_.push_back(
                                           {kChangesQueue, record.ordinal,
                                            std::string(record.bytes)});
                                     }));
      static_cast<void>(read);
    }
    const Returning& change = changing_.front();
    ByteReader reader{std::string_view(change.bytes)};
    const auto key = reader.U64();
    NEPHILA_CHECK(key.has_value());
    NEPHILA_TRY(
        const bool added,
        AddChange(*key,
                  std::string_view(change.bytes).substr(reader.position())));
    if (!added) break;
    queues_->Release(kChangesQueue, change.ordinal + 1);
    changing_.pop_front();
  }
  return {};
}

uint64_t RobotsStage::Impl::Readable() {
  const uint64_t open =
      std::max(gate_.OpenUntil(requests_->mark()), look_until_);
  const uint64_t next = queues_->NextRead(kWaitingQueue);
  return open - std::min(open, next);
}

std::optional<uint64_t> RobotsStage::Impl::DueParking() const {
  if (parking_.empty()) return std::nullopt;
  const WallTime now = context_.clock.WallNow();
  if (parking_.begin()->first <= now) return parking_.begin()->second;
  // No wait is that long: the clock was set back.
  const auto& last = *parking_.rbegin();
  if (last.first - now > 2 * kLongestWait) return last.second;
  return std::nullopt;
}

Result<size_t> RobotsStage::Impl::ReadReturning(size_t max_urls) {
  uint64_t queue = kWaitingQueue;
  uint64_t wanted = std::min<uint64_t>(max_urls, kReadAtOnce);
  if (queues_->Unread(kWalkQueue) > 0) {
    queue = kWalkQueue;
  } else if (Readable() > 0 || LookEarly(false)) {
    wanted = std::min(wanted, Readable());
  } else if (const auto due = DueParking()) {
    queue = *due;
  } else {
    return size_t{0};
  }
  return queues_->ReadAhead(
      queue, wanted, [this, queue](const disk_queue::Record& record) {
        returning_.push_back(
            {queue, record.ordinal, std::string(record.bytes)});
      });
}

Status RobotsStage::Impl::LetGo(const Returning& returning) {
  queues_->Release(returning.queue, returning.ordinal + 1);
  if (!IsParkingQueue(returning.queue)) return {};
  --parked_;
  if (queues_->Kept(returning.queue) > 0) return {};
  parking_.erase({ParkingDue(returning.queue), returning.queue});
  return queues_->Remove(returning.queue);
}

Result<bool> RobotsStage::Impl::ReturnFront() {
  const Returning& front = returning_.front();
  const WaitingUrl url = MustDecode(front.bytes);
  const auto place = PlaceOf(url.record);
  NEPHILA_CHECK(place.has_value());
  if (front.queue == kWaitingQueue && requests_->IsOpen(place->request)) {
    // Looked at early: it still waits, and makes no cycle.
    NEPHILA_TRY(const uint64_t ordinal,
                queues_->Append(kWaitingQueue, front.bytes));
    gate_.Note(ordinal + 1, requests_->tail());
  } else {
    NEPHILA_TRY(const Admission admission, Check(*place, url, 0));
    if (admission == Admission::kFull) return false;
    if (front.queue == kWaitingQueue) {
      ++counts_[url.cycles <= 1 ? kCycledOnce : kCycledAgain];
      counts_[kMostCycles] = std::max(counts_[kMostCycles], url.cycles);
    }
  }
  NEPHILA_RETURN_IF_ERROR(LetGo(front));
  returning_.pop_front();
  return true;
}

Result<size_t> RobotsStage::Impl::Return(size_t max_urls) {
  size_t moved = 0;
  // A URL must not pass the end of its fetch.
  while (moved < max_urls && queues_->Kept(kChangesQueue) == 0) {
    if (returning_.empty()) {
      NEPHILA_TRY(const size_t read, ReadReturning(max_urls - moved));
      if (read == 0) break;
    }
    NEPHILA_TRY(const bool returned, ReturnFront());
    if (!returned) break;
    ++moved;
  }
  return moved;
}

Status RobotsStage::Impl::Deliver(size_t max_urls) {
  AnswerReceiver receiver(decided_);
  // With an error too some may have come before it; they are kept.
  NEPHILA_TRY(const size_t delivered, cache_->Deliver(receiver, max_urls));
  if (delivered > 0 || !cache_->PassIsOn() || context_.workers.threads() > 0) {
    return {};
  }
  // A pass over updates alone has nothing to deliver, and nobody else who
  // would do it.
  return cache_->Wait();
}

Result<size_t> RobotsStage::Impl::Step(const ReadySink& sink, size_t max_urls) {
  NEPHILA_RETURN_IF_ERROR(DrainChanges());
  NEPHILA_TRY(size_t done, DecideAll(sink, max_urls));
  if (decided_.empty() && done < max_urls) {
    NEPHILA_RETURN_IF_ERROR(Deliver(max_urls - done));
    NEPHILA_TRY(const size_t more, DecideAll(sink, max_urls - done));
    done += more;
  }
  NEPHILA_TRY(const size_t returned, Return(max_urls));
  return done + returned;
}

Result<size_t> RobotsStage::Impl::TakeRequests(const RequestSink& sink,
                                               size_t max) {
  return requests_->Take(
      [&sink](const QueuedRequest& queued) {
        RobotsRequest request;
        request.origin = queued.origin;
        request.target = queued.target;
        request.host_start = queued.host_start;
        request.host_size = queued.host_size;
        request.pld_size = queued.pld_size;
        request.budget = queued.budget;
        request.not_before = TimeOf(queued.host.not_before);
        request.overloads = queued.host.overloads;
        request.authority_not_before = TimeOf(queued.host.authority_not_before);
        request.failures = queued.host.failures;
        request.crawl_delay = std::chrono::milliseconds(
            static_cast<int64_t>(queued.host_crawl_delay));
        request.first = !queued.is_host_known && queued.target.empty();
        return sink(request);
      },
      max);
}

bool RobotsStage::Impl::LookEarly(bool is_dry) {
  if (ended_early_ == 0) return false;
  // Of the URLs before, every request is over or known to be open.
  const uint64_t until = requests_->AllAreRead()
                             ? queues_->NextAppend(kWaitingQueue)
                             : gate_.UrlsBefore(requests_->read());
  const uint64_t next = queues_->NextRead(kWaitingQueue);
  if (until <= next) return false;
  const uint64_t urls = until - next;
  const bool is_worth_it =
      urls <= kFewWaiting ? is_dry : urls <= ended_early_ * kLookedAtForAnEnd;
  if (!is_worth_it) return false;
  ended_early_ = 0;
  look_until_ = until;
  return true;
}

bool RobotsStage::Impl::IsNoted() const {
  return queues_->Kept(kChangesQueue) == 0 && cache_->IsIdle();
}

Result<bool> RobotsStage::Impl::RunDryForNotes() {
  return cache_->FlushIfCheap();
}

Result<bool> RobotsStage::Impl::RunDry() {
  if (!decided_.empty() || !returning_.empty() ||
      queues_->Kept(kChangesQueue) > 0 || queues_->Unread(kWalkQueue) > 0 ||
      Readable() > 0 || DueParking().has_value() || LookEarly(true)) {
    return true;
  }
  // A pass over updates alone would bring nothing.
  if (InCache() == 0) return false;
  return cache_->FlushIfCheap();
}

}  // namespace nephila::robots
