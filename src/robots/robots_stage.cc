#include "robots/robots_stage.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "robots/parking.h"
#include "robots/policy.h"
#include "robots/robots_stage_impl.h"
#include "robots/rules.h"
#include "robots/stage_queues.h"

namespace nephila::robots {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kStage = "robots";

// What the parts of the stage have of its memory and disk.
constexpr uint64_t kQueueShare = 8;
constexpr uint64_t kRulesShare = 16;
constexpr uint64_t kLogShare = 4;
constexpr uint64_t kLeastQueueBytes = uint64_t{64} << 10;

std::string CacheDir(const std::string& dir) { return dir + "/cache"; }
std::string QueueDir(const std::string& dir) { return dir + "/queues"; }
std::string RulesDir(const std::string& dir) { return dir + "/rules"; }

Unexpected<Error> Invalid(std::string_view origin, std::string_view why) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            "robots: " + std::string(origin) + ": " + std::string(why)});
}

uint64_t LengthOf(std::chrono::nanoseconds length) {
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::ceil<milliseconds>(length).count(), 0));
}

// A status that is none is a server's fault.
uint32_t StatusOf(const RobotsEnd& end) {
  return static_cast<uint32_t>(std::clamp(end.status, 0, 999));
}

}  // namespace

RobotsStage::Impl::Impl(const drum::DrumContext& context,
                        RobotsStageOptions options)
    : context_(context), options_(options) {
  NEPHILA_CHECK(options_.suffixes != nullptr);
}

drum::DrumOptions RobotsStage::Impl::CacheOptions() const {
  drum::DrumOptions options;
  options.value = {drum::ValueKind::kVariable, 0};
  options.rule = MakeCacheRule();
  options.memory_bytes = options_.memory_bytes -
                         options_.memory_bytes / kQueueShare -
                         options_.memory_bytes / kRulesShare;
  options.disk_bytes = options_.disk_bytes - options_.disk_bytes / kLogShare;
  options.parameters = [this] {
    return PassTime(context_.clock.WallNow(),
                    {LengthOf(kLongestWait), options_.max_ports_per_host,
                     options_.max_waiting_sites});
  };
  return options;
}

disk_queue::QueueSetOptions RobotsStage::Impl::QueueOptions() const {
  disk_queue::QueueSetOptions options;
  options.memory_bytes =
      std::max(options_.memory_bytes / kQueueShare, kLeastQueueBytes);
  return options;
}

void RobotsStage::Impl::MakeParts() {
  long_rules_.emplace(*log_, options_.memory_bytes / kRulesShare);
  requests_.emplace(*queues_, kRequestQueue, options_.max_requests,
                    options_.max_early_ends);
}

Status RobotsStage::Impl::CreateStores(const std::string& dir) {
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context_.fs, CacheDir(dir)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context_.fs, QueueDir(dir)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context_.fs, RulesDir(dir)));
  NEPHILA_TRY(cache_,
              drum::Drum::Create(context_, CacheDir(dir), CacheOptions()));
  NEPHILA_TRY(queues_, disk_queue::QueueSet::Create(context_.fs, QueueDir(dir),
                                                    QueueOptions()));
  log_ = RulesLog::Create(context_.fs, RulesDir(dir),
                          options_.disk_bytes / kLogShare);
  MakeParts();
  return {};
}

Status RobotsStage::Impl::OpenStores(const std::string& dir,
                                     std::string_view commit) {
  ByteReader reader(commit);
  NEPHILA_TRY(const uint8_t version, ReadVersion(reader));
  is_by_origin_ = version != kHostCommit;
  const auto cache_generation = reader.Varint();
  const auto queue_generation = reader.Varint();
  if (!cache_generation.has_value() || !queue_generation.has_value()) {
    return item::DamagedCommit(kStage);
  }
  NEPHILA_TRY(cache_, drum::Drum::Open(context_, CacheDir(dir), CacheOptions(),
                                       *cache_generation));
  NEPHILA_TRY(queues_,
              disk_queue::QueueSet::Open(context_.fs, QueueDir(dir),
                                         QueueOptions(), *queue_generation));
  NEPHILA_TRY(log_, RulesLog::Open(context_.fs, RulesDir(dir),
                                   options_.disk_bytes / kLogShare, reader));
  MakeParts();
  if (!ReadState(reader, version)) return item::DamagedCommit(kStage);
  FindParked();
  // Whether one has ended before an earlier one is worth a look.
  ended_early_ = queues_->Kept(kWaitingQueue);
  return {};
}

bool RobotsStage::Impl::ReadState(ByteReader& reader, uint8_t version) {
  if (!item::RestoreTotals(reader, account_) || !requests_->Read(reader) ||
      !gate_.Read(reader)) {
    return false;
  }
  for (size_t i = 0; i < CountsOf(version); ++i) {
    const auto read = reader.Varint();
    if (!read.has_value()) return false;
    counts_.at(i) = *read;
  }
  const auto decided = reader.Varint();
  if (!decided.has_value()) return false;
  for (uint64_t i = 0; i < *decided; ++i) {
    const auto answer_bytes = reader.Sized();
    const auto url = reader.Sized();
    if (!answer_bytes.has_value() || !url.has_value()) return false;
    const auto answer = ReadAnswer(*answer_bytes);
    if (!answer.has_value()) return false;
    decided_.push_back({*answer, std::string(*url)});
  }
  return reader.AtEnd();
}

