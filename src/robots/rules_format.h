// The bytes of compiled rules, shared by the writer and the reader.
// docs/formats/robots.md has the picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nephila::robots {

inline constexpr std::string_view kRulesMagic = "nrob";
inline constexpr uint8_t kRulesVersion = 1;
inline constexpr size_t kRulesHeaderBytes = 32;
inline constexpr size_t kRulesChecksumAt = 8;
// No file compiles to more: texts are bounded by robots.max_size.
inline constexpr uint32_t kRulesMaxTextBytes = uint32_t{64} << 20;

// DO NOT CHANGE THESE VALUES: they are stored.
enum RulesFlag : uint8_t {
  kWideFlag = 1,         // numbers of the tables have 4 bytes, not 2
  kDisallowAllFlag = 2,  // Rules::disallows_all
  kCutFlag = 4,          // Rules::cut
  kGroupShift = 4,       // the Group in bits 4 and 5
};

enum RuleBits : uint8_t {
  kAllowBit = 1,
  kDollarBit = 2,
  kPriorityShift = 2,
};

}  // namespace nephila::robots
