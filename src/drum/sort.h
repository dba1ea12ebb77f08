// SortEntries: tuples of a bucket by key, stable, in linear time.
//
// Keys are hashes, so their leading bits tell nearly all of them apart: two
// counting passes over as many leading bits as there are entries, and three
// more, leave few neighbours in the wrong order, which an insertion pass puts
// right. Where they are many after all (keys that are no hashes) the rest of
// the key is sorted by counting too. So the time is linear whatever the keys.
#pragma once

#include <cstdint>
#include <span>

namespace nephila::drum {

struct SortEntry {
  uint64_t key;
  uint32_t index;  // the order of arrival
};

// `key_bits`: bits of the keys that differ, from bit 0 on. `scratch` is as long
// as `entries`. Entries come in the order of arrival; equal keys keep it.
void SortEntries(std::span<SortEntry> entries, std::span<SortEntry> scratch,
                 int key_bits);

}  // namespace nephila::drum
