#include "item/url_record.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::item {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Year 2262, the end of WallTime.
constexpr uint64_t kMostMilliseconds = 9'223'372'036'854;

bool AreHops(std::string_view path) {
  return path.size() <= kMostHops &&
         std::all_of(path.begin(), path.end(),
                     [](char c) { return c >= 'A' && c <= 'Z'; });
}

uint64_t MillisecondsOf(WallTime time) {
  return static_cast<uint64_t>(
      std::chrono::floor<Milliseconds>(time.time_since_epoch()).count());
}

// Where the host of a URL begins and ends; both 0 if it has none.
std::pair<size_t, size_t> HostIn(std::string_view url) {
  constexpr std::string_view kSlashes = "://";
  const size_t slashes = url.find(kSlashes);
  if (slashes == std::string_view::npos) return {0, 0};
  const size_t begin = slashes + kSlashes.size();
  // An address of IPv6 has colons of its own.
  const size_t from = url.substr(begin).starts_with('[')
                          ? std::min(url.find(']', begin), url.size())
                          : begin;
  size_t end = std::min(url.find_first_of(":/?#", from), url.size());
  if (end > begin && url[end - 1] == '.') --end;
  return {begin, end};
}

bool IsTarget(const UrlRecord& record) {
  if (record.target.empty()) return record.followed == 0;
  const auto [begin, end] = HostIn(record.target);
  return record.target.size() <= kMostUrlBytes && record.followed > 0 &&
         record.followed <= kMostFollowed && end - begin >= record.pld_size;
}

size_t SharedPrefix(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  size_t same = 0;
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

// Reads field after field and remembers whether all were there.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : reader_(bytes) {}

  uint64_t Number(uint64_t most) {
    const auto number = reader_.Varint();
    if (!number.has_value() || *number > most) {
      good_ = false;
      return 0;
    }
    return *number;
  }
  std::string_view Text(size_t most) {
    const auto text = reader_.Sized();
    if (!text.has_value() || text->size() > most) {
      good_ = false;
      return {};
    }
    return *text;
  }
  bool good() const { return good_; }
  bool AtEnd() const { return reader_.AtEnd(); }

 private:
  ByteReader reader_;
  bool good_ = true;
};

// The parent's parts, unjoined.
struct ParentParts {
  uint64_t shared = 0;
  std::string_view rest;
};

Result<UrlRecord, std::string_view> Read(std::string_view bytes,
                                         ParentParts& parts) {
  using Refused = Unexpected<std::string_view>;
  if (bytes.empty()) return Refused("no bytes");
  const auto version = static_cast<uint8_t>(bytes[0]);
  if (version != kUrlRecordVersion && version != kUrlRecordWithTarget) {
    return Refused("another version");
  }
  FieldReader reader(bytes.substr(1));
  UrlRecord record;
  const uint64_t number =
      reader.Number(uint64_t{kMostAttempts} << kUrlFlagBits | kKnownUrlFlags);
  record.flags = static_cast<uint32_t>(number) & kKnownUrlFlags;
  record.attempts = static_cast<uint32_t>(number >> kUrlFlagBits);
  record.url = reader.Text(kMostUrlBytes);
  record.host_start = static_cast<uint32_t>(reader.Number(kMostUrlBytes));
  record.host_size = static_cast<uint32_t>(reader.Number(kMostUrlBytes));
  record.pld_size = static_cast<uint32_t>(reader.Number(kMostUrlBytes));
  record.depth = static_cast<uint32_t>(reader.Number(UINT32_MAX));
  record.hop_path = reader.Text(kMostHops);
  record.discovered = WallTime(Milliseconds(reader.Number(kMostMilliseconds)));
  record.entry = reader.Number(UINT64_MAX);
  record.ordinal = reader.Number(UINT64_MAX);
  parts.shared = reader.Number(record.url.size());
  parts.rest = reader.Text(kMostUrlBytes);
  if (version == kUrlRecordWithTarget) {
    record.followed = static_cast<uint32_t>(reader.Number(kMostFollowed));
    record.target = reader.Text(kMostUrlBytes);
    if (record.target.empty()) return Refused("no target");
  }
  if (!reader.good()) return Refused("a field is cut off or out of bounds");
  if (!reader.AtEnd()) return Refused("bytes behind the end");
  if (!IsValid(record)) return Refused("host, domain or hops do not fit");
  if (parts.shared + parts.rest.size() > kMostUrlBytes) {
    return Refused("a parent that is too long");
  }
  // One spelling only: all that is shared is said to be.
  if (!parts.rest.empty() && parts.shared < record.url.size() &&
      record.url[parts.shared] == parts.rest.front()) {
    return Refused("a parent that shares more than it says");
  }
  return record;
}

}  // namespace

bool IsValid(const UrlRecord& record) {
  return record.url.size() <= kMostUrlBytes &&
         record.parent.size() <= kMostUrlBytes && record.host_size > 0 &&
         record.pld_size > 0 && record.pld_size <= record.host_size &&
         record.host_start <= record.url.size() &&
         record.host_size <= record.url.size() - record.host_start &&
         record.attempts <= kMostAttempts &&
         (record.flags & ~kKnownUrlFlags) == 0 && AreHops(record.hop_path) &&
         record.discovered >= WallTime{} && IsTarget(record);
}

void AppendUrlRecord(const UrlRecord& record, std::string& out) {
  NEPHILA_CHECK(IsValid(record));
  ByteWriter writer(out);
  const bool has_target = !record.target.empty();
  writer.U8(has_target ? kUrlRecordWithTarget : kUrlRecordVersion);
  writer.Varint(uint64_t{record.attempts} << kUrlFlagBits | record.flags);
  writer.Sized(record.url);
  writer.Varint(record.host_start);
  writer.Varint(record.host_size);
  writer.Varint(record.pld_size);
  writer.Varint(record.depth);
  writer.Sized(record.hop_path);
  writer.Varint(MillisecondsOf(record.discovered));
  writer.Varint(record.entry);
  writer.Varint(record.ordinal);
  const size_t shared = SharedPrefix(record.url, record.parent);
  writer.Varint(shared);
  writer.Sized(record.parent.substr(shared));
  if (!has_target) return;
  writer.Varint(record.followed);
  writer.Sized(record.target);
}

Result<UrlRecord, std::string_view> ReadUrlRecord(std::string_view bytes,
                                                  std::string& parent) {
  ParentParts parts;
  auto record = Read(bytes, parts);
  if (!record.has_value()) return record;
  parent.assign(record->url.substr(0, parts.shared));
  parent.append(parts.rest);
  record->parent = parent;
  return record;
}

Result<UrlRecord, std::string_view> ReadUrl(std::string_view bytes) {
  ParentParts parts;
  return Read(bytes, parts);
}

UrlRecord Asked(const UrlRecord& record) {
  if (record.target.empty()) return record;
  UrlRecord asked = record;
  asked.url = record.target;
  const auto [begin, end] = HostIn(asked.url);
  asked.host_start = static_cast<uint32_t>(begin);
  asked.host_size = static_cast<uint32_t>(end - begin);
  asked.target = {};
  asked.followed = 0;
  return asked;
}

void AppendHop(std::string_view path, char hop, std::string& out) {
  const size_t kept = std::min(path.size(), kMostHops - 1);
  out.append(path.substr(path.size() - kept));
  out += hop;
}

}  // namespace nephila::item
