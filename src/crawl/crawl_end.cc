// How a crawl ends: why, and in which order.
//
// No lease is given any more, what is in flight ends or is broken off, all that
// ended reaches the frontier, the archives are finished, and one more
// checkpoint names all of it. The job can then be continued from its manifest
// alone.
#include <algorithm>

#include "crawl/crawl.h"

namespace nephila::crawl {
namespace {

constexpr std::chrono::seconds kDrainTime{5};

}  // namespace

std::optional<CrawlEnd> Crawl::Reached() const {
  const Accounts& accounts = frontier_->accounts();
  if (stops_ > 0) return CrawlEnd::kStopped;
  const config::CrawlSettings& limits = settings_.crawl;
  if (limits.max_pages > 0 &&
      accounts.pages.value() >= static_cast<uint64_t>(limits.max_pages)) {
    return CrawlEnd::kMaxPages;
  }
  if (limits.max_bytes > 0 && accounts.bytes.value() >= limits.max_bytes) {
    return CrawlEnd::kMaxBytes;
  }
  if (limits.max_time.count() > 0 &&
      parts_.clock.Now() - began_ >= limits.max_time) {
    return CrawlEnd::kMaxTime;
  }
  if (frontier_->IsEmpty()) return CrawlEnd::kFinished;
  return std::nullopt;
}

Result<std::optional<CrawlEnd>> Crawl::StepEnd() {
  switch (phase_) {
    case Phase::kRunning:
      end_ = Reached();
      if (!end_) return std::optional<CrawlEnd>();
      phase_ = Phase::kDraining;
      drain_until_ = parts_.clock.Now() + kDrainTime;
      dispatcher_thread_->loop().Post([this] { dispatcher_->Pause(); });
      AskInFlight();
      return std::optional<CrawlEnd>();
    case Phase::kDraining:
      cancelled_ = stops_ > 1 || parts_.clock.Now() >= drain_until_;
      return std::optional<CrawlEnd>();
    case Phase::kFlushing:
      return std::optional<CrawlEnd>();
    case Phase::kFinishing:
      if (finish_refused_ && GivesUp()) GiveUp();
      return std::optional<CrawlEnd>();
    case Phase::kLast:
      NEPHILA_RETURN_IF_ERROR(StepLast());
      return std::optional<CrawlEnd>();
    case Phase::kEnded:
      if (checkpoint_ == nullptr) return end_;
      if (GivesUp()) GiveUp();
      return std::optional<CrawlEnd>();
  }
  return std::optional<CrawlEnd>();
}

Status Crawl::StepLast() {
  if (GivesUp()) {
    GiveUp();
    return {};
  }
  // One that was under way is ended first.
  if (checkpoint_ != nullptr || disk_->is_refused()) return {};
  // What has ended is counted; it is in the journal in any case.
  if (frontier_->arrived() > 0 && stops_ < 2) {
    const auto moved = frontier_->Absorb();
    if (!moved.has_value()) return Tolerate(Unexpected(moved.error()));
    if (*moved) return {};
  }
  phase_ = Phase::kEnded;
  NEPHILA_RETURN_IF_ERROR(NoteHistory(/*is_end=*/true));
  return Tolerate(BeginCheckpoint());
}

// Whoever stops a crawl, or gave it a time, need not wait for room on disk.
bool Crawl::GivesUp() const {
  return disk_->is_refused() && !gave_up_ &&
         (stops_ > 0 || end_ == CrawlEnd::kMaxTime);
}

void Crawl::GiveUp() {
  gave_up_ = true;
  if (stops_ > 0) end_ = CrawlEnd::kStopped;
  OnDownloaders(
      [this](CrawlThread& thread) {
        if (auto position = thread.downloader->Sync(); !position) {
          loop_->Post([this, error = position.error()] { Fail(error); });
        }
      },
      [this] {
        if (Status status = journal_->Sync(); !status) Fail(status.error());
        checkpoint_.reset();
        RefuseCheckpoints({ErrorCode::kNoSpace, "no room on disk"});
        phase_ = Phase::kEnded;
      });
}

// The dispatcher knows what has a lease, the downloaders what has ended and is
// being written: first none may be left there, then here.
void Crawl::AskInFlight() {
  // Again each time: a lease may have been on its way when they were told.
  if (cancelled_) {
    OnDownloaders([](CrawlThread& thread) { thread.downloader->CancelAll(); },
                  [] {});
  }
  dispatcher_thread_->loop().Post([this] {
    const size_t in_flight = dispatcher_->in_flight();
    loop_->Post([this, in_flight] {
      if (in_flight > 0) {
        loop_->At(parts_.clock.Now() + std::chrono::milliseconds(5),
                  [this] { AskInFlight(); });
        return;
      }
      phase_ = Phase::kFlushing;
      OnDownloaders([](CrawlThread&) {},
                    [this] {
                      phase_ = Phase::kFinishing;
                      FinishArchives();
                    });
    });
  });
}

void Crawl::FinishArchives() {
  OnDownloaders(
      [this](CrawlThread& thread) {
        if (Status status = thread.downloader->Finish(); !status) {
          loop_->Post([this, error = status.error()] {
            finish_refused_ = true;
            Fail(error);
          });
        }
      },
      [this] {
        if (!finish_refused_) phase_ = Phase::kLast;
      });
}

void Crawl::OnDownloaders(const std::function<void(CrawlThread&)>& function,
                          const std::function<void()>& done) {
  auto missing = std::make_shared<size_t>(threads_.size());
  for (auto& thread : threads_) {
    CrawlThread& one = *thread;
    one.thread->loop().Post([this, &one, function, done, missing] {
      // What is asked for comes behind all that has ended.
      one.downloader->SettleAll();
      function(one);
      loop_->Post([done, missing] {
        if (--*missing == 0) done();
      });
    });
  }
}

}  // namespace nephila::crawl
