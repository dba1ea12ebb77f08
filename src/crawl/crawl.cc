#include "crawl/crawl.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"
#include "crawl/archived_page.h"
#include "crawl/descriptor_plan.h"
#include "crawl/memory_plan.h"
#include "item/url_record.h"
#include "net/port_guard.h"
#include "url/parser.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;

// Passes of Drums tell nobody when they have something: who waits for nothing
// else looks so often.
constexpr milliseconds kPassPoll{1};
constexpr milliseconds kLongestTurn{100};
// While pages come and nobody waits for URLs, links are taken in many at a
// time: a turn for each page costs more than what it does.
constexpr milliseconds kNap{5};
// Seeds that are in memory before the frontier takes them.
constexpr size_t kSeedsAtOnce = 1000;
// Of one crawl thread, however many there are.
constexpr uint64_t kLeastIndexBytes = 256 << 10;
constexpr uint64_t kLeastPageBytes = 64 << 10;
constexpr size_t kLeastNames = 256;

size_t ThreadsFor(const config::CrawlSettings& settings, bool one_thread) {
  return settings.threads == 0 && one_thread ? 1 : CrawlThreads(settings);
}

}  // namespace

Crawl::Crawl(const Parts& parts)
    : parts_(parts),
      settings_(parts.settings),
      began_(parts.clock.Now()),
      plan_(parts.plan ? *parts.plan : PlanMemory(parts.settings)),
      in_transit_(plan_.in_transit),
      visits_(plan_.visits),
      canonicalizer_(parts.settings.url, parts.suffixes,
                     parts.folder.key_seed()) {}

Crawl::~Crawl() {
  // No mail is delivered to what is gone: first the threads, then the rest.
  for (auto& thread : threads_) {
    if (thread->thread != nullptr) thread->thread->Stop();
  }
  if (dispatcher_thread_ != nullptr) dispatcher_thread_->Stop();
  if (!failure_.has_value() && contact_log_ != nullptr) contact_log_->Forget();
}

Result<std::unique_ptr<Crawl>> Crawl::Open(const Parts& parts) {
  std::unique_ptr<Crawl> crawl(new Crawl(parts));
  NEPHILA_RETURN_IF_ERROR(crawl->OpenJob());
  return crawl;
}

