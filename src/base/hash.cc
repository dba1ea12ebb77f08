#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nephila {

uint64_t KeyedHash(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace nephila
