// MakeDrumStore of stores.h: URLseen as a crawl would run it. Results are taken
// while links come in, and there is a commit every few seconds.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/real_file_system.h"
#include "base/workers.h"
#include "bench/cached_file_system.h"
#include "bench/preload.h"
#include "bench/process.h"
#include "bench/stores.h"
#include "drum/drum.h"

namespace nephila::bench {
namespace {

using drum::Drum;

constexpr uint64_t kLinksPerTurn = 1024;
// More than come in, so that a pass ends before the next batch is full.
constexpr size_t kResultsPerTurn = 2048;
constexpr std::chrono::seconds kCommitEvery{5};
constexpr std::chrono::seconds kCommitWhenBusy{1};
constexpr uint64_t kKeysPerQuestion = uint64_t{1} << 20;

std::unique_ptr<FileSystem> MakeFileSystem(bool page_cache) {
  auto fs = MakeRealFileSystem();
  if (!page_cache) return fs;
  return std::make_unique<CachedFileSystem>(std::move(fs));
}

class DrumStore final : public LinkStore, private drum::Receiver {
 public:
  explicit DrumStore(const StoreOptions& options)
      : options_(options),
        fs_(MakeFileSystem(options.page_cache)),
        workers_(options.threads) {}

  Status Open() {
    drum::DrumOptions options;
    options.only = drum::Operation::kCheckUpdate;
    options.key_of_aux = [seed = options_.hash_seed](std::string_view text) {
      return KeyedHash(text, seed);
    };
    options.memory_bytes = options_.memory_bytes;
    options.disk_bytes = options_.disk_bytes;
    options.unique_only = true;
    options.codec = options_.codec;
    NEPHILA_TRY(drum_,
                Drum::Create({*fs_, clock_, workers_},
                             options_.directory + "/seen", std::move(options)));
    last_commit_ = clock_.Now();
    cached_at_open_ = static_cast<double>(PageCacheBytes());
    return {};
  }

  Status Preload(uint64_t count) override {
    PreloadKeys keys(count);
    uint64_t made = 0;
    bool stopped = false;
    NEPHILA_RETURN_IF_ERROR(
        drum_->Load([&](uint64_t& key, std::string& /*value*/) {
          if (made == count) return false;
          if (made % kKeysPerQuestion == 0 && !options_.keep_loading(made)) {
            stopped = true;
            return false;
          }
          key = keys.Next();
          ++made;
          return true;
        }));
    if (stopped) return Unexpected(Error{ErrorCode::kStopped, "stopped"});
    return Commit();
  }

  Status Add(uint64_t key, std::string_view text) override {
    while (true) {
      Status status =
          drum_->Add({drum::Operation::kCheckUpdate, key, {}, text});
      if (status) break;
      if (status.error().code != ErrorCode::kBusy) return status;
      NEPHILA_RETURN_IF_ERROR(MakeRoom());
    }
    if (++links_ % kLinksPerTurn != 0) return {};
    if (drum_->PassIsOn()) {
      NEPHILA_TRY(const size_t taken, drum_->Deliver(*this, kResultsPerTurn));
      static_cast<void>(taken);
    }
    if (clock_.Now() - last_commit_ < kCommitEvery) return {};
    return Commit();
  }

  Status Finish() override {
    NEPHILA_RETURN_IF_ERROR(drum_->Drain(*this));
    return Commit();
  }

  StoreReport report() override {
    const drum::DrumStats stats = drum_->stats();
    StoreReport report;
    report.passes = stats.passes;
    report.bytes_read = stats.bytes_read;
    report.bytes_written = stats.bytes_written;
    report.log_bytes = stats.aux_log_bytes;
    report.keys = stats.records + stats.memory_records;
    report.bytes_of_keys = stats.run_bytes + 8 * stats.memory_records;
    report.extra = {
        {"runs", static_cast<double>(stats.runs)},
        {"log_ratio", stats.aux_log_bytes == 0
                          ? 0
                          : static_cast<double>(stats.aux_bytes) /
                                static_cast<double>(stats.aux_log_bytes)},
        {"small_passes", static_cast<double>(stats.small_passes)},
        // Of the whole machine: what the store leaves in the page cache.
        {"page_cache_bytes",
         static_cast<double>(PageCacheBytes()) - cached_at_open_},
        {"commits", static_cast<double>(commits_)},
        {"waits", static_cast<double>(waits_)},
    };
    return report;
  }

 private:
  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      options_.sink->Take(KeyedHash(result.aux, options_.hash_seed),
                          result.aux);
    }
  }

  // The disk is used up: take results, or, if there are none, free old files
  // by commits.
  Status MakeRoom() {
    ++waits_;
    if (!drum_->PassIsOn()) return Commit();
    if (clock_.Now() - last_commit_ > kCommitWhenBusy) {
      NEPHILA_RETURN_IF_ERROR(Commit());
    }
    NEPHILA_TRY(const size_t taken, drum_->Deliver(*this, 64 * kLinksPerTurn));
    return taken == 0 ? drum_->Wait() : Status();
  }

  Status Commit() {
    NEPHILA_TRY(const uint64_t generation, drum_->Commit());
    static_cast<void>(generation);
    ++commits_;
    last_commit_ = clock_.Now();
    return {};
  }

  const StoreOptions options_;
  const std::unique_ptr<FileSystem> fs_;
  const RealClock clock_;
  Workers workers_;
  std::unique_ptr<Drum> drum_;
  uint64_t links_ = 0;
  uint64_t commits_ = 0;
  uint64_t waits_ = 0;
  double cached_at_open_ = 0;
  MonoTime last_commit_{};
};

}  // namespace

Result<StorePtr> MakeDrumStore(const StoreOptions& options) {
  auto store = std::make_unique<DrumStore>(options);
  NEPHILA_RETURN_IF_ERROR(store->Open());
  return StorePtr(std::move(store));
}

}  // namespace nephila::bench
