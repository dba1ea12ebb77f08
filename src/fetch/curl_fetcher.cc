#include "fetch/curl_fetcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/table_hash.h"
#include "fetch/request_text.h"

namespace nephila::fetch {
namespace {

// Results that wait to be used again; a thread parses one at a time.
constexpr size_t kMostSpare = 256;

// Who has no room for its body tries again after this.
constexpr std::chrono::milliseconds kStarvedWait(2);

// Finished bodies have most of the pool: so long nothing new begins.
constexpr std::chrono::milliseconds kFullPoolWait(5);

// Who has no slot for its connection looks again after this, and who found no
// descriptor though it had a slot after the longer one: somebody else has too
// many open.
constexpr std::chrono::milliseconds kSlotWait(1);
constexpr std::chrono::milliseconds kNoSocketWait(50);
// Idle connections that are closed when there was no descriptor.
constexpr size_t kClosedInShortage = 8;

// What waits for the rate looks again after this at the latest: the limit may
// have been changed by another thread, and a debt paid at the old rate can be
// of hours.
constexpr std::chrono::milliseconds kLongestRateWait(100);

// Once in a process, whoever is first; its twin is never called since other
// libraries may use libcurl too.
bool InitCurl() {
  static const bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ok;
}

CookieScope CookieScopeOf(const FetchRequest& request) {
  const std::string_view target = RequestTarget(request.url).value_or("/");
  return {.host = request.host,
          .path = target.substr(0, target.find('?')),
          .https = request.https,
          .is_domain = !request.host.starts_with('[') &&
                       !net::IpAddress::Parse(request.host).has_value()};
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
      shared_{parts.options, parts.guard, parts.loop,     multis_,
              parts.bodies,  *this,       DrawTableSeed()},
      multis_(parts.loop, parts.options.multi_transfers,
              parts.options.idle_timeout, parts.connections, this),
      alive_(std::make_shared<CurlFetcher*>(this)) {
  if (parts.connections != nullptr) parts.connections->Join(this);
}

CurlFetcher::~CurlFetcher() {
  if (parts_.connections != nullptr) parts_.connections->Leave(this);
  for (const auto& [id, transfer] : in_flight_) {
    parts_.loop.Cancel(transfer->timer);
    transfer->set_stop(Stop::kCancelled);
    static_cast<void>(transfer->End(CURLE_OK));
  }
  parts_.loop.Cancel(stop_timer_);
  parts_.loop.Cancel(relief_timer_);
  parts_.loop.Cancel(resume_timer_);
  parts_.loop.Cancel(page_timer_);
  parts_.loop.Cancel(read_timer_);
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
  // Those that wait came first.
  if (!waiting_.empty() || !MayBegin(*transfer)) {
    waiting_.push_back(id);
    BeginWaiting();
    return;
  }
  Begin(transfer);
}

MonoTime CurlFetcher::SoonAt(MonoTime time) const {
  return std::min(time, parts_.loop.clock().Now() + kLongestRateWait);
}

bool CurlFetcher::MayBegin(const Transfer& transfer) {
  lacks_slot_ = false;
  if (!parts_.bodies.MayStart()) return false;
  lacks_slot_ = parts_.loop.clock().Now() < no_sockets_until_ ||
                !multis_.TakeSlot(transfer.server());
  if (lacks_slot_) return false;
  if (parts_.rate == nullptr || parts_.rate->TakePage()) return true;
  multis_.Settle();
  return false;
}

MonoTime CurlFetcher::WhenToBegin() {
  const MonoTime now = parts_.loop.clock().Now();
  if (lacks_slot_) {
    // It has no idle connection to close, or will have some shortly.
    if (parts_.connections != nullptr && multis_.idle_connections() == 0) {
      parts_.connections->Squeeze(this, waiting_.size());
    }
    return std::max(no_sockets_until_, now + kSlotWait);
  }
  return parts_.rate != nullptr && parts_.bodies.MayStart()
             ? SoonAt(parts_.rate->WhenPageAllowed())
             : now + kFullPoolWait;
}

void CurlFetcher::NoteShortage() {
  no_sockets_until_ = parts_.loop.clock().Now() + kNoSocketWait;
  multis_.CloseIdle(kClosedInShortage);
  if (parts_.connections != nullptr) {
    parts_.connections->Squeeze(this, kClosedInShortage);
  }
}

void CurlFetcher::CloseIdleSoon(size_t count) {
  parts_.loop.Post([alive = std::weak_ptr(alive_), count] {
    const auto self = alive.lock();
    if (self != nullptr) (*self)->multis_.CloseIdle(count);
  });
}

void CurlFetcher::BeginWaiting() {
  if (page_timer_ != net::TimerId::kNone) return;
  while (!waiting_.empty()) {
    const auto found = in_flight_.find(waiting_.front());
    // Cancelled, and perhaps asked for again: then it stands further behind.
    const bool gone = found == in_flight_.end() || found->second->running() ||
                      found->second->stop() != Stop::kNone;
    if (!gone && !MayBegin(*found->second)) break;
    waiting_.pop_front();
    if (!gone) Begin(found->second);
  }
  if (waiting_.empty()) return;
  page_timer_ = parts_.loop.At(WhenToBegin(), [this] {
    page_timer_ = net::TimerId::kNone;
    BeginWaiting();
  });
}

void CurlFetcher::Begin(Transfer* transfer) {
  std::string cookie;
  if (parts_.cookies != nullptr) {
    cookie = parts_.cookies->HeaderFor(CookieScopeOf(transfer->request()));
  }
  if (!transfer->Begin(cookie)) {
    multis_.Settle();
    StopSoon(transfer, Stop::kBadRequest);
    return;
  }
  OnDeadline(transfer);
}

void CurlFetcher::TakeCookies(const FetchRequest& request,
                              const FetchResult& result) {
  constexpr std::string_view kName = "set-cookie:";
  if (result.status == 0) return;
  std::string_view head = result.head;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size() - 1) + 1;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end);
    if (!StartsWithIgnoreCase(line, kName)) continue;
    // Its verdict is for whoever debugs a jar.
    static_cast<void>(parts_.cookies->Store(
        CookieScopeOf(request), TrimSpaces(line.substr(kName.size()))));
  }
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

void CurlFetcher::OnContact(Transfer* transfer) {
  contacted_.push_back(transfer->request().id);
}

void CurlFetcher::TellContacts() {
  // A handler may start a request that looks at its socket at once.
  for (const uint64_t id : std::exchange(contacted_, {})) {
    const auto found = in_flight_.find(id);
    if (found == in_flight_.end()) continue;
    const Transfer& transfer = *found->second;
    transfer.handler()->OnContact(id, transfer.contact(), transfer.fresh());
  }
}

void CurlFetcher::OnRun(CURL* easy, int fd) {
  if (!contacted_.empty()) TellContacts();
  if (easy == nullptr) return;
  Transfer* const transfer = Transfer::Of(easy);
  if (transfer == nullptr || transfer->NoteRead(fd)) return;
  RelieveSoon();
  StopSoon(transfer, Stop::kPool);
}

void CurlFetcher::OnTransferEnded(CURL* easy, CURLcode code) {
  Finish(Transfer::Of(easy), code);
}

void CurlFetcher::Finish(Transfer* transfer, CURLcode code) {
  parts_.loop.Cancel(transfer->timer);
  transfer->timer = net::TimerId::kNone;
  FetchHandler* const handler = transfer->handler();
  if (parts_.cookies != nullptr) {
    TakeCookies(transfer->request(), transfer->result());
  }
  counts_.stops[static_cast<size_t>(transfer->stop())].Add();
  const bool no_sockets = transfer->stop() == Stop::kNoSockets;
  std::unique_ptr<FetchResult> result = transfer->End(code);
  result->body.Finished();
  in_flight_.erase(result->id);
  if (transfer->worn()) {
    const bool renewed = transfer->Renew();
    // As in TakeTransfer.
    NEPHILA_CHECK(renewed);
    counts_.renewed.Add();
  }
  free_.push_back(transfer);
  counts_.outcomes[static_cast<size_t>(result->outcome)].Add();
  if (result->truncation != item::Truncation::kNone) counts_.truncated.Add();
  if (!result->certificate_error.empty()) counts_.certificate_errors.Add();
  if (result->reused) counts_.reused.Add();
  counts_.bytes_in.Add(result->bytes_in);
  counts_.bytes_out.Add(result->bytes_out);
  if (no_sockets) NoteShortage();
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

bool CurlFetcher::MayRead(Transfer* transfer) {
  if (parts_.rate == nullptr || parts_.rate->MayRead()) return true;
  unread_.push_back(transfer->request().id);
  ReadSoon();
  return false;
}

void CurlFetcher::ReadSoon() {
  if (read_timer_ != net::TimerId::kNone) return;
  read_timer_ = parts_.loop.At(SoonAt(parts_.rate->WhenReadAllowed()), [this] {
    read_timer_ = net::TimerId::kNone;
    ReadWaiting();
  });
}

// In the order in which they were stopped, each as far as it goes: who is
// stopped again goes behind the others.
void CurlFetcher::ReadWaiting() {
  for (size_t left = unread_.size(); left > 0 && parts_.rate->MayRead();
       --left) {
    const uint64_t id = unread_.front();
    unread_.pop_front();
    Resume(id);
  }
  if (!unread_.empty()) ReadSoon();
}

void CurlFetcher::OnBytes(uint64_t bytes) {
  if (parts_.rate != nullptr) parts_.rate->CountBytes(bytes);
  if (parts_.bodies.Pressure() > 0) RelieveSoon();
}

void CurlFetcher::OnStarved(Transfer* transfer) {
  RelieveSoon();
  starved_.push_back(transfer->request().id);
  if (resume_timer_ != net::TimerId::kNone) return;
  resume_timer_ =
      parts_.loop.At(parts_.loop.clock().Now() + kStarvedWait, [this] {
        resume_timer_ = net::TimerId::kNone;
        for (const uint64_t id : std::exchange(starved_, {})) Resume(id);
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
    if (found == in_flight_.end() ||
        found->second->result().body.held_bytes() == 0) {
      continue;
    }
    found->second->set_stop(Stop::kPool);
    Finish(found->second, CURLE_OK);
  }
}

void CurlFetcher::Resume(uint64_t id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return;
  if (!found->second->Resume()) Finish(found->second, CURLE_WRITE_ERROR);
}

}  // namespace nephila::fetch
