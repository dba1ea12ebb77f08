#include "crawl/frontier_state.h"

namespace nephila::crawl {

bool FrontierState::ReadWalks(ByteReader& reader) {
  const auto count = reader.Varint();
  if (!count.has_value()) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto origin = reader.Sized();
    const auto redirects = reader.Varint();
    if (!origin.has_value() || !redirects.has_value()) return false;
    std::vector<std::string>& walk = walks[std::string(*origin)];
    for (uint64_t j = 0; j < *redirects; ++j) {
      const auto redirect = reader.Sized();
      if (!redirect.has_value()) return false;
      walk.emplace_back(*redirect);
    }
  }
  return true;
}

bool FrontierState::Read(ByteReader& reader) {
  const auto version = reader.U8();
  if (!version.has_value()) return false;
  const bool is_old = *version == kOldFrontierStateVersion;
  if (!is_old && *version != kFrontierStateVersion) return false;
  const auto entry = reader.Varint();
  const auto is_begun = reader.U8();
  const auto link_count = reader.Varint();
  const auto edge_count = reader.Varint();
  if (!entry.has_value() || !is_begun.has_value() || !link_count.has_value() ||
      !edge_count.has_value()) {
    return false;
  }
  next_entry = *entry;
  begun = *is_begun != 0;
  links = *link_count;
  edges = *edge_count;
  const bool has_places =
      is_old ? places.ReadEnded(reader) : places.Read(reader);
  if (!has_places || !ended_attempts.Read(reader)) return false;
  const auto waiting = reader.Varint();
  if (!waiting.has_value()) return false;
  for (uint64_t i = 0; i < *waiting; ++i) {
    const auto budget = reader.Varint();
    const auto record = reader.Sized();
    if (!budget.has_value() || !record.has_value()) return false;
    to_robots.push_back({std::string(*record), *budget});
  }
  return !is_old || ReadWalks(reader);
}

}  // namespace nephila::crawl
