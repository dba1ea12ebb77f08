#include "caps/caps.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "item/hand_on.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "url/record_keys.h"

namespace nephila::caps {
namespace {

using item::Admission;

constexpr std::string_view kStage = "caps";
// A site is no host, though it may have the name of one.
constexpr uint64_t kSiteSalt = 0x9E6C63D0876A9A47;
// Of URLs that no Drum has to judge.
constexpr size_t kMostWaiting = 1000;
// Of a Drum that nothing goes to, and of any.
constexpr uint64_t kLeastBytes = uint64_t{64} << 10;

std::string HostsDir(const std::string& dir) { return dir + "/hosts"; }
std::string DomainsDir(const std::string& dir) { return dir + "/domains"; }

Unexpected<Error> NoRecord(std::string_view why) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            "caps: bytes that are no URL's record: " + std::string(why)});
}

void WriteRecords(const std::deque<std::string>& records, ByteWriter& writer) {
  writer.Varint(records.size());
  for (const std::string& record : records) writer.Sized(record);
}

bool ReadRecords(ByteReader& reader, std::deque<std::string>& records) {
  const auto count = reader.Varint();
  if (!count.has_value()) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto record = reader.Sized();
    if (!record.has_value()) return false;
    records.emplace_back(*record);
  }
  return true;
}

}  // namespace

Result<SiteCaps> ParseSiteCaps(const std::vector<std::string>& items) {
  constexpr std::string_view kExample =
      "a host and a number of pages, such as example.org=100";
  SiteCaps caps;
  for (const std::string& item : items) {
    NEPHILA_TRY(auto site,
                item::SplitSiteItem("scope.site_caps", item, kExample));
    uint64_t most = 0;
    const char* const end = site.second.data() + site.second.size();
    const auto read = std::from_chars(site.second.data(), end, most);
    if (read.ec != std::errc() || read.ptr != end || site.second.empty()) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "scope.site_caps: '" + EscapeForTerminal(item) +
                                  "' is not " + std::string(kExample)});
    }
    caps.Set(std::move(site.first), most);
  }
  return caps;
}

// Notes what is let through; the Drums are not called from here.
class Caps::VerdictReceiver final : public drum::Receiver {
 public:
  VerdictReceiver(StageAccount& account, std::deque<std::string>& through)
      : account_(account), through_(through) {}

  void Receive(std::span<const drum::TupleResult> results) override {
    for (const drum::TupleResult& result : results) {
      const auto verdict = ReadVerdict(result.value);
      NEPHILA_CHECK(verdict.has_value());
      if (*verdict == Verdict::kThrough) {
        through_.emplace_back(result.aux);
        continue;
      }
      account_.Drop(static_cast<size_t>(*verdict) - 1);
      account_.Hold(-1);
    }
  }

 private:
  StageAccount& account_;
  std::deque<std::string>& through_;
};

bool Caps::AreSet(const config::ScopeSettings& settings) {
  return settings.max_pages_per_host > 0 || settings.max_pages_per_domain > 0 ||
         settings.max_hosts_per_domain > 0 || !settings.site_caps.empty();
}

Caps::Caps(CapsOptions options, SiteCaps sites)
    : options_(std::move(options)),
      sites_(std::move(sites)),
      has_hosts_(options_.settings.max_pages_per_host > 0 || !sites_.empty()),
      has_domains_(options_.settings.max_pages_per_domain > 0 ||
                   options_.settings.max_hosts_per_domain > 0) {}

Result<std::unique_ptr<Caps>> Caps::Make(CapsOptions options) {
  NEPHILA_TRY(SiteCaps sites, ParseSiteCaps(options.settings.site_caps));
  return std::unique_ptr<Caps>(new Caps(std::move(options), std::move(sites)));
}

drum::DrumOptions Caps::HostsOptions() const {
  drum::DrumOptions options;
  options.value = {drum::ValueKind::kVariable, 0};
  options.rule = MakeHostRule();
  options.only = drum::Operation::kCheckUpdate;
  const uint64_t share = has_domains_ ? 2 : 1;
  options.memory_bytes =
      has_hosts_ ? std::max(options_.memory_bytes / share, kLeastBytes)
                 : kLeastBytes;
  options.disk_bytes = options_.disk_bytes / share;
  return options;
}

