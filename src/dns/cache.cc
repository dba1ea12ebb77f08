#include "dns/cache.h"

#include <utility>

#include "base/hash.h"

namespace nephila::dns {
namespace {

// Of a name beside its own bytes: the node with its link and hash, its place
// in the table and in the ring (each may be half empty), and the allocator's
// share of the up to four blocks it has.
constexpr uint64_t kNodeBytes = 16 + 2 * 8 + 2 * 8 + 4 * 16;

}  // namespace

size_t NameHash::operator()(std::string_view name) const {
  return KeyedHash(name, seed);
}

Cache::Cache(uint64_t memory_bytes, uint64_t seed)
    : limit_bytes_(memory_bytes), map_(0, NameHash{seed}) {}

uint64_t Cache::MemoryOf(std::string_view name, const CachedAnswer& answer) {
  return kNodeBytes + sizeof(Map::value_type) + name.size() +
         answer.addresses.size() * sizeof(net::IpAddress) +
         answer.refused.size() * sizeof(RefusedAddress);
}

const CachedAnswer* Cache::Find(std::string_view name, MonoTime now) {
  const auto found = map_.find(name);
  if (found == map_.end()) return nullptr;
  if (found->second.answer.expires <= now) {
    Erase(found);
    return nullptr;
  }
  found->second.used = true;
  return &found->second.answer;
}

void Cache::Insert(std::string_view name, CachedAnswer answer, MonoTime now) {
  if (const auto found = map_.find(name); found != map_.end()) Erase(found);
  answer.addresses.shrink_to_fit();
  answer.refused.shrink_to_fit();
  const uint64_t bytes = MemoryOf(name, answer);
  if (answer.expires <= now || bytes > limit_bytes_) return;
  while (used_bytes_ + bytes > limit_bytes_) EvictOne();
  const auto [at, fresh] = map_.emplace(
      std::string(name), Node{std::move(answer), bytes, ring_.size(), false});
  ring_.push_back(&*at);
  used_bytes_ += bytes;
}

void Cache::Clear() {
  map_.clear();
  ring_.clear();
  used_bytes_ = 0;
  hand_ = 0;
}

void Cache::Erase(Map::iterator found) {
  used_bytes_ -= found->second.bytes;
  const size_t place = found->second.place;
  ring_[place] = ring_.back();
  ring_[place]->second.place = place;
  ring_.pop_back();
  map_.erase(found);
}

void Cache::EvictOne() {
  while (true) {
    if (hand_ >= ring_.size()) hand_ = 0;
    Node& node = ring_[hand_]->second;
    if (!node.used) break;
    node.used = false;
    ++hand_;
  }
  ++evictions_;
  Erase(map_.find(std::string_view(ring_[hand_]->first)));
}

}  // namespace nephila::dns
