// A crawl that runs, looked at and steered: its numbers, checkpoints on demand,
// settings that change, and what others than the frontier's thread know.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/text.h"
#include "config/live.h"
#include "crawl/crawl.h"
#include "crawl/memory_plan.h"
#include "crawl/retry_command.h"
#include "job/entry.h"

namespace nephila::crawl {

void Crawl::TakeCheckpoint(std::function<void(Result<uint64_t>)> done) {
  if (phase_ == Phase::kEnded && checkpoint_ == nullptr) {
    return done(Unexpected(Error{ErrorCode::kStopped, "the crawl has ended"}));
  }
  if (disk_->is_refused()) {
    return done(Unexpected(Error{ErrorCode::kNoSpace, disk_->Text()}));
  }
  // Behind the last there is none: it has all that it could be asked for.
  const uint64_t number =
      phase_ == Phase::kEnded ? checkpoint_->manifest.number : next_manifest_;
  checkpoint_waiters_.push_back({number, std::move(done)});
  next_checkpoint_ = parts_.clock.Now();
}

void Crawl::TellCheckpoint(uint64_t number) {
  const auto later = std::stable_partition(
      checkpoint_waiters_.begin(), checkpoint_waiters_.end(),
      [number](const CheckpointWaiter& one) { return one.number > number; });
  // One that is told may ask for the next.
  std::vector<CheckpointWaiter> told(
      std::make_move_iterator(later),
      std::make_move_iterator(checkpoint_waiters_.end()));
  checkpoint_waiters_.erase(later, checkpoint_waiters_.end());
  if (!checkpoint_waiters_.empty()) next_checkpoint_ = parts_.clock.Now();
  for (const CheckpointWaiter& one : told) one.done(number);
}

void Crawl::RefuseCheckpoints(const Error& error) {
  const auto told = std::exchange(checkpoint_waiters_, {});
  for (const CheckpointWaiter& one : told) one.done(Unexpected(error));
}

Status Crawl::Command(std::string_view text) {
  if (!ParseRetry(text)) {
    return Unexpected(Error{
        ErrorCode::kInvalidArgument,
        EscapeForTerminal(text.substr(0, 100)) + ": no command of a crawl"});
  }
  job::Entry entry;
  entry.kind = job::EntryKind::kCommand;
  entry.when =
      std::chrono::floor<std::chrono::milliseconds>(parts_.clock.WallNow());
  entry.text = text;
  std::string bytes;
  AppendEntry(entry, bytes);
  FinishedVisit command;
  NEPHILA_TRY(command.entry, journal_->Append(bytes));
  command.command = text;
  command.charge = ByteCharge(&in_transit_);
  command.charge.Set(BytesOf(command));
  frontier_->Take(std::move(command));
  return journal_->Sync();
}

void Crawl::Change(const config::Settings& settings) {
  const config::CrawlSettings before = settings_.crawl;
  config::TakeLive(settings, &settings_);
  const MonoTime now = parts_.clock.Now();
  // What is due sooner by a shorter interval than it was.
  next_checkpoint_ =
      std::min(next_checkpoint_, now + settings_.crawl.checkpoint_interval);
  next_sync_ = std::min(next_sync_, now + settings_.crawl.sync_interval);
  next_block_look_ =
      std::min(next_block_look_, now + settings_.scope.block_interval);
  if (settings_.crawl.max_transfers != before.max_transfers) {
    most_in_flight_ = PlanMemory(settings_).transfers;
  }
  parts_.web.SetRates(settings_.fetch);
  OnDownloaders(
      [disk = settings_.disk](CrawlThread& thread) {
        thread.store->SetFloor(disk.floor_bytes, disk.margin_bytes);
      },
      [] {});
  dispatcher_thread_->loop().Post([this, politeness = settings_.politeness,
                                   most = MostPages(),
                                   in_flight = most_in_flight_] {
    dispatcher_->SetMaxInFlight(in_flight);
    dispatcher_->SetMostPages(most);
    dispatcher_->SetDelays(politeness);
  });
}

void Crawl::AskDispatcher(std::function<void(const DispatcherFacts&)> done) {
  dispatcher_thread_->loop().Post([this, done = std::move(done)] {
    loop_->Post([done, facts = dispatcher_->facts()] { done(facts); });
  });
}

void Crawl::AskHost(
    std::string_view url,
    const std::function<void(const std::optional<HostLook>&)>& done) {
  const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
  if (!canonical.has_value()) return done(std::nullopt);
  const uint64_t host = canonical->keys.host.value;
  // Visits go from the dispatcher to the downloaders: asked in that order, one
  // that is on its way is found.
  dispatcher_thread_->loop().Post(
      [this, host, done, href = std::string(canonical->href)] {
        loop_->Post([this, done, href, look = dispatcher_->Look(host, href)] {
          const auto is_there = std::make_shared<std::atomic<bool>>(false);
          OnDownloaders(
              [href, is_there](CrawlThread& thread) {
                if (thread.downloader->IsFetching(href)) *is_there = true;
              },
              [done, look, is_there] {
                HostLook all = look;
                all.in_flight = *is_there;
                done(all);
              });
        });
      });
}

CrawlState Crawl::state() const {
  if (phase_ == Phase::kEnded && checkpoint_ == nullptr) {
    return CrawlState::kStopped;
  }
  if (phase_ != Phase::kRunning) return CrawlState::kStopping;
  if (is_paused_) return CrawlState::kPaused;
  if (disk_->is_waiting()) return CrawlState::kWaitingForDisk;
  return CrawlState::kRunning;
}

std::vector<std::string> Crawl::Folders() const {
  const std::string& job = parts_.folder.dir();
  std::vector<std::string> folders = {job};
  for (std::string& path : folders_.AllPaths()) {
    if (!path.starts_with(job + "/")) folders.push_back(std::move(path));
  }
  return folders;
}

void Crawl::LogDisk() {
  const bool waits = disk_->is_waiting();
  if (waits == disk_waits_) return;
  disk_waits_ = waits;
  if (parts_.log == nullptr) return;
  if (waits) {
    parts_.log->Warn("{}", disk_->Text());
  } else {
    parts_.log->Info("disk: there is room again; going on");
  }
}

CrawlStatus Crawl::status() const {
  CrawlStatus status;
  const Accounts& accounts = frontier_->accounts();
  status.elapsed = parts_.clock.Now() - began_;
  status.pages = accounts.pages.value();
  status.pages_before = pages_before_;
  status.bytes_before = bytes_before_;
  status.bytes = accounts.bytes.value();
  status.failed = accounts.fetch.Totals().DroppedSum();
  status.retries = accounts.retries.value();
  status.robots = accounts.robots.value();
  status.quarantined = accounts.parse.Totals().dropped[kParseDropQuarantined];
  status.in_flight = in_flight_.load(std::memory_order_relaxed);
  status.ready = frontier_->ready();
  status.parked = frontier_->parked();
  status.seen = frontier_->seen().account().Totals().out;
  if (phase_ == Phase::kEnded) status.end = end_;
  if (gave_up_) {
    status.disk =
        "disk: no room for a last checkpoint; nothing is lost, the next run "
        "reads more of the journal";
  } else if (phase_ != Phase::kEnded || checkpoint_ != nullptr) {
    status.disk = disk_->Text();
  }
  for (const StageAccount* account : frontier_->StageAccounts()) {
    status.AddStage(*account);
    if (account->name() != "reputation") {
      status.waiting +=
          static_cast<uint64_t>(std::max<int64_t>(account->Totals().held, 0));
    }
  }
  for (size_t i = 0; i < accounts.outcomes.size(); ++i) {
    if (accounts.outcomes[i].value() == 0) continue;
    status.outcomes.emplace_back(
        item::FetchOutcomeName(static_cast<item::FetchOutcome>(i)),
        accounts.outcomes[i].value());
  }
  for (size_t i = 0; i < accounts.statuses.size(); ++i) {
    if (accounts.statuses[i].value() == 0) continue;
    status.statuses.emplace_back(std::to_string(i) + "xx",
                                 accounts.statuses[i].value());
  }
  return status;
}

}  // namespace nephila::crawl