void RobotsStage::Impl::FindParked() {
  for (const uint64_t queue : queues_->Queues()) {
    if (!IsParkingQueue(queue)) continue;
    parking_.emplace(ParkingDue(queue), queue);
    parked_ += queues_->Kept(queue);
  }
}

Result<std::string> RobotsStage::Impl::BeginCommit() {
  NEPHILA_TRY(const uint64_t cache_generation, cache_->BeginCommit());
  NEPHILA_TRY(const uint64_t queue_generation, queues_->BeginCommit());
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(is_by_origin_ ? kOriginCommit : kHostCommit);
  writer.Varint(cache_generation);
  writer.Varint(queue_generation);
  NEPHILA_RETURN_IF_ERROR(log_->BeginCommit(writer));
  item::WriteTotals(account_.Totals(), writer);
  requests_->Write(writer);
  gate_.Write(writer);
  for (const uint64_t count : counts_) writer.Varint(count);
  writer.Varint(decided_.size());
  std::string answer;
  for (const Decided& decided : decided_) {
    answer.clear();
    AppendAnswer(decided.answer, answer);
    writer.Sized(answer);
    writer.Sized(decided.url);
  }
  return bytes;
}

Status RobotsStage::Impl::FinishCommit() {
  NEPHILA_RETURN_IF_ERROR(log_->FinishCommit());
  NEPHILA_RETURN_IF_ERROR(queues_->FinishCommit());
  return cache_->FinishCommit();
}

Status RobotsStage::Impl::RobotsEnded(const RobotsEnd& end) {
  const auto place = PlaceOf(end.origin, end.target);
  if (!place.has_value()) return Invalid(end.origin, place.error());
  NEPHILA_TRY(const uint64_t fetch, EndFile(*place, end));
  EndRequest(place->request, fetch);
  return {};
}

Result<uint64_t> RobotsStage::Impl::EndFile(const Place& place,
                                            const RobotsEnd& end) {
  EndChange change;
  change.end = end.end;
  change.status = StatusOf(end);
  change.fetch = counts_[kEnded] + 1;
  change.when = MillisecondsOf(end.when);
  const config::RobotsSettings& settings = options_.settings;
  change.max_age = LengthOf(settings.max_age);
  change.retry_wait = LengthOf(settings.retry_wait);
  change.retry_wait_max = LengthOf(settings.retry_wait_max);
  if (end.not_before) change.not_before = MillisecondsOf(*end.not_before);
  // Whether there is a copy to keep is known where the record is.
  const Policy policy =
      PolicyFor({end.end, static_cast<int>(change.status), true, std::nullopt});
  if (policy.verdict == Verdict::kParse) {
    if (const auto rules = Rules::Open(end.rules); !rules.has_value()) {
      return Invalid(end.origin, rules.error().message);
    }
    if (end.crawl_delay) change.crawl_delay = LengthOf(*end.crawl_delay);
    change.kind = RulesKind::kInline;
    change.rules = end.rules;
    if (end.rules.size() > kMostInlineRules) {
      change.kind = RulesKind::kLog;
      NEPHILA_TRY(change.place, log_->Append(place.key, end.rules));
    }
  }
  NEPHILA_RETURN_IF_ERROR(Change(place.key, EndValue(place.file, change)));
  ++counts_[kEnded];
  if (policy.unreachable) ++counts_[kUnreachableEnds];
  return change.fetch;
}

Status RobotsStage::Impl::DelayRequest(std::string_view origin,
                                       std::string_view target,
                                       WallTime until) {
  const auto place = PlaceOf(origin, target);
  if (!place.has_value()) return Invalid(origin, place.error());
  if (!requests_->IsOpen(place->request)) return {};
  // A record that waits for longer is not believed.
  const WallTime latest = context_.clock.WallNow() + kLongestWait / 2;
  NEPHILA_RETURN_IF_ERROR(
      Change(place->key,
             DelayValue(place->file, MillisecondsOf(std::min(until, latest)))));
  EndRequest(place->request, counts_[kEnded]);
  return {};
}

void RobotsStage::Impl::EndRequest(uint64_t request, uint64_t fetch) {
  requests_->Ended(request, fetch);
  ended_early_ = requests_->mark() < requests_->tail() ? ended_early_ + 1 : 0;
}

