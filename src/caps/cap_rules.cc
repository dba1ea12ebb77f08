#include "caps/cap_rules.h"

#include <algorithm>

#include "base/bytes.h"

namespace nephila::caps {
namespace {

constexpr uint8_t kSeed = 1;

void SetAnswer(Verdict verdict, std::string& answer) {
  answer.assign(1, static_cast<char>(verdict));
}

class HostRule final : public drum::MergeRule {
 public:
  drum::Verdict Merge(const drum::Meeting& meeting, std::string& record,
                      std::string& answer) const override {
    ByteReader value(meeting.value);
    const auto flags = value.U8();
    const auto most = value.Varint();
    answer.clear();
    if (!flags.has_value() || !most.has_value()) return drum::Verdict::kLeave;
    // Checksums stand before this; a record that is none is begun anew.
    const auto known = ByteReader(record).Varint();
    const uint64_t pages = meeting.found && known.has_value() ? *known : 0;
    if ((*flags & kSeed) == 0 && pages >= *most) {
      SetAnswer(Verdict::kHostFull, answer);
      return drum::Verdict::kLeave;
    }
    SetAnswer(Verdict::kThrough, answer);
    record.clear();
    ByteWriter(record).Varint(pages + 1);
    return drum::Verdict::kWrite;
  }
};

class DomainRule final : public drum::MergeRule {
 public:
  DomainRule(uint64_t most_pages, uint64_t most_hosts)
      : most_pages_(most_pages), most_hosts_(most_hosts) {}

  drum::Verdict Merge(const drum::Meeting& meeting, std::string& record,
                      std::string& answer) const override {
    ByteReader value(meeting.value);
    const auto flags = value.U8();
    const auto host = value.U64();
    answer.clear();
    if (!flags.has_value() || !host.has_value()) return drum::Verdict::kLeave;
    const bool is_seed = (*flags & kSeed) != 0;
    DomainRecord domain;
    if (meeting.found) {
      domain.pages = ByteReader(record).Varint().value_or(0);
    }
    // Before its hosts, who may be many, are looked at.
    if (!is_seed && most_pages_ > 0 && domain.pages >= most_pages_) {
      SetAnswer(Verdict::kDomainFull, answer);
      return drum::Verdict::kLeave;
    }
    if (meeting.found && most_hosts_ > 0) {
      domain = ReadDomainRecord(record).value_or(DomainRecord());
    }
    const auto place =
        std::lower_bound(domain.hosts.begin(), domain.hosts.end(), *host);
    const bool is_known = place != domain.hosts.end() && *place == *host;
    const bool has_room =
        most_hosts_ == 0 || is_known || domain.hosts.size() < most_hosts_;
    if (!is_seed && !has_room) {
      SetAnswer(Verdict::kTooManyHosts, answer);
      return drum::Verdict::kLeave;
    }
    SetAnswer(Verdict::kThrough, answer);
    // Only what is limited is counted.
    const bool counts_host = most_hosts_ > 0 && !is_known && has_room;
    if (most_pages_ == 0 && !counts_host) return drum::Verdict::kLeave;
    if (most_pages_ > 0) ++domain.pages;
    if (counts_host) domain.hosts.insert(place, *host);
    record.clear();
    AppendDomainRecord(domain, record);
    return drum::Verdict::kWrite;
  }

 private:
  const uint64_t most_pages_;
  const uint64_t most_hosts_;
};

}  // namespace

std::string HostValue(uint64_t most, bool is_seed) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(is_seed ? kSeed : 0);
  writer.Varint(most);
  return value;
}

std::string DomainValue(url::HostKey host, bool is_seed) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(is_seed ? kSeed : 0);
  writer.U64(host.value);
  return value;
}

std::optional<Verdict> ReadVerdict(std::string_view answer) {
  if (answer.size() != 1 || static_cast<uint8_t>(answer[0]) >
                                static_cast<uint8_t>(Verdict::kTooManyHosts)) {
    return std::nullopt;
  }
  return static_cast<Verdict>(answer[0]);
}

void AppendDomainRecord(const DomainRecord& record, std::string& out) {
  ByteWriter writer(out);
  writer.Varint(record.pages);
  for (const uint64_t host : record.hosts) writer.U64(host);
}

std::optional<DomainRecord> ReadDomainRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto pages = reader.Varint();
  if (!pages.has_value() || reader.remaining() % sizeof(uint64_t) != 0) {
    return std::nullopt;
  }
  DomainRecord record;
  record.pages = *pages;
  record.hosts.reserve(reader.remaining() / sizeof(uint64_t));
  while (!reader.AtEnd()) record.hosts.push_back(*reader.U64());
  if (!std::is_sorted(record.hosts.begin(), record.hosts.end())) {
    return std::nullopt;
  }
  return record;
}

std::shared_ptr<const drum::MergeRule> MakeHostRule() {
  return std::make_shared<HostRule>();
}

std::shared_ptr<const drum::MergeRule> MakeDomainRule(uint64_t most_pages,
                                                      uint64_t most_hosts) {
  return std::make_shared<DomainRule>(most_pages, most_hosts);
}

}  // namespace nephila::caps
