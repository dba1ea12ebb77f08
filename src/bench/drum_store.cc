// MakeDrumStore of stores.h.

#include "bench/stores.h"

namespace nephila::bench {

Result<StorePtr> MakeDrumStore(const StoreOptions&) {
  return Unexpected(Error{ErrorCode::kUnsupported, "drum: not built yet"});
}

}  // namespace nephila::bench
