// How `budget` numbers its queues in their QueueSet, and what a record of one
// is. DO NOT CHANGE THESE: they are stored (docs/formats/frontier.md).
//   Threads: any; pure functions. Cost: nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace nephila::budget {

// Of the stage's commit.
inline constexpr uint8_t kCommitVersion = 1;

constexpr uint64_t NumberedQueue(uint64_t number) { return number * 2; }
constexpr uint64_t FailedQueue(uint64_t version) { return version * 2 + 1; }
constexpr bool IsFailedQueue(uint64_t queue) { return queue % 2 == 1; }
// The number, or the version of Q_F.
constexpr uint64_t NumberOfQueue(uint64_t queue) { return queue / 2; }

struct BudgetedUrl {
  std::string_view record;  // encoded, as it came
  uint64_t budget = 0;      // B_x when its queue was chosen
};

inline std::string QueueRecord(uint64_t budget, std::string_view record) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(budget);
  writer.Raw(record);
  return bytes;
}

// The views are into `bytes`.
inline BudgetedUrl ReadQueueRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto budget = reader.Varint();
  return {bytes.substr(reader.position()), budget.has_value() ? *budget : 0};
}

}  // namespace nephila::budget
