#include "base/checksum.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/check.h"

namespace nephila {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli, bits reversed

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b] is the effect of byte b when k more bytes follow it in the
// same step of eight.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t ByteAt(std::string_view bytes, size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

uint32_t Word32(std::string_view bytes, size_t i) {
  return ByteAt(bytes, i) | ByteAt(bytes, i + 1) << 8 |
         ByteAt(bytes, i + 2) << 16 | ByteAt(bytes, i + 3) << 24;
}

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  // The test for the instruction is one load; nothing to remember.
  if (internal::HasCrc32cInstruction()) {
    return internal::ExtendCrc32cByInstruction(crc, bytes);
  }
  return internal::ExtendCrc32cByTable(crc, bytes);
}

namespace internal {

uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  while (bytes.size() >= 8) {
    // Written out because g++ 12 does not unroll it: 2.5 times as fast.
    const uint32_t head = crc ^ Word32(bytes, 0);
    const uint32_t tail = Word32(bytes, 4);
    crc = kTables[7][head & 0xFF] ^ kTables[6][(head >> 8) & 0xFF] ^
          kTables[5][(head >> 16) & 0xFF] ^ kTables[4][head >> 24] ^
          kTables[3][tail & 0xFF] ^ kTables[2][(tail >> 8) & 0xFF] ^
          kTables[1][(tail >> 16) & 0xFF] ^ kTables[0][tail >> 24];
    bytes.remove_prefix(8);
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ ByteAt(bytes, i)) & 0xFF];
  }
  return ~crc;
}

#if defined(__x86_64__)

bool HasCrc32cInstruction() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t ExtendCrc32cByInstruction(
    uint32_t crc, std::string_view bytes) {
  uint64_t state = static_cast<uint32_t>(~crc);
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    state = _mm_crc32_u64(state, word);
    bytes.remove_prefix(8);
  }
  auto rest = static_cast<uint32_t>(state);
  for (const char c : bytes) {
    rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  }
  return ~rest;
}

#else

bool HasCrc32cInstruction() { return false; }

uint32_t ExtendCrc32cByInstruction(uint32_t, std::string_view) {
  NEPHILA_CHECK(false);
  return 0;
}

#endif

}  // namespace internal
}  // namespace nephila
