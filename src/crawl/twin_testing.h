// Twin: a whole crawl in one thread, of a web from a number, on a disk and a
// clock that the test owns; and what must hold at its end, whatever happened
// to the process, the machine and the disk meanwhile. For tests only.
//
//   In: a TwinPlan; crashes and faults   Out: failures of the test
//   Threads: one.   Cost: some milliseconds a crawl.
//
// All that happens follows from the plan and from what the test does: the same
// number gives the same operations of the disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/crash_testing.h"
#include "base/memory_file_system.h"
#include "base/result.h"
#include "crawl/crawl.h"
#include "crawl/twin_plan.h"
#include "job/job_folder.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

class FakeWebOfTwin final : public Web {
 public:
  explicit FakeWebOfTwin(FakeWeb& web) : web_(web) {}
  Result<std::unique_ptr<dns::Resolver>> MakeResolver(
      net::EventLoop& loop) override {
    return std::unique_ptr<dns::Resolver>(
        std::make_unique<FakeResolver>(web_, loop));
  }
  Result<std::unique_ptr<fetch::Fetcher>> MakeFetcher(
      net::EventLoop& loop) override {
    return std::unique_ptr<fetch::Fetcher>(
        std::make_unique<FakeFetcher>(web_, loop));
  }
  const fetch::FetchLimits& limits() const override { return limits_; }

 private:
  FakeWeb& web_;
  const fetch::FetchLimits limits_;
};

class Twin {
 public:
  explicit Twin(const TwinPlan& plan);

  // The clock advances by no more than this in a turn, however quiet it is: for
  // tests of how long something takes.
  void SetLongestStep(std::chrono::milliseconds step) { longest_step_ = step; }

  // Takes the place of a twin of an earlier test process: the clock reads
  // `now`, and the web has answered `log`. The next call is Crash, with the
  // file system that the earlier twin left. REQUIRES: called first.
  void Continue(MonoTime now, const std::vector<FakeContact>& log);
  // Opens the job, or makes it, and gives it the seeds: they may not have been
  // durable.
  Status Open(FileSystem& fs);
  // The process leaves; what it had not done is not done.
  void Close();
  // Turns until the crawl ends, or so many are over.
  Result<std::optional<CrawlEnd>> Turns(uint64_t turns);
  // Closes what is open, and this happens to it; the machine is down for a
  // while.
  void Crash(nephila::Crash crash, MemoryFileSystem& fs, uint64_t seed,
             std::chrono::nanoseconds down = std::chrono::nanoseconds(0));
  // Opens the job and runs it; the test fails if that does not end well.
  void Finish(FileSystem& fs);

  // All promises; REQUIRES: it has finished, and is closed. The test fails for
  // each that is broken.
  void ExpectAll(FileSystem& fs);

  // Requests of what is asked for as often by any crawl.
  size_t CountedRequests() const;

  Crawl& crawl() { return *crawl_; }
  bool is_open() const { return crawl_ != nullptr; }
  FakeWeb& web() { return web_; }
  ManualClock& clock() { return clock_; }
  TwinPlan& plan() { return plan_; }
  const CrawlStatus& last_status() const { return status_; }

  // The disk is slow, or the wall clock was set: what follows for the check.
  void SlowDisk() { sync_takes_ = std::chrono::seconds(3); }
  void StepWall(std::chrono::nanoseconds delta);
  // So many requests more than an undisturbed crawl makes.
  void AllowRequests(size_t count) { allowed_ += count; }

 private:
  // When a process or a machine was gone.
  struct Gone {
    MonoTime when{};  // of the log of the web
    bool power = false;
    std::chrono::nanoseconds unsure{0};  // what ended so long before is known
  };
  struct Archived;

  void ExpectMemory() const;
  MonoTime LogNow() const { return clock_.Now() + ahead_; }
  void ExpectArchive(FileSystem& fs);
  void ExpectRecord(Archived* archived, const std::string& url,
                    const std::string& head);
  void ExpectPages(const Archived& archived) const;
  static void ExpectLog(FileSystem& fs, const Archived& archived);
  void ExpectAccounts(const Archived& archived) const;
  void ExpectPolite() const;
  void ExpectFewRequests() const;
  std::string Story() const;
  bool Binds(const FakeContact& asked, MonoTime later) const;

  TwinPlan plan_;
  FakeWeb web_;
  FakeWebOfTwin web_of_crawl_{web_};
  ManualClock clock_;
  std::unique_ptr<job::JobFolder> folder_;
  std::unique_ptr<Crawl> crawl_;
  CrawlStatus status_;
  uint64_t runs_ = 0;

  std::chrono::nanoseconds ahead_{0};  // of the log's clock
  std::chrono::nanoseconds sync_takes_{0};
  bool wall_stepped_ = false;
  std::vector<Gone> gone_;
  bool opened_ = false;  // since the last of them
  size_t allowed_ = 0;
  // How long nothing has happened.
  uint64_t quiet_ = 0;
  std::chrono::milliseconds longest_step_ = std::chrono::hours(1);
  size_t events_ = 0;
};

// How many requests a crawl of the plan makes that nothing happens to. The
// test fails if that one breaks a promise.
size_t UndisturbedRequests(const TwinPlan& plan);

// From which seed to which, exclusive: these, or those that the environment
// asks for, NEPHILA_TWIN_SEED=12 or NEPHILA_TWIN_SEED=1000-1999.
std::pair<uint64_t, uint64_t> TwinSeeds(uint64_t begin, uint64_t end);

}  // namespace nephila::crawl