drum::DrumOptions Caps::DomainsOptions() const {
  drum::DrumOptions options;
  options.value = {drum::ValueKind::kVariable, 0};
  options.rule = MakeDomainRule(
      static_cast<uint64_t>(options_.settings.max_pages_per_domain),
      static_cast<uint64_t>(options_.settings.max_hosts_per_domain));
  options.only = drum::Operation::kCheckUpdate;
  const uint64_t share = has_hosts_ ? 2 : 1;
  options.memory_bytes =
      has_domains_ ? std::max(options_.memory_bytes / share, kLeastBytes)
                   : kLeastBytes;
  options.disk_bytes = options_.disk_bytes / share;
  return options;
}

Result<std::unique_ptr<Caps>> Caps::Create(const drum::DrumContext& context,
                                           const std::string& dir,
                                           CapsOptions options) {
  NEPHILA_TRY(auto caps, Make(std::move(options)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context.fs, HostsDir(dir)));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(context.fs, DomainsDir(dir)));
  NEPHILA_TRY(caps->hosts_,
              drum::Drum::Create(context, HostsDir(dir), caps->HostsOptions()));
  NEPHILA_TRY(caps->domains_, drum::Drum::Create(context, DomainsDir(dir),
                                                 caps->DomainsOptions()));
  return caps;
}

Result<std::unique_ptr<Caps>> Caps::Open(const drum::DrumContext& context,
                                         const std::string& dir,
                                         CapsOptions options,
                                         std::string_view commit) {
  NEPHILA_TRY(auto caps, Make(std::move(options)));
  ByteReader reader(commit);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStage));
  const auto hosts = reader.Varint();
  const auto domains = reader.Varint();
  if (!hosts.has_value() || !domains.has_value() || !caps->Restore(reader)) {
    return item::DamagedCommit(kStage);
  }
  NEPHILA_TRY(caps->hosts_, drum::Drum::Open(context, HostsDir(dir),
                                             caps->HostsOptions(), *hosts));
  NEPHILA_TRY(caps->domains_,
              drum::Drum::Open(context, DomainsDir(dir), caps->DomainsOptions(),
                               *domains));
  return caps;
}

bool Caps::Restore(ByteReader& reader) {
  return item::RestoreTotals(reader, account_) &&
         ReadRecords(reader, to_domains_) && ReadRecords(reader, waiting_) &&
         reader.AtEnd();
}

std::optional<HostCap> HostCapOf(const item::UrlRecord& record,
                                 const config::ScopeSettings& settings,
                                 const SiteCaps& sites, uint64_t seed) {
  const url::Keys keys = url::KeysOf(record, seed);
  if (const auto site = sites.Find(record.host())) {
    // In the shard of its domain, as its hosts are.
    const uint64_t hash = KeyedHash(site->name, seed ^ kSiteSalt);
    return HostCap{(hash & ~url::kShardMask) | keys.pld.shard(), site->value};
  }
  if (settings.max_pages_per_host <= 0) return std::nullopt;
  return HostCap{keys.host.value,
                 static_cast<uint64_t>(settings.max_pages_per_host)};
}

Result<Admission> Caps::Add(std::string_view record) {
  const auto read = item::ReadUrl(record);
  if (!read.has_value()) return NoRecord(read.error());
  // One that is tried again was let through before, and counted then.
  const bool is_again = read->attempts > 0;
  const auto cap =
      is_again ? std::nullopt
               : HostCapOf(*read, options_.settings, sites_, options_.seed);
  Admission admission = Admission::kTaken;
  if (cap) {
    const std::string value =
        HostValue(cap->most, (read->flags & item::kFromSeed) != 0);
    drum::Tuple tuple;
    tuple.key = cap->key;
    tuple.value = value;
    tuple.aux = record;
    NEPHILA_TRY(admission, drum::AddTo(*hosts_, tuple));
  } else if (has_domains_ && !is_again) {
    NEPHILA_TRY(admission, AddToDomains(record));
  } else if (waiting_.size() < kMostWaiting) {
    waiting_.emplace_back(record);
  } else {
    admission = Admission::kFull;
  }
  if (admission == Admission::kFull) return admission;
  account_.In();
  account_.Hold(1);
  return admission;
}

