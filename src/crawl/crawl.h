// Crawl: the path of a URL, wired. A job's folder, the frontier, the dispatcher
// and the downloaders, each on its thread, or all stepped by one.
//
//   In: seeds, a job's folder   Out: an archive, and counters
//   Threads: Open, AddSeed and Run by one, which becomes the frontier's; Stop
//   by any, a signal handler too; one thread for the dispatcher and one for
//   each downloader (`crawl.threads`; a single one shares the dispatcher's),
//   and those that merge   Memory: `crawl.memory`
//
// A full disk makes it wait, not end (disk_watch.h). What found no room is kept
// and tried again: a visit by its downloader, mail and a checkpoint here.
//
// Turn is one round of everything that the frontier's thread does. Run is Turn
// until the end. With `one_thread` all parts share one loop, and a test that
// owns clock, disk and web can stop the world between any two turns.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "base/workers.h"
#include "config/profile.h"
#include "config/settings.h"
#include "crawl/archive_folders.h"
#include "crawl/archived_page.h"
#include "crawl/byte_budget.h"
#include "crawl/contact_log.h"
#include "crawl/crawl_status.h"
#include "crawl/deferred_reader.h"
#include "crawl/disk_watch.h"
#include "crawl/dispatcher.h"
#include "crawl/downloader.h"
#include "crawl/frontier.h"
#include "crawl/guarded_reader.h"
#include "crawl/loop_thread.h"
#include "crawl/mailbox.h"
#include "crawl/memory_plan.h"
#include "crawl/web.h"
#include "job/history.h"
#include "job/job_folder.h"
#include "job/journal.h"
#include "job/manifest.h"
#include "job/quarantine.h"
#include "net/event_loop.h"
#include "scope/block_files.h"
#include "store/store.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

// The numbers of a record of the history (job/history.h), by name.
job::HistoryNumbers HistoryOf(const CrawlStatus& status);
// A manifest's part `settings`: those that are not the defaults, as TOML.
std::string ChangedSettings(const config::Settings& settings);

class Crawl {
 public:
  // All of it outlives the crawl.
  struct Parts {
    FileSystem& fs;
    const Clock& clock;
    Web& web;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    job::JobFolder& folder;
    bool one_thread = false;
    uint64_t record_seed = 0;  // of the ids in the archive: random
    // Of `warcinfo`.
    std::vector<std::pair<std::string, std::string>> archive_info = {};
    // Something that the user should know, in one line; may be null.
    std::function<void(std::string_view line)> on_warning = nullptr;
    // A page that nobody reads any more, from now on.
    std::function<void(std::string_view url)> on_quarantine = nullptr;
    Logger* log = nullptr;  // what happens to the crawl as a whole
    // An attempt of this run that is over, on the frontier's thread.
    std::function<void(const FinishedVisit& visit)> on_finished = nullptr;
    // Of this process, for the history; may be null.
    std::function<uint64_t()> resident_bytes = nullptr;
    // Called with every archive folder of the job before a file in one of them
    // is opened; may be null.
    std::function<void(const std::vector<std::string>& paths)>
        on_archive_folders = nullptr;
    // For tests: before a page is read, on the thread that does.
    std::function<void(std::string_view url)> on_read = nullptr;
    // For tests: in place of the plan that the settings give.
    std::optional<MemoryPlan> plan = std::nullopt;
    // For tests: before the frontier takes the entry of a page.
    std::function<void(std::string_view url)> on_take = nullptr;
  };

  // Goes on where the job was, or begins.
  static Result<std::unique_ptr<Crawl>> Open(const Parts& parts);
  // Stops the threads; what no checkpoint has is taken from the journal by the
  // next Open.
  ~Crawl();
  Crawl(const Crawl&) = delete;
  Crawl& operator=(const Crawl&) = delete;

  // REQUIRES: before the first Turn. kInvalidArgument for what cannot be
  // crawled. `is_sitemap`: links are taken from it as from a sitemap.
  Status AddSeed(std::string_view url, bool is_sitemap = false);

  // Why the scope refuses it, in one line, though it is a seed; nothing if it
  // does not, or is no URL at all. A seed that is refused brings nothing.
  std::optional<std::string> RefusesSeed(std::string_view url);
  // Reads the black lists that have changed, now and not only every
  // `scope.block_interval`. By the thread of Turn.
  void ReadBlockLists();

  // Until the end; `progress` is called about ten times a second.
  Result<CrawlEnd> Run(const std::function<void(const CrawlStatus&)>& progress);
  // One round; waits for something to do, at most to `deadline`. Nothing while
  // it goes on, then why it ended: all is on disk.
  Result<std::optional<CrawlEnd>> Turn(MonoTime deadline);
  // Ends it: no new requests, what is in flight may end within some seconds.
  // The second time nothing is waited for.
  void Stop() { stops_.fetch_add(1); }

