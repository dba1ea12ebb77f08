#include "crawl/ready_url.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/bytes.h"

namespace nephila::crawl {
namespace {

constexpr uint8_t kReadyVersion = 2;
constexpr uint8_t kHostWaitVersion = 1;  // without that of the authority
constexpr uint8_t kParkedVersion = 1;
constexpr uint64_t kMostCount = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();
// As a time in nanoseconds can be.
constexpr uint64_t kMostMilliseconds =
    static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / 1'000'000;

uint64_t Milliseconds(std::chrono::nanoseconds time) {
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(time);
  return static_cast<uint64_t>(std::max<int64_t>(whole.count(), 0));
}
uint64_t Milliseconds(WallTime time) {
  return Milliseconds(time.time_since_epoch());
}
WallTime TimeOf(uint64_t milliseconds) {
  return WallTime(std::chrono::milliseconds(milliseconds));
}

// The version, one from `first` to `last`.
Result<uint8_t, std::string_view> ReadVersion(std::string_view bytes,
                                              uint8_t first, uint8_t last) {
  if (bytes.empty()) return Unexpected(std::string_view("no bytes"));
  const auto version = static_cast<uint8_t>(bytes[0]);
  if (version < first || version > last) {
    return Unexpected(std::string_view("unknown version"));
  }
  return version;
}

// The numbers between version and record, each up to its bound.
Result<std::string_view, std::string_view> ReadNumbers(
    std::string_view bytes, std::span<const uint64_t> most,
    std::span<uint64_t> numbers) {
  bytes.remove_prefix(1);
  ByteReader reader(bytes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = reader.Varint();
    if (!number.has_value() || *number > most[i]) {
      return Unexpected(std::string_view("a number that is none"));
    }
    numbers[i] = *number;
  }
  return bytes.substr(reader.position());
}

}  // namespace

void AppendReadyUrl(const ReadyUrl& url, std::string& out) {
  ByteWriter writer(out);
  writer.U8(kReadyVersion);
  writer.Varint(url.budget);
  writer.Varint(std::min(Milliseconds(url.crawl_delay), kMostMilliseconds));
  writer.Varint(Milliseconds(url.not_before));
  writer.Varint(url.failures);
  writer.Varint(url.overloads);
  writer.Varint(Milliseconds(url.checked));
  writer.Varint(Milliseconds(url.authority_not_before));
  writer.Raw(url.record);
}

Result<ReadyUrl, std::string_view> ReadReadyUrl(std::string_view bytes) {
  constexpr std::array<uint64_t, 7> kMost = {
      kAnyNumber, kMostMilliseconds, kMostMilliseconds, kMostCount,
      kMostCount, kMostMilliseconds, kMostMilliseconds};
  NEPHILA_TRY(const uint8_t version,
              ReadVersion(bytes, kHostWaitVersion, kReadyVersion));
  std::array<uint64_t, 7> numbers{};
  std::span<uint64_t> read(numbers);
  if (version == kHostWaitVersion) read = read.first(6);
  NEPHILA_TRY(const std::string_view record, ReadNumbers(bytes, kMost, read));
  ReadyUrl url;
  url.budget = numbers[0];
  url.crawl_delay = std::chrono::milliseconds(numbers[1]);
  url.not_before = TimeOf(numbers[2]);
  url.failures = static_cast<uint32_t>(numbers[3]);
  url.overloads = static_cast<uint32_t>(numbers[4]);
  url.checked = TimeOf(numbers[5]);
  url.authority_not_before = TimeOf(numbers[6]);
  url.record = record;
  return url;
}

void AppendParkedUrl(const ParkedUrl& url, std::string& out) {
  ByteWriter writer(out);
  writer.U8(kParkedVersion);
  writer.Varint(url.budget);
  writer.Varint(Milliseconds(url.due));
  writer.Raw(url.record);
}

Result<ParkedUrl, std::string_view> ReadParkedUrl(std::string_view bytes) {
  constexpr uint64_t kMost[] = {kAnyNumber, kMostMilliseconds};
  NEPHILA_RETURN_IF_ERROR(ReadVersion(bytes, kParkedVersion, kParkedVersion));
  uint64_t numbers[2];
  NEPHILA_TRY(const std::string_view record,
              ReadNumbers(bytes, kMost, numbers));
  return ParkedUrl{record, numbers[0], TimeOf(numbers[1])};
}

}  // namespace nephila::crawl