// The path of a URL, wired: each arrow of ARCHITECTURE.md is a line here or in
// frontier.cc (Frontier::Step).
Status Crawl::OpenStages(const job::Manifest* manifest, uint64_t from) {
  // All streams of the archive go on, if there were more threads before.
  NEPHILA_TRY(const auto positions, StreamPositions(manifest));
  disk_ = std::make_unique<DiskWatch>(
      DiskWatch::Parts{parts_.fs, parts_.clock, settings_.disk,
                       parts_.folder.dir(), folders_.paths()});
  NEPHILA_TRY(loop_, net::EventLoop::Make(parts_.clock));
  net::EventLoop* const shared = parts_.one_thread ? loop_.get() : nullptr;
  const auto workers = static_cast<int>(parts_.settings.crawl.merge_threads);
  workers_ = std::make_unique<Workers>(parts_.one_thread ? 0 : workers);

  NEPHILA_TRY(blocks_,
              scope::BlockFiles::Open(
                  {parts_.fs, parts_.settings, parts_.suffixes,
                   parts_.folder.Path(job::kBlockedFile), parts_.on_warning}));
  NEPHILA_TRY(auto ends, KnownEnds(from));
  const size_t downloaders =
      std::max({ThreadsFor(parts_.settings.crawl, parts_.one_thread),
                positions.size(), ends.size()});
  ends.resize(downloaders);
  // The last two slots are the frontier's: for what it reads, and takes.
  NEPHILA_TRY(quarantine_, job::Quarantine::Open(
                               parts_.fs, parts_.folder.dir(), downloaders + 2,
                               parts_.clock.BootId().value_or("")));
  for (const std::string& url : quarantine_->added()) {
    if (parts_.on_quarantine) parts_.on_quarantine(url);
  }
  NEPHILA_RETURN_IF_ERROR(MakeFrontier(manifest, downloaders));

  // To the frontier.
  finished_ = std::make_unique<Mailbox<FinishedVisit>>(
      *loop_,
      [this](std::vector<FinishedVisit>& visits) {
        for (FinishedVisit& visit : visits) {
          if (parts_.on_finished) parts_.on_finished(visit);
          frontier_->Take(std::move(visit));
        }
      },
      Mail::kCanWait);
  parked_ = std::make_unique<Mailbox<ParkedVisit>>(
      *loop_, [this](std::vector<ParkedVisit>& parked) {
        for (ParkedVisit& one : parked) {
          parked_visits_.push_back(std::move(one));
        }
      });
  notes_ = std::make_unique<Mailbox<HostNote>>(
      *loop_, [this](std::vector<HostNote>& notes) {
        for (HostNote& note : notes) host_notes_.push_back(std::move(note));
      });

  const bool is_single = downloaders == 1;
  NEPHILA_TRY(dispatcher_thread_,
              LoopThread::Make(parts_.clock, shared,
                               is_single ? "downloader" : "dispatcher"));
  // A single downloader is on the dispatcher's thread: nobody has to wait for
  // another thread to wake between the end of one request and the next.
  net::EventLoop* const loop = is_single ? &dispatcher_thread_->loop() : shared;
  for (size_t i = 0; i < downloaders; ++i) {
    threads_.push_back(std::make_unique<CrawlThread>());
    NEPHILA_TRY(threads_[i]->thread,
                LoopThread::Make(parts_.clock, loop, "downloader"));
  }
  NEPHILA_RETURN_IF_ERROR(MakeDispatcher(manifest));
  for (size_t i = 0; i < downloaders; ++i) {
    NEPHILA_RETURN_IF_ERROR(MakeDownloader(i, positions, ends[i]));
  }
  return {};
}

Status Crawl::MakeFrontier(const job::Manifest* manifest, size_t downloaders) {
  deferred_ = std::make_unique<DeferredReader>(DeferredReader::Parts{
      parts_.fs, parts_.settings, parts_.suffixes, folders_.AllPaths(),
      parts_.folder.key_seed(), plan_.frontier_page, plan_.page_links,
      &in_transit_, quarantine_.get(), downloaders, parts_.on_read});
  Frontier::Parts frontier = {parts_.fs,
                              parts_.clock,
                              *workers_,
                              settings_,
                              parts_.suffixes,
                              parts_.folder.dir(),
                              parts_.folder.key_seed()};
  frontier.read_page = [this](FinishedVisit* visit, bool replayed) {
    return deferred_->Read(visit, replayed);
  };
  frontier.visits = &visits_;
  frontier.quarantine = quarantine_.get();
  frontier.slot = downloaders + 1;
  frontier.on_take = parts_.on_take;
  if (manifest == nullptr) {
    NEPHILA_TRY(frontier_, Frontier::Create(frontier));
  } else {
    NEPHILA_TRY(frontier_, Frontier::Open(frontier, manifest->parts));
  }
  frontier_->SetBlocks(blocks_->lists());
  return {};
}