  // Steering (crawl_steer.cc), by the thread that calls Turn: what is watched
  // on its loop is called from there.
  net::EventLoop& loop() { return *loop_; }
  // No lease is given until Resume; what is in flight ends. Nothing on disk
  // says so: the next run is not paused.
  void Pause() { is_paused_ = true; }
  void Resume() { is_paused_ = false; }
  bool is_paused() const { return is_paused_; }
  // Takes one now, behind the one that may be under way. `done` is told its
  // number when the manifest is durable, or why there is none.
  void TakeCheckpoint(std::function<void(Result<uint64_t>)> done);
  // An entry of the journal, durable when it returns: what of it there is to do
  // is done once, also across crashes. kInvalidArgument for what is no command
  // (retry_command.h). Before the first Turn too.
  Status Command(std::string_view text);
  // Takes over what may change while it runs (config/live.h) and leaves the
  // rest. Delays that are longer than before hold for the waits that are
  // running, shorter ones from the next lease on.
  void Change(const config::Settings& settings);
  const config::Settings& settings() const { return settings_; }
  // What the dispatcher's thread knows; `done` is called by this one.
  void AskDispatcher(std::function<void(const DispatcherFacts&)> done);
  // What all threads know of the host of a URL, and of that URL. Nothing if it
  // is not one that is crawled.
  void AskHost(std::string_view url,
               const std::function<void(const std::optional<HostLook>&)>& done);

  CrawlState state() const;
  // Of the last checkpoint; of this run: when.
  uint64_t checkpoint_number() const { return manifests_->newest_number(); }
  std::optional<MonoTime> checkpoint_time() const { return checkpoint_time_; }
  const DiskWatch& disk() const { return *disk_; }
  bool is_behind() const { return is_behind_; }
  // Why it ends, once it does.
  std::optional<CrawlEnd> end() const { return end_; }
  // Of the job, and those of its archive elsewhere.
  std::vector<std::string> Folders() const;
  size_t most_in_flight() const { return most_in_flight_; }
  CrawlStatus status() const;
  const Frontier& frontier() const { return *frontier_; }
  // The memory of what is on its way between threads and stages, and its
  // limits. A look at each; by the thread of Turn.
  struct Held {
    uint64_t in_transit = 0;
    uint64_t visits = 0;
    uint64_t frontier = 0;
  };
  Held HeldBytes() const;
  const MemoryPlan& memory_plan() const { return plan_; }

 private:
  // A downloader and what it stands on.
  struct CrawlThread {
    std::unique_ptr<LoopThread> thread;
    std::unique_ptr<fetch::Fetcher> fetcher;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<Downloader> downloader;
    std::unique_ptr<Mailbox<VisitPtr>> visits;
    store::StorePosition position;  // by the last checkpoint
  };
  // Who may have been contacted, for a manifest.
  struct SavedContacts {
    std::string waits;
    uint64_t log = 0;  // of contacts
  };
  // A checkpoint that waits for the word of other threads, or for room on disk:
  // each step is then done again.
  struct Checkpoint {
    enum class Step : uint8_t { kNoting, kCollecting, kEnding };
    Step step = Step::kNoting;
    job::Manifest manifest;
    uint64_t entry = 0;
    size_t missing = 0;
    bool archives_failed = false;
    SavedContacts contacts;
  };
  enum class Phase : uint8_t {
    kRunning,
    kDraining,   // no leases; what is in flight ends
    kFlushing,   // all that ended is on its way to the frontier
    kFinishing,  // archives are being finished
    kLast,       // the last checkpoint
    kEnded,
  };

  explicit Crawl(const Parts& parts);
  Status OpenJob();
  Status ClearStages();
  // Of each stream of the archive; opens its folders.
  Result<std::vector<store::StorePosition>> StreamPositions(
      const job::Manifest* manifest);
  Status OpenStages(const job::Manifest* manifest, uint64_t from);
  Status MakeFrontier(const job::Manifest* manifest, size_t downloaders);
  Status MakeDispatcher(const job::Manifest* manifest);
  Status RestoreContacts(const job::Manifest* manifest);
  Status MakeDownloader(size_t number,
                        const std::vector<store::StorePosition>& positions,
                        std::optional<store::Position> known_end);
  Status Replay(uint64_t from);
  Status HoldWaits(const job::Entry& entry);
  Status TakeArrived();
  Status CheckpointNow();
  Result<SavedContacts> SaveContacts();
  Result<std::vector<std::optional<store::Position>>> KnownEnds(uint64_t from);
  void StartThreads();
  uint64_t MostPages() const;
  void HoldBack();
  // All who wait for a checkpoint with this number, or one before.
  void TellCheckpoint(uint64_t number);
  void RefuseCheckpoints(const Error& error);
  void LogDisk();

