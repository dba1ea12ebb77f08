#include "cli/demo_count.h"

#include <string>

#include "base/bytes.h"
#include "base/hash.h"

namespace nephila::cli {
namespace {

// One URL of so many is remembered.
constexpr uint64_t kSample = 16;

}  // namespace

DemoKind DemoCount::KindOf(const item::UrlRecord& record) const {
  const std::string_view host = record.host();
  if (site_.FindHost(host).kind == sim::HostKind::kFarm) {
    return DemoKind::kFarm;
  }
  const size_t slash = record.url.find('/', record.host_start);
  const std::string_view path =
      slash == std::string_view::npos ? "/" : record.url.substr(slash);
  if (path.starts_with("/calendar/") || path.starts_with("/grow/")) {
    return DemoKind::kTrap;
  }
  const sim::Rule* space =
      site_.scenario().Find(sim::Layer::kSpace, host, path);
  if (space != nullptr && space->behaviour == sim::Behaviour::kMirror) {
    return DemoKind::kMirror;
  }
  return DemoKind::kOrdinary;
}

void DemoCount::See(const crawl::FinishedVisit& visit) {
  if (visit.kind != item::FetchKind::kPage || visit.is_seed) return;
  const auto page = item::ReadUrl(visit.record);
  if (page.has_value() && visit.archived) {
    ++pages_[static_cast<size_t>(KindOf(*page))];
  }
  std::string parent;
  ByteReader reader(visit.links);
  while (!reader.AtEnd()) {
    const auto bytes = reader.Sized();
    if (!bytes.has_value()) return;
    const auto link = item::ReadUrlRecord(*bytes, parent);
    if (!link.has_value()) return;
    const uint64_t hash = KeyedHash(link->url, /*seed=*/0);
    if (hash % kSample != 0) continue;
    sample_[static_cast<size_t>(KindOf(*link))].insert(hash);
  }
}

DemoCount::Counts DemoCount::of(DemoKind kind) const {
  const auto i = static_cast<size_t>(kind);
  return {sample_[i].size() * kSample, pages_[i]};
}

DemoCount::Counts DemoCount::all() const {
  Counts all;
  for (size_t i = 0; i < kDemoKinds; ++i) {
    const Counts one = of(static_cast<DemoKind>(i));
    all.urls += one.urls;
    all.pages += one.pages;
  }
  return all;
}

}  // namespace nephila::cli
