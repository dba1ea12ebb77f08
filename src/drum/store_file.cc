#include "drum/store_file.h"

#include <fmt/core.h>

#include "base/hash.h"

namespace nephila::drum {

std::string StoreFileName(uint64_t number, std::string_view suffix) {
  return fmt::format("{:08}.{}", number, suffix);
}

std::string StoreFilePath(const std::string& dir, uint64_t number,
                          std::string_view suffix) {
  return dir + "/" + StoreFileName(number, suffix);
}

uint64_t StoreFileSalt(uint64_t store_salt, uint64_t number,
                       std::string_view suffix) {
  return KeyedHash(suffix, store_salt + number);
}

}  // namespace nephila::drum
