#include "politeness/saved_waits.h"

#include "base/bytes.h"
#include "base/result.h"

namespace nephila::politeness {
namespace {

constexpr uint8_t kVersion = 4;
constexpr uint8_t kNamelessVersion = 2;
// No time is later (delays.h), so no wait is longer.
constexpr uint64_t kMostNanoseconds =
    static_cast<uint64_t>(kFarthest.time_since_epoch().count());

Result<Length, ReadError> ReadLength(ByteReader& reader) {
  NEPHILA_TRY(const uint64_t count, reader.Varint());
  if (count > kMostNanoseconds) return Unexpected(ReadError::kOverlong);
  return Length(static_cast<int64_t>(count));
}

Result<ServerKey, ReadError> ReadKey(ByteReader& reader) {
  ServerKey key;
  for (uint8_t& byte : key.bytes) {
    NEPHILA_TRY(byte, reader.U8());
  }
  return key;
}

Result<ServerWait, ReadError> ReadServer(ByteReader& reader) {
  ServerWait wait;
  NEPHILA_TRY(wait.address, ReadKey(reader));
  NEPHILA_TRY(wait.left, ReadLength(reader));
  return wait;
}

void WriteKey(const ServerKey& key, ByteWriter* writer) {
  for (const uint8_t byte : key.bytes) writer->U8(byte);
}

uint64_t Nanoseconds(MonoTime time) {
  return static_cast<uint64_t>(time.time_since_epoch().count());
}

Result<void, ReadError> ReadRecent(ByteReader& reader, SavedWaits* waits) {
  NEPHILA_TRY(waits->delays_mark, reader.U64());
  NEPHILA_TRY(const Length everyone, ReadLength(reader));
  waits->everyone_at = MonoTime(everyone);
  NEPHILA_TRY(const uint64_t hosts, reader.Varint());
  uint64_t host = 0;
  for (uint64_t i = 0; i < hosts; ++i) {
    NEPHILA_TRY(const uint64_t step, reader.Varint());
    host += step;
    NEPHILA_TRY(const Length delay, ReadLength(reader));
    waits->recent_hosts.push_back({host, delay});
  }
  NEPHILA_TRY(const uint64_t servers, reader.Varint());
  for (uint64_t i = 0; i < servers; ++i) {
    NEPHILA_TRY(const ServerKey key, ReadKey(reader));
    waits->recent_servers.push_back(key);
  }
  return {};
}

Result<DelayReason, ReadError> ReadReason(ByteReader& reader) {
  NEPHILA_TRY(const uint8_t reason, reader.U8());
  if (reason >= kDelayReasons) return Unexpected(ReadError::kOverlong);
  return static_cast<DelayReason>(reason);
}

Result<HostWait, ReadError> ReadHost(ByteReader& reader) {
  HostWait wait;
  NEPHILA_TRY(wait.host, reader.U64());
  NEPHILA_TRY(wait.left, ReadLength(reader));
  NEPHILA_TRY(wait.reason, ReadReason(reader));
  NEPHILA_TRY(wait.overloads, reader.U32());
  NEPHILA_TRY(const uint64_t authority, reader.Varint());
  if (authority == 0) return wait;
  if (authority > uint64_t{kLastAuthority} + 1) {
    return Unexpected(ReadError::kOverlong);
  }
  wait.authority = static_cast<uint32_t>(authority - 1);
  NEPHILA_TRY(wait.authority_left, ReadLength(reader));
  NEPHILA_TRY(wait.authority_reason, ReadReason(reader));
  NEPHILA_TRY(wait.failures, reader.U32());
  return wait;
}

// Nobody wrote down which authority had failed.
Result<void, ReadError> ReadOldHost(ByteReader& reader, SavedWaits* waits) {
  HostWait wait;
  NEPHILA_TRY(wait.host, reader.U64());
  NEPHILA_TRY(wait.left, ReadLength(reader));
  NEPHILA_TRY(wait.reason, ReadReason(reader));
  NEPHILA_TRY(const uint32_t failures, reader.U32());
  NEPHILA_TRY(wait.overloads, reader.U32());
  if (failures == 0) {
    waits->hosts.push_back(wait);
    return {};
  }
  wait.failures = failures;
  for (const uint32_t authority : {kHttpAuthority, kHttpsAuthority}) {
    wait.authority = authority;
    waits->hosts.push_back(wait);
  }
  return {};
}

Result<SavedWaits, ReadError> Read(ByteReader& reader, uint8_t version) {
  SavedWaits waits;
  NEPHILA_TRY(const std::string_view boot, reader.Sized());
  waits.boot_id = boot;
  NEPHILA_TRY(const Length when, ReadLength(reader));
  waits.when = MonoTime(when);
  NEPHILA_TRY(const uint64_t hosts, reader.Varint());
  for (uint64_t i = 0; i < hosts; ++i) {
    if (version != kVersion) {
      NEPHILA_RETURN_IF_ERROR(ReadOldHost(reader, &waits));
      continue;
    }
    NEPHILA_TRY(const HostWait wait, ReadHost(reader));
    waits.hosts.push_back(wait);
  }
  NEPHILA_TRY(const uint64_t servers, reader.Varint());
  for (uint64_t i = 0; i < servers; ++i) {
    NEPHILA_TRY(const ServerWait wait, ReadServer(reader));
    waits.servers.push_back(wait);
  }
  if (version != kNamelessVersion) {
    NEPHILA_RETURN_IF_ERROR(ReadRecent(reader, &waits));
  }
  if (!reader.AtEnd()) return Unexpected(ReadError::kOverlong);
  return waits;
}

}  // namespace

std::string FormatWaits(const SavedWaits& waits) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kVersion);
  writer.Sized(waits.boot_id);
  writer.Varint(Nanoseconds(waits.when));
  writer.Varint(waits.hosts.size());
  for (const HostWait& wait : waits.hosts) {
    writer.U64(wait.host);
    writer.Varint(static_cast<uint64_t>(wait.left.count()));
    writer.U8(static_cast<uint8_t>(wait.reason));
    writer.U32(wait.overloads);
    if (wait.authority == kNoAuthority) {
      writer.Varint(0);
      continue;
    }
    writer.Varint(uint64_t{wait.authority} + 1);
    writer.Varint(static_cast<uint64_t>(wait.authority_left.count()));
    writer.U8(static_cast<uint8_t>(wait.authority_reason));
    writer.U32(wait.failures);
  }
  writer.Varint(waits.servers.size());
  for (const ServerWait& wait : waits.servers) {
    WriteKey(wait.address, &writer);
    writer.Varint(static_cast<uint64_t>(wait.left.count()));
  }
  writer.U64(waits.delays_mark);
  writer.Varint(Nanoseconds(waits.everyone_at));
  writer.Varint(waits.recent_hosts.size());
  uint64_t last = 0;
  for (const RecentHost& recent : waits.recent_hosts) {
    writer.Varint(recent.host - last);
    writer.Varint(static_cast<uint64_t>(recent.delay.count()));
    last = recent.host;
  }
  writer.Varint(waits.recent_servers.size());
  for (const ServerKey& key : waits.recent_servers) WriteKey(key, &writer);
  return bytes;
}

std::optional<SavedWaits> ParseWaits(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.U8();
  if (!version || *version < kNamelessVersion || *version > kVersion) {
    return std::nullopt;
  }
  auto waits = Read(reader, *version);
  if (!waits) return std::nullopt;
  return *std::move(waits);
}

}  // namespace nephila::politeness
