// Crc32c: the checksum of everything we write (Castagnoli polynomial, RFC 3720
// B.4). It finds accidents of disks and torn writes; it is no protection
// against someone who forges data.
//
// The CPU's instruction is used where there is one, a table elsewhere; the
// values are the same. Threads: any. Cost: 125 ns per KiB with the
// instruction, 500 ns with the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace nephila {

// The checksum of a + b, where `crc` is that of a (0 for nothing).
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

inline uint32_t Crc32c(std::string_view bytes) {
  return ExtendCrc32c(0, bytes);
}

namespace internal {

// The two ways, for the test that compares them.
uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view bytes);
bool HasCrc32cInstruction();
// REQUIRES: HasCrc32cInstruction().
uint32_t ExtendCrc32cByInstruction(uint32_t crc, std::string_view bytes);

}  // namespace internal
}  // namespace nephila