Status Crawl::MakeDispatcher(const job::Manifest* manifest) {
  net::EventLoop& loop = dispatcher_thread_->loop();
  NEPHILA_TRY(resolver_, parts_.web.MakeResolver(loop));
  Dispatcher::Parts parts{loop, *resolver_, parts_.settings, parts_.suffixes};
  parts.seed = parts_.folder.key_seed();
  most_in_flight_ = PlanMemory(parts_.settings).transfers;
  parts.max_in_flight = most_in_flight_;
  parts.max_robots = MaxRobotsRequests(parts_.settings, plan_);
  parts.downloaders = threads_.size();
  parts.restarted = !parts_.folder.is_new();
  parts.before_leases =
      [this](const std::vector<politeness::Lease>& leases) -> Status {
    Status written = contact_log_->Append(leases);
    if (!written) {
      loop_->Post([this, error = written.error()] { Fail(error); });
    }
    return written;
  };
  parts.start = [this](size_t downloader, VisitPtr visit) {
    if (visit->lease != 0) in_flight_.fetch_add(1, std::memory_order_relaxed);
    threads_[downloader]->visits->Push(std::move(visit));
  };
  parts.released = [this](size_t downloader, uint64_t lease, Waits waits) {
    CrawlThread& thread = *threads_[downloader];
    thread.thread->loop().Post(
        [&thread, lease, waits] { thread.downloader->Released(lease, waits); });
  };
  parts.end_slow = [this](size_t downloader, uint64_t lease) {
    CrawlThread& thread = *threads_[downloader];
    thread.thread->loop().Post(
        [&thread, lease] { thread.downloader->EndSlow(lease); });
  };
  parts.park = [this](ParkedVisit parked) { parked_->Push(std::move(parked)); };
  parts.note = [this](HostNote note) { notes_->Push(std::move(note)); };
  parts.want = [this](size_t count) {
    loop_->Post([this, count] { frontier_->Want(count); });
  };
  dispatcher_ = std::make_unique<Dispatcher>(parts);
  dispatcher_->SetBlocks(blocks_->lists());
  NEPHILA_RETURN_IF_ERROR(RestoreContacts(manifest));
  to_dispatcher_ = std::make_unique<Mailbox<VisitPtr>>(
      loop, [this](std::vector<VisitPtr>& visits) {
        const auto pages =
            std::count_if(visits.begin(), visits.end(), [](const VisitPtr& v) {
              return v->kind == item::FetchKind::kPage;
            });
        dispatcher_->Take(std::move(visits));
        dispatcher_->Wanted(static_cast<size_t>(pages));
      });
  ends_ = std::make_unique<Mailbox<std::pair<size_t, Dispatcher::End>>>(
      loop, [this](std::vector<std::pair<size_t, Dispatcher::End>>& ends) {
        for (auto& [downloader, end] : ends) {
          dispatcher_->Ended(downloader, std::move(end));
        }
      });
  return {};
}

Status Crawl::RestoreContacts(const job::Manifest* manifest) {
  uint64_t log = 0;
  std::string_view waits;
  if (manifest != nullptr) {
    const auto contacts = manifest->parts.find("contacts");
    if (contacts != manifest->parts.end()) {
      log = ByteReader(contacts->second).Varint().value_or(0);
    }
    const auto found = manifest->parts.find("waits");
    if (found != manifest->parts.end()) waits = found->second;
  }
  NEPHILA_TRY(contact_log_,
              ContactLog::Open({parts_.fs, parts_.clock,
                                parts_.folder.Path(job::kContactsDir),
                                parts_.folder.key_seed()},
                               log));
  if (!waits.empty()) {
    NEPHILA_RETURN_IF_ERROR(
        dispatcher_->RestoreWaits(waits, contact_log_->Read()));
  }
  // Behind those that it read: they are needed until a checkpoint.
  NEPHILA_RETURN_IF_ERROR(contact_log_->Begin({}));
  return {};
}

