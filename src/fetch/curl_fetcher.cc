#include "fetch/curl_fetcher.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace nephila::fetch {
namespace {

// Results that wait to be used again; a thread parses one at a time.
constexpr size_t kMostSpare = 256;

// Who has no room for its body tries again after this.
constexpr std::chrono::milliseconds kStarvedWait(2);

// Once in a process, whoever is first; its twin is never called since other
// libraries may use libcurl too.
bool InitCurl() {
  static const bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ok;
}

}  // namespace

Result<std::unique_ptr<CurlFetcher>> CurlFetcher::Make(const Parts& parts) {
  if (!InitCurl()) {
    return Unexpected(Error{ErrorCode::kUnsupported, "libcurl does not start"});
  }
  return std::unique_ptr<CurlFetcher>(new CurlFetcher(parts));
}

CurlFetcher::CurlFetcher(const Parts& parts)
    : parts_(parts),
      shared_{parts.options, parts.guard,  parts.loop,
              multis_,       parts.bodies, *this},
      multis_(parts.loop, parts.options.multi_transfers, this) {}

CurlFetcher::~CurlFetcher() {
  for (const auto& [id, transfer] : in_flight_) {
    parts_.loop.Cancel(transfer->timer);
    transfer->set_stop(Stop::kCancelled);
    static_cast<void>(transfer->End(CURLE_OK));
  }
  parts_.loop.Cancel(stop_timer_);
  parts_.loop.Cancel(relief_timer_);
  parts_.loop.Cancel(resume_timer_);
}

Transfer* CurlFetcher::TakeTransfer() {
  if (free_.empty()) {
    std::unique_ptr<Transfer> made = Transfer::Make(shared_);
    // libcurl has run out of memory, and so has everyone.
    NEPHILA_CHECK(made != nullptr);
    transfers_.push_back(std::move(made));
    return transfers_.back().get();
  }
  Transfer* const transfer = free_.back();
  free_.pop_back();
  return transfer;
}

std::unique_ptr<FetchResult> CurlFetcher::TakeResult() {
  if (spare_.empty()) return std::make_unique<FetchResult>();
  std::unique_ptr<FetchResult> result = std::move(spare_.back());
  spare_.pop_back();
  return result;
}

void CurlFetcher::Recycle(std::unique_ptr<FetchResult> result) {
  if (result == nullptr || spare_.size() >= kMostSpare) return;
  // Its blocks are needed elsewhere.
  result->Clear();
  spare_.push_back(std::move(result));
}

void CurlFetcher::Start(FetchRequest request, FetchHandler* handler) {
  const uint64_t id = request.id;
  Transfer* const transfer = TakeTransfer();
  const bool fresh = in_flight_.emplace(id, transfer).second;
  NEPHILA_CHECK(fresh);
  const Stop stop =
      transfer->Prepare(std::move(request), handler, TakeResult());
  if (stop != Stop::kNone) {
    StopSoon(transfer, stop);
    return;
  }
  Begin(transfer);
}

void CurlFetcher::Begin(Transfer* transfer) {
  if (!transfer->Begin("")) {
    StopSoon(transfer, Stop::kBadRequest);
    return;
  }
  OnDeadline(transfer);
}

bool CurlFetcher::Cancel(uint64_t id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return false;
  StopSoon(found->second, Stop::kCancelled);
  return true;
}

void CurlFetcher::StopSoon(Transfer* transfer, Stop stop) {
  transfer->set_stop(stop);
  stopped_.push_back(transfer->request().id);
  if (stop_timer_ != net::TimerId::kNone) return;
  stop_timer_ = parts_.loop.At(parts_.loop.clock().Now(), [this] {
    stop_timer_ = net::TimerId::kNone;
    RunStopped();
  });
}

void CurlFetcher::RunStopped() {
  std::vector<uint64_t> stopped;
  stopped.swap(stopped_);
  for (const uint64_t id : stopped) {
    const auto found = in_flight_.find(id);
    // Over by itself meanwhile, and perhaps asked for again.
    if (found == in_flight_.end() || found->second->stop() == Stop::kNone) {
      continue;
    }
    Finish(found->second, CURLE_OK);
  }
}