Result<Admission> Caps::AddToDomains(std::string_view record) {
  const auto read = item::ReadUrl(record);
  if (!read.has_value()) return NoRecord(read.error());
  const url::Keys keys = url::KeysOf(*read, options_.seed);
  const std::string value =
      DomainValue(keys.host, (read->flags & item::kFromSeed) != 0);
  drum::Tuple tuple;
  tuple.key = keys.pld.value;
  tuple.value = value;
  tuple.aux = record;
  return drum::AddTo(*domains_, tuple);
}

Result<size_t> Caps::MoveToDomains() {
  size_t moved = 0;
  while (!to_domains_.empty()) {
    NEPHILA_TRY(const Admission admission, AddToDomains(to_domains_.front()));
    if (admission == Admission::kFull) break;
    to_domains_.pop_front();
    ++moved;
  }
  return moved;
}

Result<size_t> Caps::Deliver(drum::Drum& drum, std::deque<std::string>& through,
                             size_t max_urls) {
  VerdictReceiver receiver(account_, through);
  return drum.Deliver(receiver, max_urls);
}

Result<size_t> Caps::Step(const item::RecordSink& sink, size_t max_urls) {
  NEPHILA_TRY(size_t done, item::HandOn(&waiting_, sink, max_urls, &account_));
  if (waiting_.empty() && done < max_urls) {
    if (has_domains_) {
      NEPHILA_TRY(const size_t moved, MoveToDomains());
      NEPHILA_TRY(const size_t judged,
                  Deliver(*domains_, waiting_, max_urls - done));
      done += moved + judged;
    }
    if (has_hosts_ && to_domains_.empty() && waiting_.empty()) {
      NEPHILA_TRY(
          const size_t judged,
          Deliver(*hosts_, has_domains_ ? to_domains_ : waiting_, max_urls));
      done += judged;
    }
    NEPHILA_TRY(const size_t more,
                item::HandOn(&waiting_, sink, max_urls, &account_));
    done += more;
  }
  return done;
}

Result<bool> Caps::RunDry() {
  if (!waiting_.empty() || !to_domains_.empty()) return true;
  NEPHILA_TRY(const bool of_hosts, hosts_->FlushIfCheap());
  NEPHILA_TRY(const bool of_domains, domains_->FlushIfCheap());
  return of_hosts || of_domains;
}

Status Caps::Flush() {
  NEPHILA_RETURN_IF_ERROR(hosts_->Flush());
  return domains_->Flush();
}

Status Caps::BeginFresh() {
  fresh_ = Fresh::kHosts;
  return fresh_hosts_.Begin(*hosts_);
}

Result<bool> Caps::IsFresh() {
  if (fresh_ == Fresh::kHosts) {
    if (!fresh_hosts_.IsOver(*hosts_) || !to_domains_.empty()) return false;
    NEPHILA_RETURN_IF_ERROR(fresh_domains_.Begin(*domains_));
    fresh_ = Fresh::kDomains;
  }
  return waiting_.empty() && fresh_domains_.IsOver(*domains_);
}

Status Caps::Wait() {
  NEPHILA_RETURN_IF_ERROR(hosts_->Wait());
  return domains_->Wait();
}

Result<std::string> Caps::BeginCommit() {
  // After kNoSpace from the second the first is not asked again.
  if (!begun_hosts_) {
    NEPHILA_TRY(begun_hosts_, hosts_->BeginCommit());
  }
  NEPHILA_TRY(const uint64_t domains, domains_->BeginCommit());
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kCommitVersion);
  writer.Varint(*std::exchange(begun_hosts_, std::nullopt));
  writer.Varint(domains);
  item::WriteTotals(account_.Totals(), writer);
  WriteRecords(to_domains_, writer);
  WriteRecords(waiting_, writer);
  return bytes;
}

Status Caps::FinishCommit() {
  if (!hosts_finished_) {
    NEPHILA_RETURN_IF_ERROR(hosts_->FinishCommit());
    hosts_finished_ = true;
  }
  NEPHILA_RETURN_IF_ERROR(domains_->FinishCommit());
  hosts_finished_ = false;
  return {};
}

CapsStats Caps::stats() const {
  CapsStats stats;
  stats.waiting = to_domains_.size() + waiting_.size();
  stats.hosts = hosts_->stats();
  stats.domains = domains_->stats();
  return stats;
}

}  // namespace nephila::caps
