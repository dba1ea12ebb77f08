// WaitingUrl: a URL as it waits anywhere in `robots`: what is handed in, and
// its turns through Q_R. DO NOT CHANGE THIS: it is stored
// (docs/formats/robots-cache.md).
//   Threads: a value; views are of the bytes that were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace nephila::robots {

// Of the stage's commit.
inline constexpr uint8_t kCommitVersion = 1;
// Counters in it.
inline constexpr size_t kStageCounts = 9;

struct WaitingUrl {
  uint64_t budget = 0;
  uint64_t cycles = 0;
  std::string_view record;
};

inline std::string EncodeWaiting(const WaitingUrl& url) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(url.budget);
  writer.Varint(url.cycles);
  writer.Raw(url.record);
  return bytes;
}

inline std::optional<WaitingUrl> DecodeWaiting(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto budget = reader.Varint();
  const auto cycles = reader.Varint();
  if (!budget.has_value() || !cycles.has_value()) return std::nullopt;
  return WaitingUrl{*budget, *cycles, bytes.substr(reader.position())};
}

}  // namespace nephila::robots
