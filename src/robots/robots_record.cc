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
constexpr uint8_t kOriginRecordFlags = 15;  // of version 1
constexpr uint8_t kNoteFlag = 16;
constexpr uint8_t kRedirectFlag = 32;
constexpr uint8_t kKnownFlags = 63;

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

RobotsRecord* HostRecord::Find(FileId id) {
  for (File& file : files) {
    if (file.id == id) return &file.record;
    // A record of version 1 is that of the only authority that its key is for.
    const bool is_own = !IsTarget(file.id) && !IsTarget(id);
    if (is_own && (file.id == kAnyFile || id == kAnyFile)) {
      if (file.id == kAnyFile) file.id = id;
      return &file.record;
    }
  }
  return nullptr;
}

RobotsRecord* HostRecord::Add(FileId id) {
  files.push_back({id, {}});
  files.back().record.host = host;
  return &files.back().record;
}

void HostRecord::SetHost(const HostNote& note) {
  host.not_before = note.not_before;
  host.overloads = note.overloads;
  for (File& file : files) {
    file.record.host.not_before = note.not_before;
    file.record.host.overloads = note.overloads;
  }
}

namespace {

void AppendFile(const RobotsRecord& record, std::string& out) {
  ByteWriter writer(out);
  const auto kind = static_cast<uint8_t>(record.kind);
  const bool has_note = record.host.failures > 0 ||
                        record.host.authority_not_before > 0 ||
                        record.waiting_sites > 0;
  writer.U8(
      static_cast<uint8_t>((record.requested ? kRequestedFlag : 0) |
                           (record.delayed ? kDelayedFlag : 0) |
                           kind << kKindShift | (has_note ? kNoteFlag : 0) |
                           (record.redirect.empty() ? 0 : kRedirectFlag)));
  writer.Varint(record.fetch);
  WriteTime(record.asked, writer);
  WriteTime(record.refresh, writer);
  WriteTime(record.expires, writer);
  writer.Varint(record.tries);
  WriteTime(record.unreachable_since, writer);
  WriteTime(record.crawl_delay, writer);
  if (has_note) {
    writer.Varint(record.host.failures);
    WriteTime(record.host.authority_not_before, writer);
    writer.Varint(record.waiting_sites);
  }
  if (!record.redirect.empty()) writer.Sized(record.redirect);
  if (record.kind == RulesKind::kInline) writer.Raw(record.rules);
  if (record.kind == RulesKind::kLog) WritePlace(record.place, writer);
}

// What stands behind all else: the rules, or where they are.
bool ReadRules(ByteReader& reader, std::string_view bytes,
               RobotsRecord& record) {
  if (record.kind == RulesKind::kInline) {
    record.rules = bytes.substr(reader.position());
    return true;
  }
  if (record.kind == RulesKind::kLog) {
    const auto place = ReadPlace(reader);
    if (!place.has_value()) return false;
    record.place = *place;
  }
  return reader.AtEnd();
}

bool ReadFlags(ByteReader& reader, uint8_t known, uint8_t& flags,
               RobotsRecord& record) {
  const auto read = reader.U8();
  if (!read.has_value() || *read > known) return false;
  flags = *read;
  const auto kind = static_cast<uint8_t>(flags >> kKindShift & kKindMask);
  if (kind > static_cast<uint8_t>(RulesKind::kLog)) return false;
  record.requested = (flags & kRequestedFlag) != 0;
  record.delayed = (flags & kDelayedFlag) != 0;
  record.kind = static_cast<RulesKind>(kind);
  return true;
}

bool ReadFetches(ByteReader& reader, RobotsRecord& record) {
  return ReadNumber(reader, UINT64_MAX, record.fetch) &&
         ReadTime(reader, record.asked) && ReadTime(reader, record.refresh) &&
         ReadTime(reader, record.expires) &&
         ReadNumber32(reader, record.tries) &&
         ReadTime(reader, record.unreachable_since);
}

std::optional<RobotsRecord> ReadFile(std::string_view bytes) {
  ByteReader reader(bytes);
  RobotsRecord record;
  uint8_t flags = 0;
  if (!ReadFlags(reader, kKnownFlags, flags, record) ||
      !ReadFetches(reader, record) || !ReadTime(reader, record.crawl_delay)) {
    return std::nullopt;
  }
  if ((flags & kNoteFlag) != 0) {
    if (!ReadNumber32(reader, record.host.failures) ||
        !ReadTime(reader, record.host.authority_not_before) ||
        !ReadNumber32(reader, record.waiting_sites)) {
      return std::nullopt;
    }
    const bool is_empty =
        record.host == HostNote() && record.waiting_sites == 0;
    if (is_empty) return std::nullopt;  // each record has one spelling
  }
  if ((flags & kRedirectFlag) != 0) {
    const auto redirect = reader.Sized();
    if (!redirect.has_value() || redirect->empty()) return std::nullopt;
    record.redirect = *redirect;
  }
  if (!ReadRules(reader, bytes, record)) return std::nullopt;
  return record;
}

std::optional<HostRecord> ReadOriginRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  static_cast<void>(reader.U8());
  HostRecord host;
  RobotsRecord record;
  uint8_t flags = 0;
  if (!ReadFlags(reader, kOriginRecordFlags, flags, record) ||
      !ReadFetches(reader, record) ||
      !ReadTime(reader, record.host.not_before) ||
      !ReadNumber32(reader, record.host.failures) ||
      !ReadNumber32(reader, record.host.overloads) ||
      !ReadTime(reader, record.crawl_delay) ||
      !ReadRules(reader, bytes, record)) {
    return std::nullopt;
  }
  host.host.not_before = record.host.not_before;
  host.host.overloads = record.host.overloads;
  host.files.push_back({kAnyFile, record});
  return host;
}

}  // namespace

void AppendHostRecord(const HostRecord& record, std::string& out) {
  ByteWriter writer(out);
  writer.U8(kHostRecordVersion);
  WriteTime(record.host.not_before, writer);
  writer.Varint(record.host.overloads);
  writer.Varint(record.files.size());
  std::string file_bytes;
  for (const HostRecord::File& file : record.files) {
    writer.Varint(file.id);
    file_bytes.clear();
    AppendFile(file.record, file_bytes);
    writer.Sized(file_bytes);
  }
}

std::optional<HostRecord> ReadHostRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.U8();
  if (!version.has_value()) return std::nullopt;
  if (*version == kOriginRecordVersion) return ReadOriginRecord(bytes);
  if (*version != kHostRecordVersion) return std::nullopt;
  HostRecord record;
  uint64_t count = 0;
  if (!ReadTime(reader, record.host.not_before) ||
      !ReadNumber32(reader, record.host.overloads) ||
      !ReadNumber(reader, bytes.size(), count)) {
    return std::nullopt;
  }
  for (uint64_t i = 0; i < count; ++i) {
    HostRecord::File file;
    if (!ReadNumber(reader, UINT64_MAX, file.id)) return std::nullopt;
    const auto file_bytes = reader.Sized();
    if (!file_bytes.has_value()) return std::nullopt;
    const auto read = ReadFile(*file_bytes);
    if (!read.has_value()) return std::nullopt;
    file.record = *read;
    file.record.host.not_before = record.host.not_before;
    file.record.host.overloads = record.host.overloads;
    record.files.push_back(file);
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
