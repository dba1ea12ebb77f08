// Caps: the stage `caps`, between `seen` and `budget`: at most so many URLs of
// a host, of a site, of a pay-level domain, and so many hosts of a domain. It
// is made only for a crawl that has such a limit (`scope.max_pages_per_host`
// and the others, all fixed when a job is made).
//   In: new URLs, as encoded UrlRecords   Out: those within the limits
//   Drop: host-full, domain-full, too-many-hosts
//   Disk: a Drum of hosts (folder/hosts) and one of domains (folder/domains);
//         what waits between and behind them is in the commit's bytes
//   Threads: one; the work is done by the Workers of the context
//   Cost: that of a Drum for each kind of limit; memory is fixed
//
// Exact: what counts is what is let through, in the order in which it came.
// Hosts are asked before domains: a URL that its host lets through and its
// domain does not has used up a place of the host, but of a host that gets no
// other either, since a domain that is full stays full and one that has its
// hosts takes no other. Only a site with a cap of its own, over several hosts,
// can so have less than it might, if `max_hosts_per_domain` holds for it too.
//
// Seeds count and are never refused; robots.txt does not come here. A URL that
// is tried again, since it has failed, was let through before: it is handed on
// and counts nowhere.
//
// Steps, none of which waits, and commits: as of `seen` (seen/seen.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/metrics.h"
#include "base/result.h"
#include "caps/cap_rules.h"
#include "config/settings.h"
#include "drum/drum.h"
#include "drum/stage_access.h"
#include "item/admission.h"
#include "item/site_table.h"
#include "item/url_record.h"

namespace nephila::caps {

enum class DropReason : uint8_t { kHostFull, kDomainFull, kTooManyHosts };
inline constexpr std::array<std::string_view, 3> kDropReasonNames = {
    "host-full", "domain-full", "too-many-hosts"};

struct CapsOptions {
  config::ScopeSettings settings;
  uint64_t seed = 0;  // of the job's keys
  uint64_t memory_bytes = uint64_t{64} << 20;
  uint64_t disk_bytes = uint64_t{1} << 30;
};

struct CapsStats {
  uint64_t waiting = 0;  // between the Drums, or let through and not taken yet
  drum::DrumStats hosts;
  drum::DrumStats domains;
};

using SiteCaps = item::SiteTable<uint64_t>;
// Items are "example.org=100"; an error names the setting.
Result<SiteCaps> ParseSiteCaps(const std::vector<std::string>& items);

// The count that a URL is under: of its host, or of a site with a cap of its
// own; its key, and how many URLs it may have.
struct HostCap {
  uint64_t key = 0;
  uint64_t most = 0;
};
// Nothing if it has no such limit.
std::optional<HostCap> HostCapOf(const item::UrlRecord& record,
                                 const config::ScopeSettings& settings,
                                 const SiteCaps& sites, uint64_t seed);

// Of the stage's commit.
inline constexpr uint8_t kCommitVersion = 1;

class Caps {
 public:
  // Whether the settings have a limit, so that there is one to be made.
  static bool AreSet(const config::ScopeSettings& settings);

  // `dir` is an empty directory.
  static Result<std::unique_ptr<Caps>> Create(const drum::DrumContext& context,
                                              const std::string& dir,
                                              CapsOptions options);
  // The state that `commit` names; kNotFound if it is gone, kCorruption if
  // these bytes are no commit.
  static Result<std::unique_ptr<Caps>> Open(const drum::DrumContext& context,
                                            const std::string& dir,
                                            CapsOptions options,
                                            std::string_view commit);
  Caps(const Caps&) = delete;
  Caps& operator=(const Caps&) = delete;

  // kFull until steps and commits make room. kInvalidArgument for bytes that
  // are no record.
  Result<item::Admission> Add(std::string_view record);
  // Hands on up to `max_urls` URLs while `sink` takes them. Returns how many it
  // was done with, or moved on; 0: nothing is ready, or nothing was taken.
  Result<size_t> Step(const item::RecordSink& sink, size_t max_urls);
  // The stage behind has run dry. Returns whether something will come.
  Result<bool> RunDry();
  // All that was added until now will come, once it was handed on by Steps.
  Status Flush();
  // What was added until now is to come soon, while passes are cheap; whether
  // it has, and was taken, with steps between two calls.
  Status BeginFresh();
  Result<bool> IsFresh();
  // With workers that have threads: until something is ready, or nothing will.
  Status Wait();
  // Nothing is held.
  bool IsEmpty() const { return account_.Totals().held == 0; }

  // In two steps, as of a Drum: the bytes are good once Finish has returned.
  // kNoSpace from either: the same call again once there is room.
  Result<std::string> BeginCommit();
  Status FinishCommit();

  const StageAccount& account() const { return account_; }
  CapsStats stats() const;

 private:
  class VerdictReceiver;
  enum class Fresh : uint8_t { kNone, kHosts, kDomains };

  Caps(CapsOptions options, SiteCaps sites);

  static Result<std::unique_ptr<Caps>> Make(CapsOptions options);
  drum::DrumOptions HostsOptions() const;
  drum::DrumOptions DomainsOptions() const;
  bool Restore(ByteReader& reader);
  Result<item::Admission> AddToDomains(std::string_view record);
  Result<size_t> MoveToDomains();
  Result<size_t> Deliver(drum::Drum& drum, std::deque<std::string>& through,
                         size_t max_urls);

  const CapsOptions options_;
  const SiteCaps sites_;
  const bool has_hosts_;    // limits of hosts or sites
  const bool has_domains_;  // limits of domains
  std::unique_ptr<drum::Drum> hosts_;
  std::unique_ptr<drum::Drum> domains_;
  drum::FreshPass fresh_hosts_;
  drum::FreshPass fresh_domains_;
  Fresh fresh_ = Fresh::kNone;
  std::deque<std::string> to_domains_;
  std::deque<std::string> waiting_;  // let through, and not taken yet
  // Of a commit that is being begun or finished: what is done of it.
  std::optional<uint64_t> begun_hosts_;
  bool hosts_finished_ = false;
  StageAccount account_{"caps", kDropReasonNames};
};

}  // namespace nephila::caps
