#include "job/entry.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::job {
namespace {

using std::chrono::milliseconds;

constexpr uint8_t kVersion = 2;  // in the upper half of the first byte

// Of the flags of an attempt.
constexpr uint8_t kRetry = 1;
constexpr uint8_t kArchived = 2;
constexpr uint8_t kAddressV4 = 4;
constexpr uint8_t kAddressV6 = 8;
constexpr uint8_t kGoesOn = 16;
constexpr uint8_t kRevisit = 32;
constexpr uint8_t kOtherHost = 64;
constexpr uint8_t kAuthority = 128;  // a wait of it, or which one it is

// RFC 4291 s2.5.5.2.
constexpr std::string_view kMappedPrefix("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
constexpr size_t kV4Bytes = 4;
constexpr size_t kV6Bytes = 16;

// A hundred years: no wait is longer, and as nanoseconds it fits 64 bits.
constexpr uint64_t kMostWaitMs = uint64_t{100} * 366 * 24 * 3600 * 1000;

// The https port 65535 (politeness/authority.h).
constexpr uint64_t kMostAuthority = uint64_t{UINT16_MAX} * 2 + 1;

constexpr uint8_t kLastRobotsEnd =
    static_cast<uint8_t>(item::RobotsFetchEnd::kNetwork);

uint64_t WaitMs(milliseconds wait) {
  return std::min(kMostWaitMs,
                  static_cast<uint64_t>(std::max<int64_t>(wait.count(), 0)));
}

std::string_view AddressText(const std::array<uint8_t, kV6Bytes>& address) {
  return {reinterpret_cast<const char*>(address.data()), address.size()};
}

uint8_t AddressFlag(std::string_view address) {
  if (address.find_first_not_of('\0') == std::string_view::npos) return 0;
  return address.starts_with(kMappedPrefix) ? kAddressV4 : kAddressV6;
}

void AppendPlace(const ArchivePlace& place, ByteWriter& writer) {
  writer.Varint(place.stream);
  writer.Varint(place.serial);
  writer.Varint(place.offset);
  writer.Varint(place.size);
}

uint8_t FlagsOf(const Entry& entry, uint8_t address_form) {
  uint8_t flags = address_form;
  if (entry.retry) flags |= kRetry;
  if (entry.archive) flags |= kArchived;
  if (entry.goes_on) flags |= kGoesOn;
  if (entry.original) flags |= kRevisit;
  if (entry.host) flags |= kOtherHost;
  if (entry.authority || WaitMs(entry.authority_wait) > 0) flags |= kAuthority;
  return flags;
}

void AppendAttempt(const Entry& entry, ByteWriter& writer) {
  const std::string_view address = AddressText(entry.address);
  const uint8_t form = AddressFlag(address);
  const uint8_t flags = FlagsOf(entry, form);
  writer.U8(flags);
  writer.Sized(entry.record);
  writer.Varint(entry.place);
  writer.U8(static_cast<uint8_t>(entry.outcome));
  writer.Varint(entry.status);
  writer.Varint(entry.attempt);
  writer.Varint(entry.budget);
  writer.Varint(entry.body_bytes);
  if (entry.goes_on) writer.Sized(entry.next);
  if (entry.archive) AppendPlace(*entry.archive, writer);
  if (entry.original) AppendPlace(*entry.original, writer);
  if (entry.host) writer.U64(*entry.host);
  if (entry.authority) writer.Varint(*entry.authority);
  writer.Varint(WaitMs(entry.url_wait));
  writer.Varint(WaitMs(entry.host_wait));
  if ((flags & kAuthority) != 0) writer.Varint(WaitMs(entry.authority_wait));
  writer.Varint(WaitMs(entry.address_wait));
  if (form == kAddressV4) writer.Raw(address.substr(kMappedPrefix.size()));
  if (form == kAddressV6) writer.Raw(address);
  writer.Varint(entry.host_failures);
  writer.Varint(entry.host_overloads);
}

void AppendRobots(const Entry& entry, ByteWriter& writer) {
  writer.U8(static_cast<uint8_t>(entry.robots_end));
  writer.Varint(entry.robots_status);
  writer.Varint(entry.crawl_delay ? WaitMs(*entry.crawl_delay) + 1 : 0);
  writer.Sized(entry.rules);
}

// Reads field after field until one is wrong; why() says which.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : bytes_(bytes) {}

  bool Head(Entry& entry) {
    const auto first = bytes_.U8();
    if (!first || *first >> 4 != kVersion) return Wrong("version");
    const uint8_t kind = *first & 0xf;
    if (kind < static_cast<uint8_t>(EntryKind::kPage) ||
        kind > static_cast<uint8_t>(EntryKind::kCommand)) {
      return Wrong("kind");
    }
    entry.kind = static_cast<EntryKind>(kind);
    const auto when = bytes_.U64();
    if (!when) return Wrong("time");
    entry.when =
        WallTime(std::chrono::nanoseconds(static_cast<int64_t>(*when)));
    return true;
  }

  bool Attempt(Entry& entry) {
    const auto flags = bytes_.U8();
    if (!flags) return Wrong("flags");
    entry.retry = (*flags & kRetry) != 0;
    entry.goes_on = (*flags & kGoesOn) != 0;
    const bool archived = (*flags & kArchived) != 0;
    const bool revisit = (*flags & kRevisit) != 0;
    const bool other_host = (*flags & kOtherHost) != 0;
    const bool authority = (*flags & kAuthority) != 0;
    if ((entry.goes_on && !entry.retry) || (revisit && !archived)) {
      return Wrong("flags");
    }
    uint8_t outcome = 0;
    return Text(entry.record, kMostEntryRecordBytes, "record") &&
           Number(entry.place, UINT64_MAX, "place") &&
           Byte(outcome, item::kFetchOutcomes - 1, "outcome") &&
           SetOutcome(entry, outcome) &&
           Number(entry.status, UINT16_MAX, "status") &&
           Number(entry.attempt, UINT32_MAX, "attempt") &&
           Number(entry.budget, UINT64_MAX, "budget") &&
           Number(entry.body_bytes, UINT64_MAX, "bytes of the body") &&
           (!entry.goes_on || Next(entry)) &&
           (!archived || Archive(entry.archive)) &&
           (!revisit || Archive(entry.original)) &&
           (!other_host || Host(entry)) &&
           (!other_host || !authority || Authority(entry)) &&
           Wait(entry.url_wait, "wait of the URL") &&
           Wait(entry.host_wait, "wait of the host") &&
           (!authority || AuthorityWait(entry)) &&
           Wait(entry.address_wait, "wait of the address") &&
           Address(*flags, entry) &&
           Number(entry.host_failures, UINT32_MAX, "failures") &&
           Number(entry.host_overloads, UINT32_MAX, "overloads");
  }

  bool Robots(Entry& entry) {
    uint8_t end = 0;
    uint64_t delay = 0;
    if (!Byte(end, kLastRobotsEnd, "end of robots.txt") ||
        !Number(entry.robots_status, UINT16_MAX, "status of robots.txt") ||
        !Number(delay, kMostWaitMs + 1, "crawl delay") ||
        !Text(entry.rules, kMostEntryRulesBytes, "rules")) {
      return false;
    }
    entry.robots_end = static_cast<item::RobotsFetchEnd>(end);
    if (delay > 0) {
      entry.crawl_delay = milliseconds(static_cast<int64_t>(delay - 1));
    }
    return true;
  }

  bool Text(std::string_view& out, size_t most, std::string_view name) {
    const auto text = bytes_.Sized();
    if (!text || text->size() > most) return Wrong(name);
    out = *text;
    return true;
  }

  bool End() { return bytes_.AtEnd() || Wrong("end"); }

  std::string_view why() const { return why_; }

 private:
  bool Wrong(std::string_view name) {
    why_ = name;
    return false;
  }

  template <typename T>
  bool Number(T& out, uint64_t most, std::string_view name) {
    const auto number = bytes_.Varint();
    if (!number || *number > most) return Wrong(name);
    out = static_cast<T>(*number);
    return true;
  }

  bool Byte(uint8_t& out, uint8_t most, std::string_view name) {
    const auto byte = bytes_.U8();
    if (!byte || *byte > most) return Wrong(name);
    out = *byte;
    return true;
  }

  static bool SetOutcome(Entry& entry, uint8_t outcome) {
    entry.outcome = static_cast<item::FetchOutcome>(outcome);
    return true;
  }

  bool Wait(milliseconds& out, std::string_view name) {
    uint64_t count = 0;
    if (!Number(count, kMostWaitMs, name)) return false;
    out = milliseconds(static_cast<int64_t>(count));
    return true;
  }

  bool Next(Entry& entry) {
    return Text(entry.next, kMostEntryRecordBytes, "next") &&
           (!entry.next.empty() || Wrong("next"));
  }

  bool Host(Entry& entry) {
    const auto key = bytes_.U64();
    if (!key) return Wrong("host");
    entry.host = *key;
    return true;
  }

  bool Authority(Entry& entry) {
    uint32_t authority = 0;
    if (!Number(authority, kMostAuthority, "authority")) return false;
    entry.authority = authority;
    return true;
  }

  // None is no flag.
  bool AuthorityWait(Entry& entry) {
    constexpr std::string_view kName = "wait of the authority";
    return Wait(entry.authority_wait, kName) &&
           (entry.authority || entry.authority_wait.count() > 0 ||
            Wrong(kName));
  }

  bool Archive(std::optional<ArchivePlace>& out) {
    ArchivePlace place;
    if (!Number(place.stream, UINT32_MAX, "stream") ||
        !Number(place.serial, UINT64_MAX, "serial") ||
        !Number(place.offset, UINT64_MAX, "offset") ||
        !Number(place.size, UINT64_MAX - place.offset, "size")) {
      return false;
    }
    out = place;
    return true;
  }

  bool Address(uint8_t flags, Entry& entry) {
    const uint8_t form = flags & (kAddressV4 | kAddressV6);
    if (form == 0) return true;
    if (form == (kAddressV4 | kAddressV6)) return Wrong("flags");
    const bool v4 = form == kAddressV4;
    const auto bytes = bytes_.Raw(v4 ? kV4Bytes : kV6Bytes);
    if (!bytes) return Wrong("address");
    char* out = reinterpret_cast<char*>(entry.address.data());
    if (v4) out = std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), out);
    std::copy(bytes->begin(), bytes->end(), out);
    // One spelling for each address.
    return AddressFlag(AddressText(entry.address)) == form || Wrong("address");
  }

  ByteReader bytes_;
  std::string_view why_;
};

}  // namespace

