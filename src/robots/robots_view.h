// RobotsView: the stage `robots` as a commit has it, read and not changed: for
// looking at a job that another process may work on.
//   In: the stage's folder, the bytes of its commit
//   Out: records of sites with their rules, the URLs that wait
//   Threads: one   Memory: a commit of each store, a block, one set of rules
//   Cost: a site is one lookup; ForEach reads all queues and batches once
#pragma once

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
#include "base/frozen_file_system.h"
#include "base/result.h"
#include "disk_queue/set_scan.h"
#include "robots/cache_rule.h"
#include "robots/origin.h"
#include "robots/robots_record.h"
#include "robots/rules_log.h"

namespace nephila::robots {

// What is known of a site.
struct SiteView {
  RobotsRecord record;  // views `bytes`
  std::string bytes;
  // Compiled; empty: none, or none any more (their file was forgotten).
  std::string rules;
};

class RobotsView {
 public:
  enum class Where : uint8_t {
    kDecided,   // a pass has met the record; it goes on with the next step
    kWaiting,   // in Q_R, for the robots.txt of its site
    kParked,    // robots.txt is unreachable: until `due`
    kChecking,  // for a pass
  };
  struct HeldUrl {
    std::string_view record;
    uint64_t budget = 0;
    Where where = Where::kChecking;
    uint64_t ahead = 0;  // records before it in its queue
    WallTime due{};      // of kParked
  };
  // False ends it.
  using Sink = std::function<Result<bool>(const HeldUrl& url)>;

  // What waits in batches for the record of a site.
  struct Pending {
    uint64_t urls = 0;
    bool has_end = false;  // a robots.txt came: the next pass brings it
  };

  // `fs` outlives this. kCorruption if these bytes are no commit.
  static Result<RobotsView> Open(FileSystem& fs, const std::string& dir,
                                 std::string_view commit);

  // nullopt if no pass has met the site yet. `seed`: of the job's keys.
  Result<std::optional<SiteView>> Site(const Origin& origin, uint32_t pld_size,
                                       uint64_t seed) const;
  // Of all origins of the host.
  Result<Pending> PendingOf(const Origin& origin, uint32_t pld_size,
                            uint64_t seed) const;
  uint64_t waiting() const;  // URLs in Q_R
  uint64_t parked() const;
  uint64_t requests() const;  // in Q_D, some of them under way
  // What ForEach reads from disk.
  Result<uint64_t> Bytes() const;

  // Those that are decided, Q_R, what is parked by its time, what waits for a
  // pass.
  Status ForEach(const Sink& sink) const;

 private:
  explicit RobotsView(disk_queue::SetScan queues)
      : queues_(std::move(queues)) {}
  bool ReadState(ByteReader& reader, uint8_t version);
  uint64_t KeyOf(const Origin& origin, uint32_t pld_size, uint64_t seed) const;
  Result<bool> ScanQueue(uint64_t queue, HeldUrl url, const Sink& sink) const;
  Result<bool> Give(std::string_view bytes, HeldUrl* url,
                    const Sink& sink) const;

  FileSystem* fs_ = nullptr;
  std::string dir_;
  bool is_by_origin_ = false;  // a job of an older version
  uint64_t cache_generation_ = 0;
  disk_queue::SetScan queues_;
  // The log cuts files where it is opened: here in a view of them.
  std::unique_ptr<FrozenFileSystem> frozen_;
  std::unique_ptr<RulesLog> log_;
  std::vector<std::string> decided_;
};

}  // namespace nephila::robots
