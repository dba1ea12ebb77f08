// NameTable: short ASCII names to numbers, without regard to case.
//
//   In: at most 255 names of at most 16 bytes, at compile time
//   Threads: any   Cost: constant; no loop over the bytes of a name
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nephila::parse {

// A name of up to 16 bytes as two numbers, A to Z in lower case.
struct NameKey {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t size = 0;
  constexpr bool operator==(const NameKey&) const = default;
};

namespace internal {

// Eight bytes at once; bytes from 0x80 on stay.
constexpr uint64_t LowerEight(uint64_t bytes) {
  constexpr uint64_t kEach = 0x0101010101010101;
  uint64_t seven = bytes & (kEach * 0x7f);
  uint64_t from_a = seven + kEach * (0x80 - 'A');
  uint64_t beyond_z = seven + kEach * (0x7f - 'Z');
  uint64_t upper = from_a & ~beyond_z & ~bytes & (kEach * 0x80);
  return bytes | upper >> 2;
}

constexpr uint64_t LoadSlowly(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  }
  return value;
}

// Up to eight bytes, in little-endian order, without reading beyond them.
inline uint64_t LoadUpToEight(const char* p, size_t size) {
  if constexpr (std::endian::native != std::endian::little) {
    return LoadSlowly({p, size});
  }
  if (size >= 4) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + size - 4, 4);
    return first | static_cast<uint64_t>(last) << ((size - 4) * 8);
  }
  if (size == 0) return 0;
  auto byte = [p](size_t i) {
    return static_cast<uint64_t>(static_cast<uint8_t>(p[i]));
  };
  return byte(0) | byte(size / 2) << (size / 2 * 8) |
         byte(size - 1) << ((size - 1) * 8);
}

}  // namespace internal

// REQUIRES: at most 16 bytes.
constexpr NameKey KeyOf(std::string_view name) {
  NameKey key{0, 0, name.size()};
  size_t first = name.size() < 8 ? name.size() : 8;
  if (std::is_constant_evaluated()) {
    key.low = internal::LoadSlowly(name.substr(0, first));
    key.high = internal::LoadSlowly(name.substr(first));
  } else {
    key.low = internal::LoadUpToEight(name.data(), first);
    if (name.size() > 8) {
      key.high = internal::LoadUpToEight(name.data() + 8, name.size() - 8);
    }
  }
  key.low = internal::LowerEight(key.low);
  key.high = internal::LowerEight(key.high);
  return key;
}

template <size_t kNames>
class NameTable {
 public:
  // The number of a name is its place in the list, from 1 on.
  explicit constexpr NameTable(
      const std::array<std::string_view, kNames>& names) {
    for (size_t i = 0; i < kNames; ++i) {
      keys_[i + 1] = KeyOf(names[i]);
      size_t slot = SlotOf(keys_[i + 1]);
      while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<uint8_t>(i + 1);
    }
  }

  // 0 if there is no such name.
  size_t Find(std::string_view name) const {
    if (name.size() > 16) return 0;
    NameKey key = KeyOf(name);
    size_t slot = SlotOf(key);
    while (slots_[slot] != 0 && !(keys_[slots_[slot]] == key)) {
      slot = (slot + 1) % kSlots;
    }
    return slots_[slot];
  }

 private:
  static_assert(kNames < 256);
  static constexpr size_t kSlots = 1024;  // some stay free: Find ends

  static constexpr size_t SlotOf(const NameKey& key) {
    uint64_t mixed = key.low ^ key.high * 0x9E3779B97F4A7C15 ^ key.size;
    return (mixed * 0xD6E8FEB86659FD93) >> 54;
  }

  std::array<NameKey, kNames + 1> keys_{};
  std::array<uint8_t, kSlots> slots_{};
};

}  // namespace nephila::parse
