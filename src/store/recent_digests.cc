#include "store/recent_digests.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::store {
namespace {

constexpr size_t kWays = 4;
// Without the texts: size, digest, stream, end, date, their lengths, place.
constexpr size_t kEntryBytes = 4 + 1 + 32 + 4 + 16 + 8 + 2 + 3 + 12;
constexpr size_t kRecordIdBytes = 45;  // urn:uuid: and 36 digits
constexpr size_t kMeanUrlBytes = 80;
constexpr size_t kMeanEntryBytes = kEntryBytes + kRecordIdBytes + kMeanUrlBytes;
// A place in a group for each entry, and half as many again.
constexpr size_t kSlotBytes = 12;
// Longer ones are not remembered; url.max_length is far below.
constexpr size_t kLongestEntry = size_t{64} * 1024;

std::string Serialize(const Digest& payload, const Original& original,
                      uint32_t stream, Position end) {
  std::string bytes(4, '\0');  // the size, below
  ByteWriter writer(bytes);
  writer.U8(static_cast<uint8_t>(payload.kind));
  writer.Raw({reinterpret_cast<const char*>(payload.bytes.data()),
              payload.bytes.size()});
  writer.U32(stream);
  writer.U64(end.serial);
  writer.U64(end.offset);
  writer.U64(static_cast<uint64_t>(original.date.time_since_epoch().count()));
  writer.Sized(original.record_id);
  writer.Sized(original.url);
  writer.Varint(original.stream);
  writer.Varint(original.begin.serial);
  writer.Varint(original.begin.offset);
  writer.Varint(original.bytes);
  std::string size;
  ByteWriter(size).U32(static_cast<uint32_t>(bytes.size()));
  bytes.replace(0, size.size(), size);
  return bytes;
}

}  // namespace

RecentDigests::RecentDigests(uint64_t memory_bytes) {
  const uint64_t entries = memory_bytes / (kMeanEntryBytes + kSlotBytes);
  const uint64_t groups = std::bit_floor(entries * 3 / 2 / kWays);
  if (groups == 0) return;
  slots_.assign(groups * kWays, 0);
  ring_.assign(memory_bytes - groups * kWays * sizeof(slots_[0]), '\0');
}

uint64_t RecentDigests::CapacityFor(size_t url_bytes) const {
  return ring_.size() / (kEntryBytes + kRecordIdBytes + url_bytes);
}

// The digest is as random as any hash of it, unless someone aims; who does only
// loses revisits of his own pages.
uint64_t RecentDigests::BucketOf(const Digest& payload) const {
  uint64_t bits = 0;
  std::memcpy(&bits, payload.bytes.data(), sizeof(bits));
  return (bits & (slots_.size() / kWays - 1)) * kWays;
}

void RecentDigests::CopyIn(uint64_t place, std::string_view bytes) {
  const size_t at = place % ring_.size();
  const size_t first = std::min(bytes.size(), ring_.size() - at);
  std::memcpy(ring_.data() + at, bytes.data(), first);
  std::memcpy(ring_.data(), bytes.data() + first, bytes.size() - first);
}

void RecentDigests::CopyOut(uint64_t place, size_t size, char* out) const {
  const size_t at = place % ring_.size();
  const size_t first = std::min(size, ring_.size() - at);
  std::memcpy(out, ring_.data() + at, first);
  std::memcpy(out + first, ring_.data(), size - first);
}

std::optional<RecentDigests::Entry> RecentDigests::Read(uint64_t place) const {
  // Overwritten since: the ring has gone round.
  if (head_ - place > ring_.size()) return std::nullopt;
  std::string bytes(sizeof(uint32_t), '\0');
  CopyOut(place, bytes.size(), bytes.data());
  const uint32_t size = *ByteReader(bytes).U32();
  bytes.resize(size);
  CopyOut(place, size, bytes.data());
  ByteReader reader(bytes);
  Entry entry;
  static_cast<void>(*reader.U32());
  entry.payload.kind = static_cast<DigestKind>(*reader.U8());
  const std::string_view digest = *reader.Raw(entry.payload.bytes.size());
  std::memcpy(entry.payload.bytes.data(), digest.data(), digest.size());
  entry.stream = *reader.U32();
  entry.end.serial = *reader.U64();
  entry.end.offset = *reader.U64();
  entry.original.date =
      WallTime(std::chrono::nanoseconds(static_cast<int64_t>(*reader.U64())));
  entry.original.record_id = *reader.Sized();
  entry.original.url = *reader.Sized();
  entry.original.stream = static_cast<uint32_t>(*reader.Varint());
  entry.original.begin.serial = *reader.Varint();
  entry.original.begin.offset = *reader.Varint();
  entry.original.bytes = *reader.Varint();
  return entry;
}

std::optional<RecentDigests::Entry> RecentDigests::Lookup(
    const Digest& payload) const {
  if (slots_.empty()) return std::nullopt;
  const uint64_t bucket = BucketOf(payload);
  for (size_t way = 0; way < kWays; ++way) {
    const uint64_t slot = slots_[bucket + way];
    if (slot == 0) continue;
    std::optional<Entry> entry = Read(slot - 1);
    if (entry && entry->payload == payload) return entry;
  }
  return std::nullopt;
}

bool RecentDigests::MayName(const Entry& entry, uint32_t stream) const {
  if (entry.stream == stream) return true;
  const auto covered = covered_.find(entry.stream);
  return covered != covered_.end() && entry.end <= covered->second;
}

std::optional<Original> RecentDigests::Find(const Digest& payload,
                                            uint32_t stream) const {
  std::optional<Entry> entry = Lookup(payload);
  if (!entry || !MayName(*entry, stream)) return std::nullopt;
  return std::move(entry->original);
}

void RecentDigests::Add(const Digest& payload, const Original& original,
                        uint32_t stream, Position end) {
  if (slots_.empty()) return;
  const std::optional<Entry> known = Lookup(payload);
  if (known && MayName(*known, stream)) return;
  const std::string bytes = Serialize(payload, original, stream, end);
  if (bytes.size() > std::min(kLongestEntry, ring_.size() / 2)) return;
  // The slot of the same payload, else a free one, else the oldest.
  const uint64_t bucket = BucketOf(payload);
  uint64_t* slot = &slots_[bucket];
  for (size_t way = 0; way < kWays; ++way) {
    uint64_t& candidate = slots_[bucket + way];
    if (candidate != 0 && known) {
      const std::optional<Entry> entry = Read(candidate - 1);
      if (entry && entry->payload == payload) {
        slot = &candidate;
        break;
      }
    }
    slot = candidate < *slot ? &candidate : slot;
  }
  CopyIn(head_, bytes);
  *slot = head_ + 1;
  head_ += bytes.size();
}

void RecentDigests::Cover(uint32_t stream, Position position) {
  Position& covered = covered_[stream];
  covered = std::max(covered, position);
}

}  // namespace nephila::store