  Result<std::optional<CrawlEnd>> TakeTurn(MonoTime deadline);
  // Mail that changes the frontier.
  Status TakeMail();
  Result<bool> StepFrontier();
  Result<bool> RunFrontier(bool* will_come);
  MonoTime NextTurn(bool moved, bool will_come, MonoTime deadline) const;

  std::optional<CrawlEnd> Reached() const;
  Result<std::optional<CrawlEnd>> StepEnd();
  Status StepLast();
  void AskInFlight();
  void FinishArchives();
  // The user does not want to wait for room: as after a crash, nothing is lost.
  bool GivesUp() const;
  void GiveUp();
  // Runs `function` on the thread of each downloader, then `done` here, once.
  void OnDownloaders(const std::function<void(CrawlThread&)>& function,
                     const std::function<void()>& done);

  // crawl_history.cc
  Status OpenHistory();
  Status NoteHistoryIfDue();
  Status NoteHistory(bool is_end);

  void SyncIfDue();
  void BeginCheckpointIfDue();
  // The frontier's part of a checkpoint.
  Status NoteState();
  void SyncArchive(CrawlThread& thread);
  void SyncArchives();
  Status BeginCheckpoint();
  void CollectCheckpoint();
  Status EndCheckpoint();
  // Looks at the disk; what was refused for want of space is tried again.
  Status WatchDisk();
  // Ends the crawl, unless room on disk is all that is missing.
  void Fail(const Error& error);
  // No error, or one that Fail has to end the crawl for.
  Status Tolerate(Status status);

  struct CheckpointWaiter {
    uint64_t number = 0;  // that one, or a later one
    std::function<void(Result<uint64_t>)> done;
  };

  const Parts parts_;
  // As they are now: for the frontier's thread alone. Others have those that
  // they were made with, and are told what changes.
  config::Settings settings_;
  const MonoTime began_;
  const MemoryPlan plan_;
  // They outlive all that is charged to them.
  ByteBudget in_transit_;  // finished visits
  ByteBudget visits_;
  std::unique_ptr<net::EventLoop> loop_;  // the frontier's
  std::unique_ptr<Workers> workers_;
  ArchiveFolders folders_;
  std::unique_ptr<job::Journal> journal_;
  std::unique_ptr<job::ManifestFolder> manifests_;
  std::unique_ptr<job::Quarantine> quarantine_;
  std::unique_ptr<scope::BlockFiles> blocks_;
  std::unique_ptr<job::History> history_;
  std::unique_ptr<DeferredReader> deferred_;
  std::unique_ptr<Frontier> frontier_;
  url::Canonicalizer canonicalizer_;

  std::unique_ptr<LoopThread> dispatcher_thread_;
  std::unique_ptr<dns::Resolver> resolver_;
  std::unique_ptr<ContactLog> contact_log_;  // of the dispatcher's thread
  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<std::unique_ptr<CrawlThread>> threads_;

  // What goes from one thread to another.
  std::unique_ptr<Mailbox<VisitPtr>> to_dispatcher_;
  std::unique_ptr<Mailbox<std::pair<size_t, Dispatcher::End>>> ends_;
  std::unique_ptr<Mailbox<FinishedVisit>> finished_;
  std::unique_ptr<Mailbox<ParkedVisit>> parked_;
  std::unique_ptr<Mailbox<HostNote>> notes_;
  std::deque<ParkedVisit> parked_visits_;
  std::deque<HostNote> host_notes_;

  Phase phase_ = Phase::kRunning;
  std::atomic<int> stops_{0};
  std::optional<CrawlEnd> end_;
  bool started_ = false;
  bool worked_ = false;     // the last turn had something to do
  bool is_paused_ = false;  // somebody asked for it
  bool is_behind_ = false;  // the frontier has much to catch up with
  bool held_back_ = false;  // the dispatcher: for these, or for the disk
  bool cancelled_ = false;
  MonoTime drain_until_{};
  MonoTime next_checkpoint_{};
  MonoTime next_sync_{};
  MonoTime next_block_look_{};
  MonoTime next_history_{};
  std::unique_ptr<DiskWatch> disk_;
  uint64_t trials_ = 0;  // of it that were seen
  bool gave_up_ = false;
  bool finish_refused_ = false;  // of an archive
  bool disk_waits_ = false;      // as the log has it
  std::unique_ptr<Checkpoint> checkpoint_;
  std::vector<CheckpointWaiter> checkpoint_waiters_;
  std::optional<MonoTime> checkpoint_time_;
  uint64_t manifest_entry_ = 0;  // of the last manifest
  uint64_t next_manifest_ = 1;
  std::atomic<size_t> in_flight_{0};  // for those who look
  size_t most_in_flight_ = 0;
  uint64_t pages_before_ = 0;
  uint64_t bytes_before_ = 0;
  Status failure_;
};

}  // namespace nephila::crawl