std::string_view EntryKindName(EntryKind kind) {
  switch (kind) {
    case EntryKind::kPage:
      return "page";
    case EntryKind::kRobots:
      return "robots";
    case EntryKind::kSeed:
      return "seed";
    case EntryKind::kCommand:
      return "command";
  }
  return "unknown";
}

void AppendEntry(const Entry& entry, std::string& out) {
  NEPHILA_CHECK(entry.record.size() <= kMostEntryRecordBytes);
  NEPHILA_CHECK(entry.next.size() <= kMostEntryRecordBytes);
  NEPHILA_CHECK(entry.goes_on == !entry.next.empty());
  NEPHILA_CHECK(entry.retry || !entry.goes_on);
  NEPHILA_CHECK(entry.archive || !entry.original);
  NEPHILA_CHECK(entry.host || !entry.authority);
  NEPHILA_CHECK(!entry.host || entry.authority ||
                entry.authority_wait.count() <= 0);
  NEPHILA_CHECK(entry.rules.size() <= kMostEntryRulesBytes);
  NEPHILA_CHECK(entry.text.size() <= kMostEntryTextBytes);
  ByteWriter writer(out);
  writer.U8(
      static_cast<uint8_t>((kVersion << 4) | static_cast<uint8_t>(entry.kind)));
  writer.U64(static_cast<uint64_t>(entry.when.time_since_epoch().count()));
  switch (entry.kind) {
    case EntryKind::kPage:
      AppendAttempt(entry, writer);
      break;
    case EntryKind::kRobots:
      AppendAttempt(entry, writer);
      AppendRobots(entry, writer);
      break;
    case EntryKind::kSeed:
      writer.Sized(entry.record);
      writer.Sized(entry.text);
      break;
    case EntryKind::kCommand:
      writer.Sized(entry.text);
      break;
  }
}

Result<Entry, std::string_view> ReadEntry(std::string_view bytes) {
  EntryReader reader(bytes);
  Entry entry;
  bool good = reader.Head(entry);
  if (good) {
    switch (entry.kind) {
      case EntryKind::kPage:
        good = reader.Attempt(entry);
        break;
      case EntryKind::kRobots:
        good = reader.Attempt(entry) && reader.Robots(entry);
        break;
      case EntryKind::kSeed:
        good = reader.Text(entry.record, kMostEntryRecordBytes, "record") &&
               reader.Text(entry.text, kMostEntryTextBytes, "text");
        break;
      case EntryKind::kCommand:
        good = reader.Text(entry.text, kMostEntryTextBytes, "text");
        break;
    }
  }
  if (!good || !reader.End()) return Unexpected(reader.why());
  return entry;
}

}  // namespace nephila::job
