// LossMode: how much of what was not synced a MemoryFileSystem loses with the
// power.
#pragma once

#include <cstdint>

namespace nephila {

enum class LossMode : uint8_t {
  kNothingUnsynced,  // only what was synced is left
  // The power goes, but everything had reached the disk in time. Not a
  // kill -9, after which nothing more is durable than before: KillProcess.
  kEverything,
  // What was synced, and some of the rest:
  // - File contents: the size is one that the file had since its last Sync,
  //   or lies anywhere inside a write that made it grow. Each sector is
  //   whole, as it was at some moment since then, independently of the
  //   others; never written parts read as zeros. So an append can leave zeros
  //   where data should be, a large write any of its sectors, but never a
  //   later small write to a sector without an earlier one.
  // - A truncate is one step: if it lasted, no byte that it cut off comes
  //   back, not even within a sector; if it did not, the sectors it would
  //   have freed have no later contents.
  // - Entries: of each directory, a prefix of its changes since SyncDir. A
  //   rename is one change, so that across directories it lasts in both or
  //   in neither.
  kTorn,
};

}  // namespace nephila
