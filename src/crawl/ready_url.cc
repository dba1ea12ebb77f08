#include "crawl/ready_url.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/bytes.h"

namespace nephila::crawl {
namespace {

constexpr uint8_t kVersion = 1;
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

// The numbers in front of the record, each up to its bound.
Result<std::string_view, std::string_view> ReadNumbers(
    std::string_view bytes, std::span<const uint64_t> most,
    std::span<uint64_t> numbers) {
  ByteReader reader(bytes);
  const auto version = reader.U8();
  if (!version.has_value()) return Unexpected(std::string_view("no bytes"));
  if (*version != kVersion) {
    return Unexpected(std::string_view("unknown version"));
  }
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
  writer.U8(kVersion);
  writer.Varint(url.budget);
  writer.Varint(std::min(Milliseconds(url.crawl_delay), kMostMilliseconds));
  writer.Varint(Milliseconds(url.not_before));
  writer.Varint(url.failures);
  writer.Varint(url.overloads);
  writer.Varint(Milliseconds(url.checked));
  writer.Raw(url.record);
}

Result<ReadyUrl, std::string_view> ReadReadyUrl(std::string_view bytes) {
  constexpr uint64_t kMost[] = {kAnyNumber,        kMostMilliseconds,
                                kMostMilliseconds, kMostCount,
                                kMostCount,        kMostMilliseconds};
  uint64_t numbers[6];
  NEPHILA_TRY(const std::string_view record,
              ReadNumbers(bytes, kMost, numbers));
  ReadyUrl url;
  url.budget = numbers[0];
  url.crawl_delay = std::chrono::milliseconds(numbers[1]);
  url.not_before = TimeOf(numbers[2]);
  url.failures = static_cast<uint32_t>(numbers[3]);
  url.overloads = static_cast<uint32_t>(numbers[4]);
  url.checked = TimeOf(numbers[5]);
  url.record = record;
  return url;
}

void AppendParkedUrl(const ParkedUrl& url, std::string& out) {
  ByteWriter writer(out);
  writer.U8(kVersion);
  writer.Varint(url.budget);
  writer.Varint(Milliseconds(url.due));
  writer.Raw(url.record);
}

Result<ParkedUrl, std::string_view> ReadParkedUrl(std::string_view bytes) {
  constexpr uint64_t kMost[] = {kAnyNumber, kMostMilliseconds};
  uint64_t numbers[2];
  NEPHILA_TRY(const std::string_view record,
              ReadNumbers(bytes, kMost, numbers));
  return ParkedUrl{record, numbers[0], TimeOf(numbers[1])};
}

}  // namespace nephila::crawl
