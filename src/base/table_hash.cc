#include "base/table_hash.h"

#include "base/check.h"
#include "base/random.h"

namespace nephila {

uint64_t DrawTableSeed() {
  const Result<uint64_t> seed = RandomSeed();
  NEPHILA_CHECK(seed.has_value());
  return *seed;
}

}  // namespace nephila
