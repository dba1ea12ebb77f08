#include "crawl/visit_links.h"

#include <algorithm>

#include "reputation/pair_aggregator.h"

namespace nephila::crawl {
namespace {

// What malloc adds to a block, and the node of a map or list around it.
constexpr uint64_t kNodeBytes = 96;

}  // namespace

uint64_t BytesOf(const FinishedVisit& visit) {
  return sizeof(FinishedVisit) + kNodeBytes + visit.record.capacity() +
         visit.next.capacity() + visit.links.capacity() +
         visit.rules.capacity() + visit.command.capacity() +
         visit.edges.capacity() * sizeof(reputation::DomainPair);
}

uint64_t BytesOf(const Visit& visit) {
  uint64_t bytes = sizeof(Visit) + kNodeBytes + visit.record.capacity();
  // The URL that is requested and its host, which the dispatcher fills in.
  bytes += 2 * visit.record.size();
  return bytes;
}

std::optional<item::UrlRecord> WithTarget(const item::UrlRecord& record,
                                          std::string_view target) {
  item::UrlRecord next = record;
  next.target = target;
  next.followed = std::min(record.followed, item::kMostFollowed) + 1;
  if (target.empty() || !item::IsValid(next)) return std::nullopt;
  return next;
}

VisitLinks::VisitLinks(const FinishedVisit& visit, size_t offset)
    : visit_(visit),
      begin_(offset),
      reader_(std::string_view(visit.links).substr(offset)) {
  if (visit.is_seed) return;
  const auto page = item::ReadUrl(visit.record);
  if (!page.has_value()) return;
  has_parent_ = true;
  const bool is_robots = visit.kind == item::FetchKind::kRobots;
  parent_ = is_robots ? item::Asked(*page).url : page->url;
  // The record of a robots.txt is that of the root of its site, or has where
  // another one is redirected to.
  if (is_robots && page->target.empty()) parent_.append("robots.txt");
  page_path_ = page->hop_path;
  page_depth_ = page->depth;
}

Result<std::optional<item::UrlRecord>, std::string_view> VisitLinks::Next() {
  if (reader_.AtEnd()) return std::optional<item::UrlRecord>();
  const auto bytes = reader_.Sized();
  if (!bytes.has_value()) return Unexpected<std::string_view>("a link cut off");
  NEPHILA_TRY(item::UrlRecord record, item::ReadUrlRecord(*bytes, scratch_));
  if (!has_parent_) return std::optional<item::UrlRecord>(record);
  record.parent = parent_;
  record.depth = page_depth_ < UINT32_MAX ? page_depth_ + 1 : page_depth_;
  if (!record.hop_path.empty()) {
    path_.clear();
    item::AppendHop(page_path_, record.hop_path.back(), path_);
    record.hop_path = path_;
  }
  record.discovered = visit_.when;
  record.entry = visit_.entry;
  return std::optional<item::UrlRecord>(record);
}

}  // namespace nephila::crawl