Status Crawl::MakeDownloader(size_t number,
                             const std::vector<store::StorePosition>& positions,
                             std::optional<store::Position> known_end) {
  CrawlThread& thread = *threads_[number];
  net::EventLoop& loop = thread.thread->loop();
  NEPHILA_TRY(thread.fetcher, parts_.web.MakeFetcher(loop));
  store::StoreOptions options;
  options.settings = parts_.settings.store;
  options.folder = folders_.paths().front();
  options.other_folders.assign(folders_.paths().begin() + 1,
                               folders_.paths().end());
  options.old_folders = folders_.old_paths();
  options.floor_bytes = parts_.settings.disk.floor_bytes;
  options.margin_bytes = parts_.settings.disk.margin_bytes;
  options.log_path =
      parts_.folder.Path(job::kArchiveDir) + "/" + LogName(number);
  options.settings.prefix = StreamPrefix(parts_.settings.store.prefix, number);
  // All streams share what is there for the archive.
  options.settings.revisit_memory_bytes = std::min(
      options.settings.revisit_memory_bytes, plan_.revisits / threads_.size());
  options.settings.index_memory_bytes =
      std::min(options.settings.index_memory_bytes,
               std::max(plan_.indexes / threads_.size(), kLeastIndexBytes));
  options.seed = parts_.record_seed + number;
  options.stream = static_cast<uint32_t>(number);
  options.info = parts_.archive_info;
  std::optional<store::StorePosition> position;
  if (number < positions.size()) position = positions[number];
  // What no entry names has not happened.
  options.keep = position ? position->archive : store::Position{};
  if (known_end) options.keep = std::max(*options.keep, *known_end);
  // And only of the open file it can be cut.
  options.before_finish = [this] { return journal_->Sync(); };
  NEPHILA_TRY(thread.store, store::Store::OpenAt(parts_.fs, parts_.clock,
                                                 std::move(options), position));
  Downloader::Parts parts{loop,           *thread.fetcher, parts_.web.limits(),
                          *thread.store,  *journal_,       parts_.settings,
                          parts_.suffixes};
  parts.seed = parts_.folder.key_seed();
  parts.number = number;
  parts.budgets = parts_.settings.crawl.budgets;
  parts.in_transit = &in_transit_;
  parts.max_page_bytes =
      std::max(plan_.thread_pages / threads_.size(), kLeastPageBytes);
  parts.max_links_bytes = plan_.page_links;
  parts.max_names = std::max(plan_.names / threads_.size(), kLeastNames);
  parts.quarantine = quarantine_.get();
  parts.on_read = parts_.on_read;
  parts.contacted = [this](uint64_t lease, MonoTime when) {
    dispatcher_thread_->loop().Post(
        [this, lease, when] { dispatcher_->Contacted(lease, when); });
  };
  parts.ended = [this, number](Dispatcher::End end) {
    if (end.lease != 0) in_flight_.fetch_sub(1, std::memory_order_relaxed);
    ends_->Push({number, std::move(end)});
  };
  parts.finished = [this](FinishedVisit visit) {
    finished_->Push(std::move(visit));
  };
  parts.failed = [this](const Error& error) {
    loop_->Post([this, error] { Fail(error); });
  };
  thread.downloader = std::make_unique<Downloader>(parts);
  thread.visits = std::make_unique<Mailbox<VisitPtr>>(
      loop,
      [downloader = thread.downloader.get()](std::vector<VisitPtr>& visits) {
        for (VisitPtr& visit : visits) downloader->Start(std::move(visit));
      });
  return {};
}

Status Crawl::AddSeed(std::string_view url, bool is_sitemap) {
  const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
  if (!canonical.has_value()) {
    std::string why(url::DropReasonName(canonical.error()));
    url::Url parsed;
    if (canonical.error() == url::DropReason::kPort &&
        url::Parse(url, nullptr, &parsed)) {
      why.append(": ").append(net::PortGuard::Reason(parsed.port()));
    }
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "seed " + EscapeForTerminal(url) + ": " + std::move(why)});
  }
  item::UrlRecord record = url::MakeUrlRecord(*canonical);
  record.flags = item::kFromSeed | (is_sitemap ? item::kIsSitemap : 0);
  record.discovered = std::chrono::floor<milliseconds>(parts_.clock.WallNow());
  job::Entry entry;
  entry.kind = job::EntryKind::kSeed;
  entry.when = record.discovered;
  record.entry = journal_->next();
  std::string bytes;
  AppendUrlRecord(record, bytes);
  entry.record = bytes;
  std::string line;
  AppendEntry(entry, line);
  FinishedVisit seed;
  NEPHILA_TRY(seed.entry, journal_->Append(line));
  seed.is_seed = true;
  ByteWriter(seed.links).Sized(bytes);
  seed.charge = ByteCharge(&in_transit_);
  seed.charge.Set(BytesOf(seed));
  frontier_->Take(std::move(seed));
  if (frontier_->arrived() < kSeedsAtOnce && !in_transit_.IsUsedUp()) return {};
  return TakeArrived();
}

