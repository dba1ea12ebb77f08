// The totals of a stage in a manifest, so that the accounting law
// in + made = out + dropped + held spans restarts.
//
// In: totals of a StageAccount (base/metrics.h). Out: bytes, and an account
// that begins with them. `held` is not stored: it follows from the law.
// Threads: one. Cost: some bytes a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/metrics.h"

namespace nephila::item {

inline void WriteTotals(const StageTotals& totals, ByteWriter& writer) {
  writer.Varint(totals.in);
  writer.Varint(totals.made);
  writer.Varint(totals.out);
  writer.Varint(totals.dropped.size());
  for (const uint64_t count : totals.dropped) writer.Varint(count);
}

// False, and nothing counted, if the bytes are no totals, or those of more
// reasons than the account has. REQUIRES: a new account.
inline bool RestoreTotals(ByteReader& reader, StageAccount& account) {
  const auto in = reader.Varint();
  const auto made = reader.Varint();
  const auto out = reader.Varint();
  const auto reasons = reader.Varint();
  if (!in.has_value() || !made.has_value() || !out.has_value() ||
      !reasons.has_value() || *reasons > account.drop_reasons().size()) {
    return false;
  }
  std::vector<uint64_t> dropped(*reasons);
  uint64_t gone = *out;
  for (uint64_t& count : dropped) {
    const auto read = reader.Varint();
    if (!read.has_value()) return false;
    count = *read;
    gone += count;
  }
  account.In(*in);
  account.Made(*made);
  account.Out(*out);
  for (size_t i = 0; i < dropped.size(); ++i) account.Drop(i, dropped[i]);
  account.Hold(static_cast<int64_t>(*in + *made - gone));
  return true;
}

}  // namespace nephila::item
