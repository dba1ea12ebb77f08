#include "robots/robots_record.h"

#include <algorithm>
#include <chrono>

namespace nephila::robots {
namespace {

using std::chrono::milliseconds;

constexpr uint8_t kRequestedFlag = 1;
constexpr uint8_t kKindShift = 1;
constexpr uint8_t kKindMask = 3;
constexpr uint8_t kDelayedFlag = 8;
constexpr uint8_t kKnownFlags = 15;

// Year 2262, the end of WallTime.
constexpr uint64_t kMostMilliseconds = 9'223'372'036'854;

bool ReadNumber(ByteReader& reader, uint64_t most, uint64_t& number) {
  const auto read = reader.Varint();
  if (!read.has_value() || *read > most) return false;
  number = *read;
  return true;
}

bool ReadNumber32(ByteReader& reader, uint32_t& number) {
  uint64_t read = 0;
  if (!ReadNumber(reader, UINT32_MAX, read)) return false;
  number = static_cast<uint32_t>(read);
  return true;
}

void WriteTime(uint64_t time, ByteWriter& writer) {
  writer.Varint(std::min(time, kMostMilliseconds));
}

bool ReadTime(ByteReader& reader, uint64_t& time) {
  return ReadNumber(reader, kMostMilliseconds, time);
}

}  // namespace

void WritePlace(const RulesPlace& place, ByteWriter& writer) {
  writer.Varint(place.file);
  writer.Varint(place.offset);
  writer.Varint(place.size);
}

std::optional<RulesPlace> ReadPlace(ByteReader& reader) {
  RulesPlace place;
  if (!ReadNumber(reader, UINT64_MAX, place.file) ||
      !ReadNumber(reader, UINT64_MAX, place.offset) ||
      !ReadNumber(reader, UINT32_MAX, place.size)) {
    return std::nullopt;
  }
  return place;
}

void AppendRobotsRecord(const RobotsRecord& record, std::string& out) {
  ByteWriter writer(out);
  writer.U8(kRobotsRecordVersion);
  const auto kind = static_cast<uint8_t>(record.kind);
  writer.U8(static_cast<uint8_t>((record.requested ? kRequestedFlag : 0) |
                                 (record.delayed ? kDelayedFlag : 0) |
                                 kind << kKindShift));
  writer.Varint(record.fetch);
  WriteTime(record.asked, writer);
  WriteTime(record.refresh, writer);
  WriteTime(record.expires, writer);
  writer.Varint(record.tries);
  WriteTime(record.unreachable_since, writer);
  WriteTime(record.host.not_before, writer);
  writer.Varint(record.host.failures);
  writer.Varint(record.host.overloads);
  WriteTime(record.crawl_delay, writer);
  if (record.kind == RulesKind::kInline) writer.Raw(record.rules);
  if (record.kind == RulesKind::kLog) WritePlace(record.place, writer);
}

std::optional<RobotsRecord> ReadRobotsRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.U8();
  const auto flags = reader.U8();
  if (!version.has_value() || *version != kRobotsRecordVersion ||
      !flags.has_value() || *flags > kKnownFlags) {
    return std::nullopt;
  }
  const auto kind = static_cast<uint8_t>(*flags >> kKindShift & kKindMask);
  if (kind > static_cast<uint8_t>(RulesKind::kLog)) return std::nullopt;
  RobotsRecord record;
  record.requested = (*flags & kRequestedFlag) != 0;
  record.delayed = (*flags & kDelayedFlag) != 0;
  record.kind = static_cast<RulesKind>(kind);
  if (!ReadNumber(reader, UINT64_MAX, record.fetch) ||
      !ReadTime(reader, record.asked) || !ReadTime(reader, record.refresh) ||
      !ReadTime(reader, record.expires) ||
      !ReadNumber32(reader, record.tries) ||
      !ReadTime(reader, record.unreachable_since) ||
      !ReadTime(reader, record.host.not_before) ||
      !ReadNumber32(reader, record.host.failures) ||
      !ReadNumber32(reader, record.host.overloads) ||
      !ReadTime(reader, record.crawl_delay)) {
    return std::nullopt;
  }
  if (record.kind == RulesKind::kInline) {
    record.rules = bytes.substr(reader.position());
    return record;
  }
  if (record.kind == RulesKind::kLog) {
    const auto place = ReadPlace(reader);
    if (!place.has_value()) return std::nullopt;
    record.place = *place;
  }
  if (!reader.AtEnd()) return std::nullopt;
  return record;
}

uint64_t MillisecondsOf(WallTime time) {
  const auto count =
      std::chrono::floor<milliseconds>(time.time_since_epoch()).count();
  return static_cast<uint64_t>(std::max<int64_t>(count, 0));
}

WallTime TimeOf(uint64_t time) {
  return WallTime(
      milliseconds(static_cast<int64_t>(std::min(time, kMostMilliseconds))));
}

}  // namespace nephila::robots
