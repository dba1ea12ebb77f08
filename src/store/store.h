// Store: stage 10 of the path. A finished fetch becomes WARC records, a line of
// the index and a line of crawl.log.
//
// In: item::FetchedPage. Out: where it stands, for the journal. Dropped:
// fetches without a response, which leave a line in crawl.log and nothing else
// (`no-response`). On a full disk (kNoSpace) nothing has happened and the page
// can be given again; any other error is final.
//
// Nothing waits for the disk but the writes themselves: the caller calls Sync
// once a second, notes position() in its checkpoint after that, and calls
// Covered when the checkpoint is durable. OpenAt goes on behind such a
// position: what was written whole after it is kept.
//
// Threads: one. Memory: `store.revisit_memory`, `store.index_memory`, and about
// 3 MiB. Cost: docs/performance.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "item/fetched_page.h"
#include "store/crawl_log.h"
#include "store/recent_digests.h"
#include "store/unit_maker.h"
#include "store/warc_writer.h"

namespace nephila::store {

enum class StoreDrop : uint8_t { kNoResponse };
inline constexpr std::array<std::string_view, 1> kStoreDropReasons = {
    "no-response"};

struct StoreOptions {
  config::StoreSettings settings;
  std::string folder;  // of the archives
  // As those of WarcWriterOptions.
  std::vector<std::string> other_folders = {};
  std::vector<std::string> old_folders = {};
  uint64_t floor_bytes = 0;
  uint64_t margin_bytes = 0;
  std::string log_path;  // of crawl.log
  uint64_t seed = 0;     // of record ids: another one in every run
  uint32_t stream = 0;   // the number of this one among several
  // What warcinfo says: software, agent, operator, robots policy, settings.
  std::vector<std::pair<std::string, std::string>> info;
  // The end of the last unit that anybody knows of: what stands behind it is
  // cut, and so are its lines in the log. Nothing: all that is whole is kept.
  std::optional<Position> keep = std::nullopt;
  // Called before a file is finished (warc_writer.h); may be null.
  std::function<Status()> before_finish = nullptr;
};

// What a checkpoint notes.
struct StorePosition {
  auto operator<=>(const StorePosition&) const = default;
  Position archive;
  uint64_t log_bytes = 0;
  std::string folder = {};  // of the archive file
};

// What became of a fetch.
struct Stored {
  // Nothing if there was no response to archive.
  std::optional<UnitPlace> place;
  std::string record_id;  // of the response or revisit: "urn:uuid:..."
  Digest payload_digest;
  uint64_t payload_bytes = 0;
  bool revisit = false;
  // Of a revisit: the record that has its payload, if it is in this archive.
  std::optional<Original> original;
};

class Store {
 public:
  // kInvalidArgument for settings that no archive can have. `fs` and `clock`
  // outlive this.
  static Result<std::unique_ptr<Store>> OpenAt(
      FileSystem& fs, const Clock& clock, StoreOptions options,
      std::optional<StorePosition> checkpoint);

  Result<Stored> Write(const item::FetchedPage& page);
  // Makes all that was written durable, and finishes a file that is due.
  Status Sync();
  // Finishes the open file, for the end of a crawl.
  Status Finish();

  // After Sync, what a checkpoint may note.
  StorePosition position() const {
    return {writer_->position(), log_->size(), writer_->folder()};
  }
  // A checkpoint that notes `position` is durable.
  void Covered(const StorePosition& position);

  // What is left free in a folder of the archive, from now on.
  void SetFloor(uint64_t floor_bytes, uint64_t margin_bytes) {
    writer_->SetFloor(floor_bytes, margin_bytes);
  }

  const StageAccount& account() const { return account_; }
  uint64_t revisits() const { return revisits_; }
  uint64_t archive_bytes() const { return writer_->bytes_written(); }

 private:
  Store(const Clock& clock, StoreOptions options,
        std::unique_ptr<WarcWriter> writer, std::unique_ptr<CrawlLog> log);

  Result<Stored> Archive(const item::FetchedPage& page);
  std::optional<Original> FindOriginal(const item::FetchedPage& page,
                                       const UnitMaker::Payload& payload) const;
  void Log(const item::FetchedPage& page, const Stored& stored);

  const Clock& clock_;
  const StoreOptions options_;
  std::unique_ptr<WarcWriter> writer_;
  std::unique_ptr<CrawlLog> log_;
  UnitMaker maker_;
  RecentDigests recent_;
  StageAccount account_{"store", kStoreDropReasons};
  uint64_t revisits_ = 0;
};

// Settings that are not at their defaults, as fields for warcinfo:
// ("setting", "url.www = add").
std::vector<std::pair<std::string, std::string>> SettingsInfo(
    const config::Settings& settings);

}  // namespace nephila::store