void Crawl::StartThreads() {
  dispatcher_thread_->Start();
  for (auto& thread : threads_) thread->thread->Start();
}

Result<CrawlEnd> Crawl::Run(
    const std::function<void(const CrawlStatus&)>& progress) {
  MonoTime next_progress = parts_.clock.Now();
  while (true) {
    NEPHILA_TRY(const auto end, Turn(parts_.clock.Now() + kLongestTurn));
    if (progress && (end || parts_.clock.Now() >= next_progress)) {
      progress(status());
      next_progress = parts_.clock.Now() + kLongestTurn;
    }
    if (end) return *end;
  }
}

Result<std::optional<CrawlEnd>> Crawl::Turn(MonoTime deadline) {
  auto end = TakeTurn(deadline);
  // Nobody waits for what will not come.
  if (!end.has_value()) {
    RefuseCheckpoints(end.error());
  } else if (*end) {
    RefuseCheckpoints({ErrorCode::kStopped, "the crawl has ended"});
  }
  return end;
}

Result<std::optional<CrawlEnd>> Crawl::TakeTurn(MonoTime deadline) {
  if (!started_) {
    started_ = true;
    next_checkpoint_ = parts_.clock.Now() + settings_.crawl.checkpoint_interval;
    next_sync_ = parts_.clock.Now() + settings_.crawl.sync_interval;
    next_block_look_ = parts_.clock.Now() + settings_.scope.block_interval;
    StartThreads();
    dispatcher_thread_->loop().Post(
        [this, most = MostPages()] { dispatcher_->SetMostPages(most); });
  }
  // Before the first lease too.
  NEPHILA_RETURN_IF_ERROR(WatchDisk());
  HoldBack();
  if (parts_.clock.Now() >= next_block_look_) ReadBlockLists();
  bool will_come = false;
  NEPHILA_TRY(const bool moved, RunFrontier(&will_come));
  SyncIfDue();
  NEPHILA_RETURN_IF_ERROR(NoteHistoryIfDue());
  BeginCheckpointIfDue();
  NEPHILA_RETURN_IF_ERROR(failure_);
  NEPHILA_TRY(const auto end, StepEnd());
  if (end) return end;
  const bool has_worked = std::exchange(worked_, moved);
  const bool naps =
      has_worked && !moved && !parts_.one_thread && frontier_->wanted() == 0;
  loop_->RunOnce(NextTurn(moved, will_come, deadline),
                 naps ? parts_.clock.Now() + kNap : MonoTime{});
  NEPHILA_RETURN_IF_ERROR(failure_);
  return std::optional<CrawlEnd>();
}

// While what is on its way to the frontier takes a good part of its memory, no
// more pages are requested.
void Crawl::HoldBack() {
  if (phase_ != Phase::kRunning) return;
  const uint64_t most = in_transit_.limit() / 2;
  const uint64_t waiting = in_transit_.used();
  is_behind_ = is_behind_ ? waiting > most / 2 : waiting >= most;
  const bool hold = is_paused_ || is_behind_ || disk_->is_waiting();
  if (hold == held_back_) return;
  held_back_ = hold;
  dispatcher_thread_->loop().Post([this, hold = held_back_] {
    if (hold) {
      dispatcher_->Pause();
    } else {
      dispatcher_->Resume();
    }
  });
}

// Of this run.
uint64_t Crawl::MostPages() const {
  const auto most = static_cast<uint64_t>(settings_.crawl.max_pages);
  if (most == 0) return UINT64_MAX;
  return most - std::min(most, pages_before_);
}