void CurlFetcher::OnTransferEnded(CURL* easy, CURLcode code) {
  Finish(Transfer::Of(easy), code);
}

void CurlFetcher::Finish(Transfer* transfer, CURLcode code) {
  parts_.loop.Cancel(transfer->timer);
  transfer->timer = net::TimerId::kNone;
  FetchHandler* const handler = transfer->handler();
  counts_.stops[static_cast<size_t>(transfer->stop())].Add();
  std::unique_ptr<FetchResult> result = transfer->End(code);
  in_flight_.erase(result->id);
  free_.push_back(transfer);
  counts_.outcomes[static_cast<size_t>(result->outcome)].Add();
  if (result->truncation != item::Truncation::kNone) counts_.truncated.Add();
  if (!result->certificate_error.empty()) counts_.certificate_errors.Add();
  if (result->reused) counts_.reused.Add();
  counts_.bytes_in.Add(result->bytes_in);
  counts_.bytes_out.Add(result->bytes_out);
  handler->OnFetched(std::move(result));
}

void CurlFetcher::OnDeadline(Transfer* transfer) {
  parts_.loop.Cancel(transfer->timer);
  transfer->armed = transfer->Deadline();
  transfer->timer =
      parts_.loop.At(transfer->armed, [this, transfer] { OnTime(transfer); });
}

void CurlFetcher::OnTime(Transfer* transfer) {
  transfer->timer = net::TimerId::kNone;
  const Stop stop = transfer->Overdue(parts_.loop.clock().Now());
  if (stop == Stop::kNone) {
    OnDeadline(transfer);
    return;
  }
  transfer->set_stop(stop);
  Finish(transfer, CURLE_OK);
}

bool CurlFetcher::MayRead(Transfer* /*transfer*/) { return true; }

void CurlFetcher::OnBytes(uint64_t /*bytes*/) {
  if (parts_.bodies.Pressure() > 0) RelieveSoon();
}

void CurlFetcher::OnStarved(Transfer* transfer) {
  RelieveSoon();
  starved_.push_back(transfer->request().id);
  if (resume_timer_ != net::TimerId::kNone) return;
  resume_timer_ =
      parts_.loop.At(parts_.loop.clock().Now() + kStarvedWait, [this] {
        resume_timer_ = net::TimerId::kNone;
        ResumeAll(std::exchange(starved_, {}));
      });
}

void CurlFetcher::RelieveSoon() {
  if (relief_timer_ != net::TimerId::kNone) return;
  relief_timer_ = parts_.loop.At(parts_.loop.clock().Now(), [this] {
    relief_timer_ = net::TimerId::kNone;
    Relieve();
  });
}

void CurlFetcher::Relieve() {
  const uint64_t wanted = parts_.bodies.Pressure();
  if (wanted == 0) return;
  const MonoTime now = parts_.loop.clock().Now();
  std::vector<uint64_t> ids;
  std::vector<BodyProgress> progress;
  ids.reserve(in_flight_.size());
  progress.reserve(in_flight_.size());
  for (const auto& [id, transfer] : in_flight_) {
    if (transfer->stop() != Stop::kNone) continue;
    ids.push_back(id);
    progress.push_back(transfer->Progress(now));
  }
  for (const size_t position : SlowestTransfers(progress, wanted)) {
    const auto found = in_flight_.find(ids[position]);
    // A handler may have ended it, or asked for the same again.
    if (found == in_flight_.end() || found->second->result().body.empty()) {
      continue;
    }
    found->second->set_stop(Stop::kPool);
    Finish(found->second, CURLE_OK);
  }
}

void CurlFetcher::ResumeAll(const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) {
    const auto found = in_flight_.find(id);
    if (found == in_flight_.end()) continue;
    if (!found->second->Resume()) Finish(found->second, CURLE_WRITE_ERROR);
  }
}

}  // namespace nephila::fetch
