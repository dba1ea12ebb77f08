#include "caps/caps_view.h"

#include <utility>

#include "base/bytes.h"
#include "base/metrics.h"
#include "drum/drum.h"
#include "drum/waiting_scan.h"
#include "item/saved_totals.h"
#include "item/stage_commit.h"
#include "url/record_keys.h"

namespace nephila::caps {
namespace {

constexpr std::string_view kStage = "caps";

bool ReadRecords(ByteReader& reader, std::vector<std::string>* records) {
  const auto count = reader.Varint();
  if (!count.has_value()) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto record = reader.Sized();
    if (!record.has_value()) return false;
    records->emplace_back(*record);
  }
  return true;
}

}  // namespace

Result<CapsView> CapsView::Open(FileSystem& fs, const std::string& dir,
                                const config::ScopeSettings& settings,
                                uint64_t seed, std::string_view commit) {
  CapsView view;
  view.fs_ = &fs;
  view.settings_ = settings;
  NEPHILA_TRY(view.sites_, ParseSiteCaps(settings.site_caps));
  view.seed_ = seed;
  view.hosts_dir_ = dir + "/hosts";
  view.domains_dir_ = dir + "/domains";
  ByteReader reader(commit);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStage));
  const auto hosts = reader.Varint();
  const auto domains = reader.Varint();
  StageAccount account(kStage, kDropReasonNames);
  if (!hosts.has_value() || !domains.has_value() ||
      !item::RestoreTotals(reader, account) ||
      !ReadRecords(reader, &view.to_domains_) ||
      !ReadRecords(reader, &view.through_) || !reader.AtEnd()) {
    return item::DamagedCommit(kStage);
  }
  view.hosts_generation_ = *hosts;
  view.domains_generation_ = *domains;
  return view;
}

// As the pass does, and nothing is written.
Result<Verdict> CapsView::Meet(const std::string& dir, uint64_t generation,
                               uint64_t key, const std::string& value,
                               const drum::MergeRule& rule) const {
  drum::ScanRange range;
  range.first = range.last = key;
  NEPHILA_TRY(const auto scan, drum::ScanCommit(*fs_, dir, generation, range));
  std::string record;
  drum::Meeting meeting{};
  meeting.found = !scan->AtEnd();
  if (meeting.found) record = scan->value();
  meeting.value = value;
  std::string answer;
  rule.Merge(meeting, record, answer);
  return ReadVerdict(answer).value_or(Verdict::kThrough);
}

Result<Verdict> CapsView::VerdictOn(const item::UrlRecord& record) const {
  if (const auto cap = HostCapOf(record, settings_, sites_, seed_)) {
    NEPHILA_TRY(const Verdict verdict,
                Meet(hosts_dir_, hosts_generation_, cap->key,
                     HostValue(cap->most, /*is_seed=*/false), *MakeHostRule()));
    if (verdict != Verdict::kThrough) return verdict;
  }
  const url::Keys keys = url::KeysOf(record, seed_);
  const auto rule =
      MakeDomainRule(static_cast<uint64_t>(settings_.max_pages_per_domain),
                     static_cast<uint64_t>(settings_.max_hosts_per_domain));
  return Meet(domains_dir_, domains_generation_, keys.pld.value,
              DomainValue(keys.host, /*is_seed=*/false), *rule);
}

Result<uint64_t> CapsView::Bytes() const {
  NEPHILA_TRY(const uint64_t hosts,
              drum::WaitingBytes(*fs_, hosts_dir_, hosts_generation_));
  NEPHILA_TRY(const uint64_t domains,
              drum::WaitingBytes(*fs_, domains_dir_, domains_generation_));
  return hosts + domains;
}

Status CapsView::ForEach(const Sink& sink) const {
  for (const std::string& record : through_) {
    NEPHILA_TRY(const bool more, sink({record, true}));
    if (!more) return {};
  }
  bool goes_on = true;
  const auto give = [&](std::string_view aux) -> Result<bool> {
    NEPHILA_TRY(goes_on, sink({aux, false}));
    return goes_on;
  };
  NEPHILA_RETURN_IF_ERROR(
      drum::ScanWaiting(*fs_, domains_dir_, domains_generation_, give));
  for (const std::string& record : to_domains_) {
    if (!goes_on) return {};
    NEPHILA_TRY(goes_on, give(record));
  }
  if (!goes_on) return {};
  return drum::ScanWaiting(*fs_, hosts_dir_, hosts_generation_, give);
}

}  // namespace nephila::caps