Status Crawl::WatchDisk() {
  NEPHILA_RETURN_IF_ERROR(
      disk_->Look(journal_->on_reserve() || manifests_->on_reserve()));
  LogDisk();
  if (disk_->trials() == trials_) return {};
  trials_ = disk_->trials();
  OnDownloaders([](CrawlThread& thread) { thread.downloader->TryAgain(); },
                [] {});
  if (finish_refused_) {
    finish_refused_ = false;
    FinishArchives();
  }
  if (checkpoint_ == nullptr) return {};
  switch (checkpoint_->step) {
    case Checkpoint::Step::kNoting:
      return Tolerate(BeginCheckpoint());
    case Checkpoint::Step::kCollecting:
      if (checkpoint_->archives_failed) SyncArchives();
      return {};
    case Checkpoint::Step::kEnding:
      return Tolerate(EndCheckpoint());
  }
  return {};
}

Status Crawl::Tolerate(Status status) {
  if (status.has_value() || status.error().code != ErrorCode::kNoSpace) {
    return status;
  }
  Fail(status.error());
  return {};
}

// What the frontier's thread does for URLs; whether anything was done.
Result<bool> Crawl::RunFrontier(bool* will_come) {
  // A commit that is begun in part is of one moment.
  const bool is_noting =
      checkpoint_ != nullptr && checkpoint_->step == Checkpoint::Step::kNoting;
  if (disk_->is_refused() || is_noting) return false;
  auto moved = StepFrontier();
  if (!moved.has_value()) {
    NEPHILA_RETURN_IF_ERROR(Tolerate(Unexpected(moved.error())));
    return false;
  }
  if (*moved || phase_ != Phase::kRunning) return moved;
  const auto dry = frontier_->RunDry();
  if (dry.has_value()) {
    *will_come = *dry;
    return false;
  }
  NEPHILA_RETURN_IF_ERROR(Tolerate(Unexpected(dry.error())));
  return false;
}

Result<bool> Crawl::StepFrontier() {
  NEPHILA_RETURN_IF_ERROR(TakeMail());
  frontier_->TakeNoted([this](uint64_t host, uint64_t epoch) {
    dispatcher_thread_->loop().Post(
        [this, host, epoch] { dispatcher_->Noted(host, epoch); });
  });
  return frontier_->Step(
      [this](VisitPtr visit) { to_dispatcher_->Push(std::move(visit)); });
}

MonoTime Crawl::NextTurn(bool moved, bool will_come, MonoTime deadline) const {
  const MonoTime now = parts_.clock.Now();
  if (moved) return now;
  // Without threads the next step does the work.
  if (will_come) return workers_->threads() == 0 ? now : now + kPassPoll;
  if (const auto due = frontier_->NextDue()) {
    const auto left = *due - parts_.clock.WallNow();
    // One that is due already waits for room.
    deadline =
        std::min(deadline, now + std::max<decltype(left)>(left, kPassPoll));
  }
  // One that cannot be begun now is no reason to look again at once.
  if (checkpoint_ == nullptr && phase_ == Phase::kRunning &&
      !disk_->is_refused()) {
    deadline = std::min(deadline, next_checkpoint_);
  }
  return std::min({deadline, next_sync_, next_block_look_, disk_->next_look()});
}

Status Crawl::TakeMail() {
  while (!parked_visits_.empty()) {
    const ParkedVisit& parked = parked_visits_.front();
    NEPHILA_RETURN_IF_ERROR(frontier_->Park(*parked.visit, parked.due));
    parked_visits_.pop_front();
  }
  while (!host_notes_.empty()) {
    NEPHILA_RETURN_IF_ERROR(frontier_->Note(host_notes_.front()));
    host_notes_.pop_front();
  }
  return {};
}

Crawl::Held Crawl::HeldBytes() const {
  return {in_transit_.used(), visits_.used(), frontier_->HeldBytes()};
}

void Crawl::Fail(const Error& error) {
  if (parts_.log != nullptr) parts_.log->Warn("{}", error.message);
  if (error.code == ErrorCode::kNoSpace) {
    disk_->Refused(error);
  } else if (failure_.has_value()) {
    failure_ = Unexpected(error);
  }
}

}  // namespace nephila::crawl
