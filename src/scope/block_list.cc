#include "scope/block_list.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/text.h"
#include "url/surt.h"

namespace nephila::scope {
namespace {

// Lists are the user's own: nobody aims at collisions.
constexpr uint64_t kHashSeed = 0x426C6F636B;
constexpr size_t kFirstSlots = 16;

uint64_t HashOf(std::string_view text) {
  const uint64_t hash = KeyedHash(text, kHashSeed);
  return hash == 0 ? 1 : hash;
}

// Whether it may be an address, as URLs have them.
bool MayBeAddress(std::string_view host) {
  return host.ends_with(']') || (!host.empty() && IsDigit(host.back()));
}

std::optional<net::IpAddress> AddressOf(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return net::IpAddress::Parse(host);
}

}  // namespace

std::string BlockHit::ToString() const {
  return EscapeForTerminal(list) + ":" + std::to_string(line) + " (" +
         std::string(kBlockKindNames.at(static_cast<size_t>(kind))) + ")";
}

void BlockList::Table::Insert(Slot slot) {
  const size_t mask = slots_.size() - 1;
  size_t at = slot.hash & mask;
  while (slots_[at].hash != 0) {
    if (slots_[at].hash == slot.hash) return;
    at = (at + 1) & mask;
  }
  slots_[at] = slot;
  ++count_;
}

void BlockList::Table::Add(std::string_view text, uint32_t line) {
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<Slot> old = std::exchange(
        slots_, std::vector<Slot>(std::max(kFirstSlots, 2 * slots_.size())));
    count_ = 0;
    for (const Slot& slot : old) {
      if (slot.hash != 0) Insert(slot);
    }
  }
  Insert({HashOf(text), line});
}

std::optional<uint32_t> BlockList::Table::Find(std::string_view text) const {
  if (count_ == 0) return std::nullopt;
  const uint64_t hash = HashOf(text);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].hash != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash) return slots_[at].line;
  }
  return std::nullopt;
}

std::shared_ptr<const BlockList> BlockList::Read(
    std::string name, std::string_view text, url::Canonicalizer& canonicalizer,
    const url::PublicSuffixList& suffixes,
    const std::function<void(uint32_t line, const Error& why)>& wrong) {
  // The constructor is private, also to make_shared.
  std::shared_ptr<BlockList> list(new BlockList(std::move(name)));
  for (uint32_t number = 1; !text.empty(); ++number) {
    const std::string_view line = TakeLine(&text);
    const auto read = ReadBlockLine(line, canonicalizer, suffixes);
    if (!read.has_value()) {
      wrong(number, read.error());
    } else if (read->has_value()) {
      list->Add(**read, number);
    }
  }
  list->JoinRanges();
  return list;
}

void BlockList::Add(const BlockLine& line, uint32_t number) {
  ++lines_;
  switch (line.kind) {
    case BlockKind::kUrl:
      return urls_.Add(line.text, number);
    case BlockKind::kHost:
      return hosts_.Add(line.text, number);
    case BlockKind::kDomain:
      return domains_.Add(line.text, number);
    case BlockKind::kSurt:
      return surts_.Add(line.text, number);
    case BlockKind::kAddress:
      ranges_.push_back({line.network.first(), line.network.Last(), number});
      return;
  }
}

// What lies within another is not needed: then the last that begins before an
// address is the only one that can hold it.
void BlockList::JoinRanges() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (joined.empty() || joined.back().last < range.first) {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

std::optional<uint32_t> BlockList::FindRange(
    const net::IpAddress& address) const {
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](const net::IpAddress& a, const Range& b) { return a < b.first; });
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *std::prev(after);
  if (range.last < address) return std::nullopt;
  return range.line;
}

std::optional<BlockHit> BlockList::Find(const net::IpAddress& address) const {
  if (ranges_.empty()) return std::nullopt;
  if (const auto line = FindRange(address)) {
    return Hit(*line, BlockKind::kAddress);
  }
  // Whoever routes it may end up at the one inside.
  for (const net::IpAddress::Embedded& inside : address.EmbeddedV4()) {
    if (const auto line = FindRange(net::IpAddress::V4(inside.number))) {
      return Hit(*line, BlockKind::kAddress);
    }
  }
  return std::nullopt;
}

std::optional<BlockHit> BlockList::FindHost(std::string_view host) const {
  if (!ranges_.empty() && MayBeAddress(host)) {
    if (const auto address = AddressOf(host)) {
      if (const auto hit = Find(*address)) return hit;
    }
  }
  if (hosts_.empty()) return std::nullopt;
  while (true) {
    if (const auto line = hosts_.Find(host)) {
      return Hit(*line, BlockKind::kHost);
    }
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    host.remove_prefix(dot + 1);
  }
}

std::optional<BlockHit> BlockList::Find(const item::UrlRecord& record,
                                        std::string& scratch) const {
  if (const auto hit = FindHost(record.host())) return hit;
  if (!domains_.empty()) {
    if (const auto line = domains_.Find(record.pld())) {
      return Hit(*line, BlockKind::kDomain);
    }
  }
  if (!urls_.empty()) {
    if (const auto line = urls_.Find(record.url)) {
      return Hit(*line, BlockKind::kUrl);
    }
  }
  if (!surts_.empty()) {
    scratch.clear();
    url::AppendSurt(record.url, record.host_start, record.host_size, scratch);
    if (const auto line = surts_.Find(scratch)) {
      return Hit(*line, BlockKind::kSurt);
    }
  }
  return std::nullopt;
}

BlockSet::BlockSet(std::vector<std::shared_ptr<const BlockList>> lists) {
  for (auto& list : lists) {
    if (list == nullptr || list->empty()) continue;
    has_addresses_ = has_addresses_ || list->has_addresses();
    lists_.push_back(std::move(list));
  }
}

size_t BlockSet::lines() const {
  size_t lines = 0;
  for (const auto& list : lists_) lines += list->lines();
  return lines;
}

std::optional<BlockHit> BlockSet::Find(const item::UrlRecord& record,
                                       std::string& scratch) const {
  for (const auto& list : lists_) {
    if (const auto hit = list->Find(record, scratch)) return hit;
    if (record.target.empty()) continue;
    if (const auto hit = list->Find(item::Asked(record), scratch)) return hit;
  }
  return std::nullopt;
}

std::optional<BlockHit> BlockSet::Find(const net::IpAddress& address) const {
  if (!has_addresses_) return std::nullopt;
  for (const auto& list : lists_) {
    if (const auto hit = list->Find(address)) return hit;
  }
  return std::nullopt;
}

}  // namespace nephila::scope
