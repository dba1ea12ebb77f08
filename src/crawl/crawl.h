// Crawl: the path of a URL, wired. A job's folder, the frontier, the dispatcher
// and the downloaders, each on its thread, or all stepped by one.
//
//   In: seeds, a job's folder   Out: an archive, and counters
//   Threads: Open, AddSeed and Run by one, which becomes the frontier's; Stop
//   by any, a signal handler too; one thread for the dispatcher and one for
//   each downloader (`crawl.threads`), and those that merge Memory:
//   `crawl.memory`
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
#include "base/result.h"
#include "base/workers.h"
#include "config/profile.h"
#include "config/settings.h"
#include "crawl/archive_folders.h"
#include "crawl/archived_page.h"
#include "crawl/crawl_status.h"
#include "crawl/disk_watch.h"
#include "crawl/dispatcher.h"
#include "crawl/downloader.h"
#include "crawl/frontier.h"
#include "crawl/guarded_reader.h"
#include "crawl/loop_thread.h"
#include "crawl/mailbox.h"
#include "crawl/web.h"
#include "job/job_folder.h"
#include "job/journal.h"
#include "job/manifest.h"
#include "job/quarantine.h"
#include "net/event_loop.h"
#include "store/store.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

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
    // A page that nobody reads any more, from now on.
    std::function<void(std::string_view url)> on_quarantine = nullptr;
    // For tests: before a page is read, on the thread that does.
    std::function<void(std::string_view url)> on_read = nullptr;
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

  // Until the end; `progress` is called about ten times a second.
  Result<CrawlEnd> Run(const std::function<void(const CrawlStatus&)>& progress);
  // One round; waits for something to do, at most to `deadline`. Nothing while
  // it goes on, then why it ended: all is on disk.
  Result<std::optional<CrawlEnd>> Turn(MonoTime deadline);
  // Ends it: no new requests, what is in flight may end within some seconds.
  // The second time nothing is waited for.
  void Stop() { stops_.fetch_add(1); }

  CrawlStatus status() const;
  const Frontier& frontier() const { return *frontier_; }

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
  // A checkpoint that waits for the word of other threads, or for room on disk:
  // each step is then done again.
  struct Checkpoint {
    enum class Step : uint8_t { kNoting, kCollecting, kEnding };
    Step step = Step::kNoting;
    job::Manifest manifest;
    uint64_t entry = 0;
    size_t missing = 0;
    bool archives_failed = false;
    std::string waits;
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
  Status MakeDispatcher(const job::Manifest* manifest);
  Status MakeDownloader(size_t number,
                        const std::vector<store::StorePosition>& positions,
                        std::optional<store::Position> known_end);
  Status Replay(uint64_t from);
  Status HoldWaits(const job::Entry& entry);
  Status ReadArchived(const job::Entry& entry, ArchivedPage* archived,
                      GuardedReader* reader, FinishedVisit* visit);
  bool IsOf(std::string_view url, std::string_view record);
  Status TakeArrived();
  Status CheckpointNow();
  Result<std::vector<std::optional<store::Position>>> KnownEnds(uint64_t from);
  void StartThreads();
  uint64_t PagesLeft() const;
  void HoldBack();

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

  const Parts parts_;
  std::unique_ptr<net::EventLoop> loop_;  // the frontier's
  std::unique_ptr<Workers> workers_;
  ArchiveFolders folders_;
  std::unique_ptr<job::Journal> journal_;
  std::unique_ptr<job::ManifestFolder> manifests_;
  std::unique_ptr<job::Quarantine> quarantine_;
  std::unique_ptr<Frontier> frontier_;
  url::Canonicalizer canonicalizer_;

  std::unique_ptr<LoopThread> dispatcher_thread_;
  std::unique_ptr<dns::Resolver> resolver_;
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
  bool is_behind_ = false;  // the frontier has much to catch up with
  bool held_back_ = false;  // the dispatcher: for that, or for the disk
  bool cancelled_ = false;
  MonoTime began_;
  MonoTime drain_until_{};
  MonoTime next_checkpoint_{};
  MonoTime next_sync_{};
  std::unique_ptr<DiskWatch> disk_;
  uint64_t trials_ = 0;  // of it that were seen
  bool gave_up_ = false;
  bool finish_refused_ = false;  // of an archive
  std::unique_ptr<Checkpoint> checkpoint_;
  uint64_t manifest_entry_ = 0;  // of the last manifest
  uint64_t next_manifest_ = 1;
  std::atomic<size_t> in_flight_{0};  // for those who look
  uint64_t pages_before_ = 0;
  Status failure_;
};

}  // namespace nephila::crawl