Status RobotsStage::Impl::NoteHost(std::string_view origin_text,
                                   const HostNote& note) {
  const auto place = PlaceOf(origin_text, {});
  if (!place.has_value()) return Invalid(origin_text, place.error());
  NEPHILA_RETURN_IF_ERROR(Change(place->key, HostValue(place->file, note)));
  if (!is_by_origin_) return {};
  // The other records that a host of an older job has.
  const std::string host(place->origin.host());
  for (const std::string& name :
       {"http://" + host + "/", "https://" + host + "/"}) {
    if (name == place->origin.text) continue;
    const auto other = PlaceOf(name, {});
    NEPHILA_CHECK(other.has_value());
    NEPHILA_RETURN_IF_ERROR(
        Change(other->key, HostWaitValue(note.not_before, note.overloads)));
  }
  return {};
}

RobotsLoad RobotsStage::Impl::load() const {
  RobotsLoad load;
  load.checking = InCache() + decided_.size() + queues_->Kept(kWalkQueue);
  load.waiting = queues_->Kept(kWaitingQueue);
  if (!parking_.empty()) load.next_parked = parking_.begin()->first;
  const drum::DrumStats cache = cache_->stats();
  load.passes = cache.passes;
  load.cheap_interval = cache.cheap_interval;
  return load;
}

RobotsStats RobotsStage::Impl::stats() const {
  RobotsStats stats;
  const RobotsLoad now = load();
  stats.checking = now.checking;
  stats.decided = decided_.size();
  stats.waiting = now.waiting;
  stats.parked = parked_;
  stats.walks = counts_[kWalks];
  stats.next_parked = now.next_parked;
  stats.queued = requests_->queued();
  stats.requested = requests_->handed_on();
  stats.ended = counts_[kEnded];
  stats.unreachable = counts_[kUnreachableEnds];
  stats.refreshes = counts_[kRefreshes];
  stats.outdated = counts_[kOutdated];
  stats.cycled_once = counts_[kCycledOnce];
  stats.cycled_again = counts_[kCycledAgain];
  stats.most_cycles = counts_[kMostCycles];
  stats.parkings = counts_[kParkings];
  stats.damaged_rules = counts_[kDamagedRules];
  stats.rules_log_bytes = log_->bytes();
  stats.cache = cache_->stats();
  stats.queues = queues_->stats();
  return stats;
}

RobotsStage::RobotsStage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RobotsStage::~RobotsStage() = default;

Result<std::unique_ptr<RobotsStage>> RobotsStage::Create(
    const drum::DrumContext& context, const std::string& dir,
    RobotsStageOptions options) {
  auto impl = std::make_unique<Impl>(context, options);
  NEPHILA_RETURN_IF_ERROR(impl->CreateStores(dir));
  return std::unique_ptr<RobotsStage>(new RobotsStage(std::move(impl)));
}

Result<std::unique_ptr<RobotsStage>> RobotsStage::Open(
    const drum::DrumContext& context, const std::string& dir,
    RobotsStageOptions options, std::string_view commit) {
  auto impl = std::make_unique<Impl>(context, options);
  NEPHILA_RETURN_IF_ERROR(impl->OpenStores(dir, commit));
  return std::unique_ptr<RobotsStage>(new RobotsStage(std::move(impl)));
}

Result<item::Admission> RobotsStage::Add(std::string_view record,
                                         uint64_t budget) {
  return impl_->Add(record, budget);
}

Result<size_t> RobotsStage::Step(const ReadySink& sink, size_t max_urls) {
  return impl_->Step(sink, max_urls);
}

Result<size_t> RobotsStage::TakeRequests(const RequestSink& sink, size_t max) {
  return impl_->TakeRequests(sink, max);
}

Status RobotsStage::RobotsEnded(const RobotsEnd& end) {
  return impl_->RobotsEnded(end);
}

Status RobotsStage::RobotsRedirected(const RobotsRedirect& redirect) {
  return impl_->RobotsRedirected(redirect);
}

Status RobotsStage::DelayRequest(std::string_view origin,
                                 std::string_view target, WallTime until) {
  return impl_->DelayRequest(origin, target, until);
}

Status RobotsStage::NoteHost(std::string_view origin, WallTime not_before,
                             uint32_t overloads, WallTime authority_not_before,
                             uint32_t failures) {
  return impl_->NoteHost(
      origin, HostNote{MillisecondsOf(not_before), failures, overloads,
                       MillisecondsOf(authority_not_before)});
}

bool RobotsStage::IsNoted() const { return impl_->IsNoted(); }

Result<bool> RobotsStage::RunDryForNotes() { return impl_->RunDryForNotes(); }

Result<bool> RobotsStage::RunDry() { return impl_->RunDry(); }

Status RobotsStage::Flush() { return impl_->Flush(); }

Status RobotsStage::Wait() { return impl_->Wait(); }

bool RobotsStage::IsEmpty() const {
  return impl_->account().Totals().held == 0;
}

Result<std::string> RobotsStage::BeginCommit() { return impl_->BeginCommit(); }

Status RobotsStage::FinishCommit() { return impl_->FinishCommit(); }

const StageAccount& RobotsStage::account() const { return impl_->account(); }

RobotsLoad RobotsStage::load() const { return impl_->load(); }

RobotsStats RobotsStage::stats() const { return impl_->stats(); }

}  // namespace nephila::robots
